"""The board at the finish, which shows UTF-8 in lines of a fixed number of bytes."""

from .config import BOARD_BYTES


def frame(name):
    """Return the line for a boat's name: exactly BOARD_BYTES bytes of UTF-8.

    A longer name is cut. The board must never get a part of a character: one that does not fit is
    left out as a whole. A shorter line is filled with spaces.
    """
    cut = name.encode("utf-8")[:BOARD_BYTES].decode("utf-8", "ignore")
    return cut.encode("utf-8").ljust(BOARD_BYTES)
