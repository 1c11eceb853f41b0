"""A small ledger: postings, accounts, exchange rates."""

from .accounts import children, depth, total
from .book import Book, booking_day, run
from .files import read, write
from .money import Rates, allocate, parse, quotes, show, split
from .tellers import transfer_all

__all__ = [
    "Book",
    "Rates",
    "allocate",
    "booking_day",
    "children",
    "depth",
    "parse",
    "quotes",
    "read",
    "run",
    "show",
    "split",
    "total",
    "transfer_all",
    "write",
]
