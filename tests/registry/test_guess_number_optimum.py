"""What `guess_number` says about the best play, checked against every play and every answer."""

from functools import cache
from typing import Any

import pytest

from deepgym_gym.registry import find_environment

ENVIRONMENT = find_environment("guess_number")
Run = tuple[int, int, int]
optimum: Any = ENVIRONMENT._module("optimum.py")


def worst_case(size: int, lies: int, par: int) -> int:
    """The coins that the reference's play spends at worst, over every number and every lie."""

    @cache
    def spent(candidates: tuple[Run, ...], left: int) -> int:
        if sum(high - low + 1 for low, high, _ in candidates) == 1:
            return 0
        guess = optimum.balanced_guess(candidates, lies, max(left, 1))
        after = [optimum.after(candidates, lies, guess, word) for word in ("higher", "lower")]
        return max(1 + spent(tuple(rest), left - 1) for rest in after if rest)

    return spent(((1, size, 0),), par)


def can_name(size: int, lies: int, coins: int) -> bool:
    """Whether any play at all names the number with that many coins at worst."""

    def closed(candidates: list[Run]) -> tuple[Run, ...]:
        # Numbers that are ruled out may lie between candidates; where does not matter.
        runs: list[Run] = []
        for low, high, count in candidates:
            first = runs[-1][1] + 1 if runs else 1
            if runs and runs[-1][2] == count:
                runs[-1] = (runs[-1][0], runs[-1][1] + high - low + 1, count)
            else:
                runs.append((first, first + high - low, count))
        return tuple(runs)

    @cache
    def can(candidates: tuple[Run, ...], left: int) -> bool:
        numbers = [n for low, high, _ in candidates for n in range(low, high + 1)]
        if len(numbers) <= 1:
            return True
        if len(numbers) >= 2 ** (left + 1):
            return False
        return any(
            all(
                can(closed(optimum.after(candidates, lies, guess, word)), left - 1)
                for word in ("higher", "lower")
            )
            for guess in numbers
        )

    return can(((1, size, 0),), coins)


@pytest.mark.parametrize(("lies", "size"), sorted(optimum.LIES))
def test_reference_never_spends_more_than_par_whatever_the_lies(lies: int, size: int) -> None:
    par = optimum.LIES[lies, size]

    assert worst_case(size, lies, par) == par


@pytest.mark.parametrize(("lies", "size"), [(1, 13), (1, 17), (2, 9)])
def test_no_play_needs_less_than_par_when_answers_lie(lies: int, size: int) -> None:
    par = optimum.LIES[lies, size]

    assert can_name(size, lies, par)
    assert not can_name(size, lies, par - 1)


@pytest.mark.parametrize("prices", [(1, 1), (1, 2), (3, 1), (2, 5)])
def test_par_of_honest_answers_is_the_minimax_value(prices: tuple[int, int]) -> None:
    low_price, high_price = prices

    @cache
    def minimax(size: int) -> int:
        if size <= 1:
            return 0
        splits = ((below, size - 1 - below) for below in range(size))
        return min(
            max(
                high_price + minimax(below) if below else 0,
                low_price + minimax(above) if above else 0,
            )
            for below, above in splits
        )

    for size in range(1, 130):
        assert optimum.honest_par(size, low_price, high_price) == minimax(size), size


@pytest.mark.parametrize("prices", [(1, 1), (1, 2), (3, 1), (2, 5), (5, 1)])
@pytest.mark.parametrize("size", [2, 30, 101, 600])
def test_reference_keeps_within_par_for_every_number_when_answers_are_honest(
    prices: tuple[int, int], size: int
) -> None:
    par = optimum.honest_par(size, *prices)
    spent = []

    for number in range(size):
        low, high, coins = 0, size - 1, par
        while (guess := optimum.honest_guess(low, high, coins, *prices)) != number:
            low, high = (guess + 1, high) if guess < number else (low, guess - 1)
            coins -= prices[0] if guess < number else prices[1]
        spent.append(par - coins)

    assert max(spent) <= par


def test_world_holds_nothing_that_could_hold_the_number() -> None:
    for variant in (*range(ENVIRONMENT.table_size), 10**6, 10**9 + 7):
        definition = ENVIRONMENT.definition(variant)

        assert definition.files == {}
        assert definition.setup_code is None
        assert definition.setup_script is None
