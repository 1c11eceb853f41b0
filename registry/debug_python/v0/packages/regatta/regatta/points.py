"""Points: few are good."""

from .config import DISCARD_FROM


def net(points):
    """Return the sum of a boat's points in all races.

    With DISCARD_FROM races or more, its worst race does not count (the one with the most points).
    """
    total = sum(points)
    if len(points) >= DISCARD_FROM:
        total -= max(points)
    return total


def redress(points):
    """Return the average of whole points in tenths, rounded to the nearest: `[1, 2]` gives 15.

    What lies in the middle is rounded up. Without any points it is 0.
    """
    if not points:
        return 0
    return (20 * sum(points) + len(points)) // (2 * len(points))


def tables(races):
    """Return the sums of points after the first race, after the second, and so on.

    A race is a dict of the points of its boats; a table holds all boats that have raced so far.
    """
    sums = {}
    after = []
    for race in races:
        for boat, points in race.items():
            sums[boat] = sums.get(boat, 0) + points
        after.append(dict(sums))
    return after
