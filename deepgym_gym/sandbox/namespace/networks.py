"""Network namespaces made ahead of time, by a process of its own.

Making one takes a millisecond, and ten while the kernel is taking another apart, which is just when
the next episode begins. So a maker keeps a few in stock; each is used once. Only root may enter one
that does not belong to the box's own user namespace, so ordinary users' boxes make theirs.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import struct
from collections.abc import Callable

from deepgym_gym.sandbox.guest import syscalls

_STOCK = 4


def bring_up_loopback() -> None:
    """Bring up the only interface that a new network namespace has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up_and_running = 0x1 | 0x40
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14s", b"lo", up_and_running, b""))


class Networks:
    """A stock of fresh network namespaces and the process that fills it."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair()
        self._requests.setblocking(False)
        self._own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self._stock: list[int] = []
        self._asked = 0
        if os.fork() == 0:
            _make(theirs)
        theirs.close()
        self._ask()

    def fileno(self) -> int:
        """The descriptor on which new ones arrive."""
        return self._requests.fileno()

    def receive(self) -> bool:
        """Take in what has arrived; False if the maker is gone."""
        try:
            data, fds, _, _ = socket.recv_fds(self._requests, 16, 16)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._stock += fds
        self._asked -= len(fds)
        return bool(data)

    def take(self) -> int | None:
        """A descriptor of a fresh namespace, now the caller's; None if there is none."""
        self.receive()
        fd = self._stock.pop(0) if self._stock else None
        self._ask()
        return fd

    def born_in(self, fd: int, fork: Callable[[], int]) -> int:
        """Fork a child that lives in the namespace `fd`, which is closed; the child's pid, or 0.

        Only the parent comes back to its own: the child may have lost the right to.
        """
        syscalls.setns(fd, syscalls.CLONE_NEWNET)
        pid = -1
        try:
            pid = fork()
        finally:
            if pid != 0:
                syscalls.setns(self._own, syscalls.CLONE_NEWNET)
                os.close(fd)
        return pid

    def close(self) -> None:
        """Let go of everything; the maker ends."""
        self._requests.close()
        for fd in (self._own, *self._stock):
            os.close(fd)

    def _ask(self) -> None:
        wanted = _STOCK - len(self._stock) - self._asked
        if wanted > 0:
            with contextlib.suppress(OSError):
                self._requests.send(b"n" * wanted)
                self._asked += wanted


def _make(requests: socket.socket) -> None:
    """The maker's whole life: one namespace for each byte that it reads."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        fd = os.dup2(requests.fileno(), 3, inheritable=False)
        syscalls.close_range(4)
        channel = socket.socket(fileno=fd)
        while asked := channel.recv(16):
            for _ in asked:
                syscalls.unshare(syscalls.CLONE_NEWNET)
                bring_up_loopback()
                made = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
                socket.send_fds(channel, [b"n"], [made])
                os.close(made)
    finally:
        os._exit(0)
