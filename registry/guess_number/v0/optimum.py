"""How many coins the best play needs at worst, and that play.

With honest answers the worst case is exact: `reach(coins)` candidates can be told apart with that
many coins, and each guess must leave no more than that on either side.

With up to k lies it is Ulam's game. A candidate that has been contradicted j times may still be the
number if j <= k; it weighs as much as there are ways to place its remaining lies in the answers to
come, and the play that balances these weights is taken. `LIES` lists sizes for which a search over
every play has shown that none needs fewer coins at worst than this one.
"""

from functools import cache
from math import comb

# (lies, size) -> coins that the best play needs at worst.
LIES = {
    (1, 13): 5,
    (1, 17): 6,
    (1, 30): 7,
    (1, 50): 8,
    (1, 56): 8,
    (1, 80): 9,
    (1, 90): 9,
    (1, 100): 9,
    (2, 9): 6,
    (2, 13): 7,
    (2, 18): 8,
    (2, 29): 9,
}


@cache
def reach(coins, price_low, price_high):
    """Return how many candidates can be told apart; the prices: of a guess too low, too high."""
    if coins < 0:
        return 0
    if coins < min(price_low, price_high):
        return 1
    below = reach(coins - price_high, price_low, price_high)
    above = reach(coins - price_low, price_low, price_high)
    return 1 + below + above


def honest_par(size, price_low, price_high):
    """Return the coins that the best play needs at worst when no answer lies."""
    coins = 0
    while reach(coins, price_low, price_high) < size:
        coins += 1
    return coins


def after(candidates, lies, guess, answer):
    """Return the candidates (runs `(low, high, contradictions)`) that an answer leaves."""
    left = []
    for low, high, count in candidates:
        for first, last, lie in (
            (low, min(high, guess - 1), answer == "higher"),
            (max(low, guess + 1), high, answer == "lower"),
        ):
            if first <= last and count + lie <= lies:
                if left and left[-1][1] + 1 == first and left[-1][2] == count + lie:
                    left[-1] = (left[-1][0], last, count + lie)
                else:
                    left.append((first, last, count + lie))
    return left


def weight(candidates, lies, answers):
    """Return in how many ways the candidates can explain that many answers to come."""
    ways = [sum(comb(answers, i) for i in range(lies - j + 1)) for j in range(lies + 1)]
    return sum((high - low + 1) * ways[count] for low, high, count in candidates)


def balanced_guess(candidates, lies, answers):
    """Return the guess after which the heavier of the two answers weighs least."""

    def sides(guess):
        return [
            weight(after(candidates, lies, guess, answer), lies, max(answers - 1, 0))
            for answer in ("higher", "lower")
        ]

    tried = set()
    for first, last, _ in candidates:
        low, high = first, last
        while low < high:
            middle = (low + high) // 2
            higher, lower = sides(middle)
            if higher <= lower:
                high = middle
            else:
                low = middle + 1
        tried.update(guess for guess in (low - 1, low) if first <= guess <= last)

    # Of two guesses with the same heavier side, the one with the heavier lighter side is more even.
    def uneven(guess):
        weights = sorted(sides(guess))
        return weights[1], -weights[0], guess

    return min(tried, key=uneven)


def honest_guess(low, high, coins, price_low, price_high):
    """Return a guess that leaves on each side no more than the coins after it can tell apart."""
    size = high - low + 1
    below = reach(coins - price_high, price_low, price_high)
    above = reach(coins - price_low, price_low, price_high)
    # Any split within the two bounds is safe; the one nearest to their proportion leaves most room.
    least, most = max(0, size - 1 - above), min(below, size - 1)
    wanted = (size - 1) * below // max(1, below + above)
    return low + min(max(wanted, least), most)
