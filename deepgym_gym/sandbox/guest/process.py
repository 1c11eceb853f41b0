"""Starting programs as somebody else, watching them, and making sure that they end.

A command's answer is ready when its **main** process exits, whoever still holds its pipes. At a
deadline everything that the command started dies, also what double-forked away from it. Output is
capped while it is read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import time
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from deepgym_gym.sandbox.guest.capture import CHUNK, Capture
from deepgym_gym.sandbox.guest.table import Process, descends, moving, processes
from deepgym_gym.sandbox.guest.wire import ClosedChannel

# Background programs may keep writing to a finished step's pipes; so many are drained for them,
# then cut.
_MAX_LINGERING = 64
# How long killed processes may take to disappear before the supervisor goes on without them.
_REAP_S = 2.0
# How long frozen processes may take to stand still.
_STOP_S = 2.0
# Python ignores the first two; a program of the agent gets what the kernel gives everybody.
DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)


class Ended(NamedTuple):
    """How a watched process ended."""

    status: int | None  # as from waitpid; None if it had to be killed at its deadline
    duration_s: float

    @property
    def facts(self) -> dict[str, Any]:
        """The fields of a reply."""
        if self.status is None:
            return {"exit_code": None, "timed_out": True, "duration_s": self.duration_s}
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            facts = {"exit_code": 128 + number, "signal": number}
        else:
            facts = {"exit_code": os.WEXITSTATUS(self.status)}
        return {**facts, "duration_s": self.duration_s}


class Supervisor:
    """Parent of all that runs in the sandbox.

    Args:
        channel: the descriptor whose end means that the owner is gone.
        first: whether this is process 1 of its own pid namespace, where `kill(-1)` reaches exactly
        the sandbox.
        lifeline: another descriptor whose end means the same (the warden's), or -1.
    """

    def __init__(self, channel: int, *, first: bool, lifeline: int = -1) -> None:
        self.channel = channel
        self.lifeline = lifeline
        self.first = first
        self.infrastructure: set[int] = set()
        self._awaited: dict[int, int | None] = {}
        self._lingering: list[Capture] = []
        self._wake, wake_writer = os.pipe()
        for fd in (self._wake, wake_writer):
            os.set_blocking(fd, False)
        # A handler that does nothing, so that the signal writes to the pipe and ends a poll.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)

    def reap(self) -> bool:
        """Collect every dead child; whether any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.infrastructure.discard(pid)
            if pid in self._awaited:
                self._awaited[pid] = status

    def expect(self, pid: int) -> None:
        """Keep the status of a child that may end before it is watched."""
        self._awaited.setdefault(pid, None)

    def idle(self) -> None:
        """Wait for a request; meanwhile reap and drain for what runs in the background.

        Raises:
            ClosedChannel: the owner is gone.
        """
        while True:
            for fd, event in self._poll(None, select.POLLIN):
                if fd == self.channel:
                    if event & select.POLLIN:
                        return
                    raise ClosedChannel

    def watch(
        self,
        pid: int,
        captures: list[Capture],
        deadline: float,
        *,
        hooks: dict[int, Callable[[], None]] | None = None,
        finished: Callable[[], bool] | None = None,
    ) -> int | None:
        """Follow process `pid` until it exits; its wait status, or None when the deadline came
        first.

        `hooks` are called when their descriptor is readable. `finished` may say that the work is
        done although the process goes on (the lasting shell); the status is then 0.

        Raises:
            ClosedChannel: the owner is gone.
        """
        self.expect(pid)
        hooks = dict(hooks or {})
        live = {capture.fd: capture for capture in captures}
        try:
            while True:
                self.reap()
                status = self._awaited[pid]
                if status is None and finished is not None and finished():
                    status = 0
                if status is not None:
                    for capture in captures:
                        capture.drain()
                    return status
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                for fd, event in self._poll(left, 0, [*live, *hooks]):
                    if fd == self.channel:
                        raise ClosedChannel
                    if fd in live:
                        if live[fd].pump() == 0:
                            del live[fd]
                    elif fd in hooks:
                        hooks[fd]()
                        if event & select.POLLHUP and not event & select.POLLIN:
                            del hooks[fd]
        finally:
            del self._awaited[pid]

    def _poll(
        self, timeout_s: float | None, channel_events: int, fds: list[int] | None = None
    ) -> list[tuple[int, int]]:
        poller = select.poll()
        poller.register(self.channel, channel_events)
        poller.register(self._wake, select.POLLIN)
        if self.lifeline >= 0:
            poller.register(self.lifeline, 0)
        for fd in fds or ():
            poller.register(fd, select.POLLIN)
        for capture in self._lingering:
            poller.register(capture.fd, select.POLLIN)
        # Rounded up, so that the last poll before a deadline does not spin.
        events = poller.poll(None if timeout_s is None else int(timeout_s * 1000) + 1)
        lingering = {capture.fd: capture for capture in self._lingering}
        rest = []
        for fd, event in events:
            if fd == self._wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, CHUNK)
                self.reap()
            elif fd == self.lifeline:
                raise ClosedChannel
            elif fd in lingering:
                if lingering[fd].pump() == 0:
                    os.close(fd)
                    self._lingering.remove(lingering[fd])
            else:
                rest.append((fd, event))
        return rest

    def linger(self, capture: Capture) -> None:
        """Keep draining a pipe that background programs may still write to."""
        capture.limit = 0
        capture.data.clear()
        self._lingering.append(capture)
        if len(self._lingering) > _MAX_LINGERING:
            os.close(self._lingering.pop(0).fd)

    @property
    def lingering(self) -> list[int]:
        """The descriptors of the pipes that are drained so."""
        return [capture.fd for capture in self._lingering]

    def before(self) -> dict[int, int]:
        """What runs now, as pid -> start time: a deadline must not hit it."""
        if not self.reap():
            return {}
        table = self._agents()
        return {pid: row.start for pid, row in table.items()}

    def background(self) -> int:
        """How many programs of the agent run on."""
        if not self.reap():
            return 0
        return sum(row.state not in "ZX" for row in self._agents().values())

    def _agents(self) -> dict[int, Process]:
        """Every process below this one, but for the supervisor's own helpers."""
        table = processes()
        me = os.getpid()
        below = {me}
        # Parents are not listed before their children, so repeat until nothing is added.
        grown = True
        while grown:
            grown = False
            for row in table.values():
                if row.pid not in below and row.parent in below:
                    below.add(row.pid)
                    grown = True
        return {
            pid: row
            for pid, row in table.items()
            if pid in below and pid != me and pid not in self.infrastructure
        }

    def kill_since(self, before: dict[int, int]) -> None:
        """Kill everything that was started since `before` was taken, and nothing else."""
        if self.first and not before and not self.infrastructure:
            self.kill_all()
            return
        end = time.monotonic() + _REAP_S
        while True:
            # Stopped first, so that nobody forks while the table is read.
            if self.first:
                self._signal_all(signal.SIGSTOP)
            table = self._agents()
            old = {pid for pid, row in table.items() if before.get(pid) == row.start}
            victims = [
                row.pid
                for row in table.values()
                if row.pid not in old and row.state not in "ZX" and not descends(row, table, old)
            ]
            for pid in victims:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if self.first:
                self._signal_all(signal.SIGCONT)
            self.reap()
            if not victims or time.monotonic() > end:
                return
            self._poll(0.01, 0)

    def kill_all(self) -> None:
        """Kill every process of the sandbox but this one; returns when they are gone (or `_REAP_S`
        passed).
        """
        end = time.monotonic() + _REAP_S
        while True:
            if self.first:
                self._signal_all(signal.SIGKILL)
            else:
                self.infrastructure.clear()
                for pid in self._agents():
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            if not self.reap() or time.monotonic() > end:
                return
            self._poll(0.01, 0)

    def stop_all(self) -> None:
        """Freeze every process of the sandbox but this one; returns when they stand still (or
        `_STOP_S` passed).

        A signal is taken at the end of a system call, and one call may write for a long time.
        """
        if not self.first or not self.reap():
            return
        self._signal_all(signal.SIGSTOP)
        end = time.monotonic() + _STOP_S
        while moving() and time.monotonic() < end:
            self._poll(0.001, 0)

    def continue_all(self) -> None:
        """Undo `stop_all`."""
        if self.first:
            self._signal_all(signal.SIGCONT)

    @staticmethod
    def _signal_all(number: int) -> None:
        # One call signals all processes of the pid namespace at once; no fork can slip through.
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, number)


@contextlib.contextmanager
def acting_as(uid: int, gid: int) -> Iterator[None]:
    """Start programs as another user at the price of vfork: swap the ids, spawn, swap back.

    Only the saved id stays 0 in between, and exec copies the effective id over it. Process 1 of a
    pid namespace ignores signals from inside, so the agent cannot use the moment in which the real
    id is its own. Does nothing where there is only one user.
    """
    if uid == os.getuid():
        yield
        return
    os.setresgid(gid, gid, 0)
    os.setresuid(uid, uid, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)


def out_of_processes(error: OSError) -> bool:
    """Whether a program could not start because a limit of the sandbox is used up."""
    return error.errno in (errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE)
