"""Seeing whether a verifier has touched the agent's work.

An audit hook in the verifier's own process writes one byte to a pipe at the first touch: an open
(also one that fails), a folder listing, a program started in or on the work folder. `stat` alone is
no touch. A fanotify mark on the verifier's own mount sees what the hook cannot: opens by extension
modules and by child processes.

Source: reward contract, *touched* and rule A23.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from typing import Any

from deepgym_gym.sandbox.guest import syscalls

TOUCHED = b"T"
LAUNCH_FAILED = b"L"

_PATH_EVENTS = frozenset(
    {
        "open",
        "os.listdir",
        "os.scandir",
        "os.walk",
        "os.fwalk",
        "glob.glob",
        "glob.glob/2",
        "sqlite3.connect",
        "os.startfile",
        "shutil.copyfile",
        "shutil.copytree",
        "pathlib.Path.glob",
        "pathlib.Path.rglob",
        "ctypes.dlopen",
    }
)
# Programs: (executable, arguments, working folder) by event.
_PROGRAM_EVENTS = frozenset(
    {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "pty.spawn"}
)
# Close on exec, never block, and name files by handle instead of opening them.
_GROUP = 0x1 | 0x2 | 0x200
_OPEN_EVENTS = 0x20 | 0x1000 | 0x40000000  # FAN_OPEN, FAN_OPEN_EXEC, also of folders (FAN_ONDIR)


def arm(report: int, work: str, others: Iterable[str] = ()) -> None:
    """Report the first touch of `work`, or of one of the `others`, to descriptor `report`."""
    bases = tuple(os.path.realpath(path) for path in (work, *others))
    done = False

    def beneath(path: Any) -> bool:
        if path is None:
            path = "."
        if isinstance(path, int):
            return False
        try:
            text = os.path.join(os.getcwd(), os.fsdecode(path))
        except (TypeError, ValueError, OSError):
            return False
        for candidate in (os.path.normpath(text), os.path.realpath(text)):
            for base in bases:
                if candidate == base or candidate.startswith(base + "/"):
                    return True
        return False

    def program(event: str, args: tuple[Any, ...]) -> bool:
        if event in ("os.system", "pty.spawn"):
            return beneath(".") or work in os.fsdecode(str(args[0]))
        executable, arguments = args[0], args[1]
        folder = args[2] if event == "subprocess.Popen" else None
        if beneath(folder) or beneath(executable):
            return True
        listed = [arguments] if isinstance(arguments, (str, bytes)) else list(arguments or ())
        return any(work in os.fsdecode(part) for part in listed if isinstance(part, (str, bytes)))

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal done
        if done or event not in _PATH_EVENTS and event not in _PROGRAM_EVENTS:
            return
        try:
            hit = program(event, args) if event in _PROGRAM_EVENTS else beneath(args[0])
        except Exception:
            # A hook that raises would break the verifier; what cannot be understood counts as a
            # touch.
            hit = True
        if hit:
            done = True
            os.write(report, TOUCHED)

    sys.addaudithook(hook)


class MountWatch:
    """A fanotify mark on a mount; `touched` after the verifier ended says whether anything was
    opened on it.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def on(cls, mount: str) -> MountWatch | None:
        """Watch a mount, or None where the kernel does not allow it here."""
        watch = cls.unmarked()
        if watch is None or watch.mark(mount):
            return watch
        watch.close()
        return None

    def close(self) -> None:
        """Give the group up; the kernel takes some milliseconds for that."""
        os.close(self._fd)

    @classmethod
    def unmarked(cls) -> MountWatch | None:
        """A group without a mark yet; None where the kernel does not allow one."""
        fd = ctypes.PyDLL(None, use_errno=True).fanotify_init(
            ctypes.c_uint(_GROUP), ctypes.c_uint(0)
        )
        return cls(fd) if fd >= 0 else None

    def mark(self, mount: str) -> bool:
        """Watch a mount from now on; False if the kernel does not allow it."""
        libc = ctypes.PyDLL(None, use_errno=True)
        add_mount = 0x1 | 0x10
        result = libc.fanotify_mark(
            ctypes.c_int(self._fd),
            ctypes.c_uint(add_mount),
            ctypes.c_uint64(_OPEN_EVENTS),
            ctypes.c_int(syscalls.AT_FDCWD),
            os.fsencode(mount),
        )
        return bool(result == 0)

    def finish(self) -> bool:
        """Forget the marks; whether anything was touched since they were made."""
        libc = ctypes.PyDLL(None, use_errno=True)
        touched = self.touched()
        flush_mounts = 0x80 | 0x10
        libc.fanotify_mark(
            ctypes.c_int(self._fd),
            ctypes.c_uint(flush_mounts),
            ctypes.c_uint64(0),
            ctypes.c_int(syscalls.AT_FDCWD),
            b"/",
        )
        while self.touched():
            touched = True
        return touched

    def touched(self) -> bool:
        """Whether anything was opened, listed or executed on the mount."""
        try:
            return bool(os.read(self._fd, 4096))
        except OSError:
            # Mostly that nothing is there to read.
            return False
