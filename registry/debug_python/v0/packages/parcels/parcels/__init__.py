"""A small parcel post."""

from .couriers import deliver_all
from .depot import dispatch, history, load, path
from .labels import labels, print_bytes
from .prices import discounted, franked, price
from .scans import last_seen, leaves_on

__all__ = [
    "deliver_all",
    "discounted",
    "dispatch",
    "franked",
    "history",
    "labels",
    "last_seen",
    "leaves_on",
    "load",
    "path",
    "price",
    "print_bytes",
]
