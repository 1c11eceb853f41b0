"""What came in on time, and who was there."""

from datetime import datetime, timedelta, timezone

from .config import OFFSET_HOURS, WEEKS


def in_time(handed_in, last_day):
    """Say whether a hand-in came in before the end of the last day on the university's clock.

    `handed_in` is an ISO time with an offset from UTC, `last_day` such as "2024-05-31".
    """
    moment = datetime.fromisoformat(handed_in)
    here = moment.astimezone(timezone(timedelta(hours=OFFSET_HOURS)))
    return here.date().isoformat() <= last_day


def absences(present):
    """Return the numbers of the weeks in which somebody was missing.

    `present` lists the weeks (from 1 to WEEKS) in which they were there, in any order.
    """
    return [week for week in range(1, WEEKS + 1) if week not in present]
