"""Due days and lateness."""

from datetime import date, datetime, timedelta

from .config import LOAN_DAYS


def due_day(lent):
    """Return the day (ISO text) on which a loan made on that day is due."""
    return (date.fromisoformat(lent) + timedelta(days=LOAN_DAYS)).isoformat()


def late_days(due, returned):
    """Return by how many days a loan was late; what comes back on its due day is not late.

    Both are days as ISO texts. Early returns give 0.
    """
    return max(0, (date.fromisoformat(returned) - date.fromisoformat(due)).days)


def is_late(due, returned):
    """Say whether the moment `returned` comes after the moment `due`.

    Both are ISO times with an offset from UTC, which may be different ones: readers of our other
    branches return their loans there.
    """
    return datetime.fromisoformat(returned) > datetime.fromisoformat(due)


def average_days(days):
    """Return the average of whole numbers of days, rounded to the nearest whole number.

    A half is rounded up. Nothing gives 0.
    """
    if not days:
        return 0
    return (2 * sum(days) + len(days)) // (2 * len(days))
