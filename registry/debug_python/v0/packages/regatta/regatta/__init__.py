"""The office of a sailing club."""

from .board import frame
from .entries import heats, measured, register, start_list
from .judges import collect
from .points import net, redress, tables
from .times import dead_heat, elapsed, roundings

__all__ = [
    "collect",
    "dead_heat",
    "elapsed",
    "frame",
    "heats",
    "measured",
    "net",
    "redress",
    "register",
    "roundings",
    "start_list",
    "tables",
]
