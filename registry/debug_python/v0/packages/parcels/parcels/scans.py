"""Scans: a parcel's code was read somewhere at some time."""

from datetime import datetime, timedelta, timezone

from .config import CLOSING_HOUR, DEPOT_OFFSET_HOURS

DEPOT = timezone(timedelta(hours=DEPOT_OFFSET_HOURS))


def last_seen(scans):
    """Return the place where each parcel was seen last.

    Scans are rows `[code, time, place]` in any order; times are texts such as "2024-03-05 07:30",
    and no parcel has two at the same time.
    """
    places = {}
    for code, _, place in sorted(scans, key=lambda scan: scan[1]):
        places[code] = place
    return places


def leaves_on(handed_over):
    """Return the day on the depot's clock (such as "2024-03-05") on which a parcel leaves.

    `handed_over` is an ISO time with an offset from UTC. Before CLOSING_HOUR (on the depot's clock)
    it is that day (on the same clock), from then on the day after.
    """
    moment = datetime.fromisoformat(handed_over).astimezone(DEPOT)
    day = moment.date()
    if moment.hour >= CLOSING_HOUR:
        day += timedelta(days=1)
    return day.isoformat()
