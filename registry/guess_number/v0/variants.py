"""What varies: the range, the prices of wrong guesses, how often the answers may lie."""

import random

from .optimum import LIES, honest_par

# (low, high, price of a guess too low, price of a guess too high, lies, difficulty)
TABLE = [
    (1, 100, 1, 1, 0, "easy"),
    (-50, 50, 1, 1, 0, "easy"),
    (1, 1000, 1, 1, 0, "easy"),
    (1, 1_000_000, 1, 1, 0, "medium"),
    (1, 100, 1, 2, 0, "medium"),
    (101, 300, 3, 1, 0, "medium"),
    (0, 60, 1, 5, 0, "medium"),
    (1, 500, 3, 2, 0, "medium"),
    (1, 30, 1, 1, 1, "hard"),
    (-24, 25, 1, 1, 1, "hard"),
    (1, 18, 1, 1, 2, "hard"),
    (1, 100, 1, 1, 1, "hard"),
]
PRICES = [(1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2), (1, 4), (4, 1), (1, 5), (5, 1), (2, 5)]


def drawn(rng):
    """Draw a row as those of the table."""
    low = rng.choice([0, 1, 1, rng.randint(-1000, 1000)])
    kind = rng.choice(["plain", "prices", "lies"])
    if kind == "lies":
        lies, size = rng.choice(sorted(LIES))
        return low, low + size - 1, 1, 1, lies, "hard"
    if kind == "prices":
        size = rng.randint(30, 600)
        return low, low + size - 1, *rng.choice(PRICES), 0, "medium"
    size = rng.choice([rng.randint(30, 1000), rng.randint(30, 1000), rng.randint(1000, 2_000_000)])
    return low, low + size - 1, 1, 1, 0, "easy" if size <= 1000 else "medium"


def chosen(rng, low, high):
    """Choose the number, but not where halving the range once or twice would meet it by luck."""
    quarters = {low + (high - low) * part // 4 for part in (1, 2, 3)}
    lucky = quarters | {number + 1 for number in quarters}
    number = low
    while number in lucky or number == low:
        number = rng.randint(low, high)
    return number


def coins(count):
    return "1 coin" if count == 1 else f"{count} coins"


def make_variant(variant):
    """Return the parameters of one variant."""
    rng = random.Random(f"guess_number:{variant}")
    row = TABLE[variant] if variant < len(TABLE) else drawn(rng)
    low, high, price_low, price_high, lies, difficulty = row
    par = LIES[lies, high - low + 1] if lies else honest_par(high - low + 1, price_low, price_high)
    # Half as much again, and at least two wrong guesses of the dear kind.
    purse = par + max(par // 2, 2 * max(price_low, price_high))
    if price_low == price_high:
        prices = f"Each wrong guess costs {coins(price_low)}."
    else:
        prices = (
            f"A guess that is too low costs {coins(price_low)}, "
            f"one that is too high {coins(price_high)}."
        )
    told = "1 of the answers" if lies == 1 else f"up to {lies} of the answers"
    return {
        "task": {
            "low": str(low),
            "high": str(high),
            "purse": str(purse),
            "par": str(par),
            "prices": prices,
            "lies": f"I may lie: {told} may say `higher` for `lower` or `lower` for `higher`. "
            "`correct` is always true, and a right guess is always told."
            if lies
            else "My answers are true.",
        },
        "secret": {
            "number": chosen(rng, low, high),
            "low": low,
            "high": high,
            "price_low": price_low,
            "price_high": price_high,
            "lies": lies,
            # Which of the answers (from 0) are lies, unless the guess is right.
            "lie_at": sorted(
                rng.sample(range(par // 2 + 1), rng.choice([lies, rng.randint(0, lies)]))
            ),
            "purse": purse,
            "par": par,
        },
        "difficulty": difficulty,
        "max_steps": purse // min(price_low, price_high) + 4,
    }


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
