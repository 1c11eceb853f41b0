"""The marks of a course."""

from .book import Book, Busy, run
from .deadlines import absences, in_time
from .lists import groups, join, publish, ranking
from .marks import corrected, passed_all, passes, percent
from .rubric import outline, points

__all__ = [
    "Book",
    "Busy",
    "absences",
    "corrected",
    "groups",
    "in_time",
    "join",
    "outline",
    "passed_all",
    "passes",
    "percent",
    "points",
    "publish",
    "ranking",
    "run",
]
