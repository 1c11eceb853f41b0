"""The desk of a small library."""

from .dates import average_days, due_day, is_late, late_days
from .desk import Busy, Desk, blocked, run, waiting
from .shelves import floor_plan, free_places
from .titles import check, codes, leaves, merge, same_title, sizes

__all__ = [
    "Busy",
    "Desk",
    "average_days",
    "blocked",
    "check",
    "codes",
    "due_day",
    "floor_plan",
    "free_places",
    "is_late",
    "late_days",
    "leaves",
    "merge",
    "run",
    "same_title",
    "sizes",
    "waiting",
]
