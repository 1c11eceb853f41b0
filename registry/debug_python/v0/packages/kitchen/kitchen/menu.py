"""What is served on which day and at which hour."""

from datetime import datetime, timedelta, timezone

from .config import MEALS, OFFSET_HOURS


def dish_of_day(menu, day):
    """Return the dish of a day of the year (from 1) when the menu begins again after its end.

    Day 1 has the menu's first dish.
    """
    return menu[(day - 1) % len(menu)]


def meal_at(when):
    """Return the meal that is served at a moment, or "closed".

    `when` is an ISO time with an offset from UTC. The hours of MEALS are those of the canteen's
    own clock; a meal is served from its first hour until just before the hour at which it is over.
    """
    moment = datetime.fromisoformat(when)
    here = moment.astimezone(timezone(timedelta(hours=OFFSET_HOURS)))
    for first, over, name in MEALS:
        if first <= here.hour < over:
            return name
    return "closed"


def same_mix(one, other):
    """Say whether two mixtures have the same ratio of their two parts.

    Each is a pair of amounts above 0. Ratios that differ by less than a millionth are the same.
    """
    return abs(one[0] / one[1] - other[0] / other[1]) < 1e-6
