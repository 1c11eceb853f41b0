"""Bounded copies of a program's streams, cut while they are read."""

from __future__ import annotations

import array
import fcntl
import os
import termios

CHUNK = 1 << 16


class Capture:
    """The bounded copy of one stream: its first `limit` bytes, or its last."""

    def __init__(self, fd: int, limit: int, *, tail: bool = False) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.limit = limit
        self.tail = tail
        self.data = bytearray()
        self.dropped = 0

    def pump(self, most: int = CHUNK) -> int:
        """Read at most `most` bytes; the number read, 0 at the end, -1 if there is nothing now."""
        try:
            part = os.read(self.fd, most)
        except BlockingIOError:
            return -1
        except OSError:
            return 0
        if self.tail:
            self.data += part
            # Trimming at twice the limit keeps the copying linear.
            if len(self.data) > 2 * self.limit:
                self.trim()
        else:
            room = self.limit - len(self.data)
            self.data += part[:room]
            self.dropped += max(0, len(part) - room)
        return len(part)

    def trim(self) -> None:
        """Cut a tail capture to its limit."""
        extra = len(self.data) - self.limit
        if extra > 0:
            del self.data[:extra]
            self.dropped += extra

    def drain(self) -> None:
        """Take what is in the pipe at this moment, and no more: a writer may never stop."""
        waiting = array.array("i", [0])
        try:
            fcntl.ioctl(self.fd, termios.FIONREAD, waiting)
        except OSError:
            return
        left = waiting[0]
        while left > 0:
            got = self.pump(min(left, CHUNK))
            if got <= 0:
                break
            left -= got
        if self.tail:
            self.trim()
