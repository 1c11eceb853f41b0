"""Percentages, weighted means, corrections, and what is enough to pass."""

from .config import PASS_AT


def percent(points, of):
    """Return the whole percentage that `points` are, rounded down. Nothing of nothing is 0."""
    if of == 0:
        return 0
    return 100 * points // of


def corrected(points, correction):
    """Return the points after half of a correction has been added.

    The correction is a whole number and may be below 0; its half is rounded towards 0, so that
    corrections of 5 and -5 change the points by the same amount.
    """
    return points + int(correction / 2)


def passes(shares, weights):
    """Say whether the weighted sum of shares (from 0 to 1) reaches PASS_AT.

    The weights add up to 1. Less than a millionth below PASS_AT is enough.
    """
    reached = 0.0
    for share, weight in zip(shares, weights):
        reached += share * weight
    return reached >= PASS_AT - 1e-6


def passed_all(points, needed):
    """Say whether each task in `needed` (task -> points) was handed in with at least its points.

    `points` maps the tasks that were handed in to the points that they got.
    """
    for task, least in needed.items():
        if points.get(task, -1) < least:
            return False
    return True
