"""What the guest is told about where it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class User(NamedTuple):
    """One of the sandbox's numeric users."""

    uid: int
    gid: int


class Setting(NamedTuple):
    """All that the guest is told about where it runs.

    `first`: it is process 1 of its own pid namespace. `lockdown` is what each forked program must
    still do before foreign code runs. `watch`: fanotify may work on the work mount.
    """

    work: str
    home: str
    temporary: str
    path: str
    agent: User
    verifier: User
    solver: User
    first: bool
    private: str
    memory_bytes: int | None = None
    output_bytes: int = 1 << 20
    lockdown: Callable[[], None] | None = None
    shed: Callable[[], None] | None = None
    watch: bool = False
    launcher: int = -1
    lifeline: int = -1

    def environment(self, name: str) -> dict[str, str]:
        """The whole environment of a program; nothing of the host's is inherited."""
        return {
            "PATH": self.path,
            "HOME": self.home,
            "USER": name,
            "LOGNAME": name,
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": self.temporary,
            # What a program printed before its deadline should be seen.
            "PYTHONUNBUFFERED": "1",
            # An edit within a second of the last run, to the same size, must not meet old bytecode.
            "PYTHONDONTWRITEBYTECODE": "1",
        }
