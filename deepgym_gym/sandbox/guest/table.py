"""The process table as /proc shows it to the supervisor."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple


class Process(NamedTuple):
    """One row of the process table."""

    pid: int
    parent: int
    state: str
    start: int
    threads: int


def processes() -> dict[int, Process]:
    """The process table as /proc shows it to this process."""
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        pid = int(name)
        table[pid] = Process(
            pid, int(fields[1]), fields[0].decode(), int(fields[19]), int(fields[17])
        )
    return table


def descends(row: Process, table: dict[int, Process], old: set[int]) -> bool:
    """Whether one of the `old` is among `row`'s ancestors (a server's worker, say)."""
    seen = set()
    parent = row.parent
    while parent in table and parent not in seen:
        if parent in old:
            return True
        seen.add(parent)
        parent = table[parent].parent
    return False


def moving() -> bool:
    """Whether any thread but this process's own is not stopped yet."""
    me = os.getpid()
    for row in processes().values():
        if row.pid == me:
            continue
        states = [row.state]
        if row.threads > 1:
            states = _thread_states(row.pid)
        # Uninterruptible sleep counts as moving: it may be a wait for another writer's lock.
        if any(state not in "TtZX" for state in states):
            return True
    return False


def _thread_states(pid: int) -> list[str]:
    states = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{name}/stat", "rb") as file:
                states.append(file.read().rpartition(b")")[2].split(None, 1)[0].decode())
    return states
