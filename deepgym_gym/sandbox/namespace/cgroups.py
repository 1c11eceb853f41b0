"""Memory and process limits by cgroup, where cgroups can be written: version 2, or version 1's own
hierarchies.

Without them the guest's rlimits hold the same limits per process (memory) and per user (processes);
`doctor` and a sandbox's capabilities say which.
"""

from __future__ import annotations

import contextlib
import os

_ROOT = "/sys/fs/cgroup"
_MIB = 1 << 20


class Cgroups:
    """The limits of one warden's sandboxes: a folder per sandbox in each hierarchy.

    A warden's groups are named after its pid namespace and its pid, so that leftovers can be told:
    containers that share one cgroup file system have pids of their own.
    """

    def __init__(self) -> None:
        prefix = f"deepgym-{os.stat('/proc/self/ns/pid').st_ino}-"
        owner = f"{prefix}{os.getpid()}"
        self.memory: str | None = None
        self.pids: str | None = None
        self._folders: list[str] = []
        self._version2 = False
        for name in ("memory", "pids"):
            base = self._base(name)
            if base is None:
                continue
            _remove_leftovers(base, prefix)
            folder = os.path.join(base, owner)
            try:
                os.mkdir(folder)
                if self._version2 and folder not in self._folders:
                    _write(os.path.join(folder, "cgroup.subtree_control"), "+memory +pids")
                _probe(folder, name, self._version2)
            except FileExistsError:
                pass
            except OSError:
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
                continue
            setattr(self, name, folder)
            if folder not in self._folders:
                self._folders.append(folder)

    def _base(self, controller: str) -> str | None:
        if os.path.exists(os.path.join(_ROOT, "cgroup.controllers")):
            try:
                with open(os.path.join(_ROOT, "cgroup.controllers")) as file:
                    if controller not in file.read().split():
                        return None
                _write(os.path.join(_ROOT, "cgroup.subtree_control"), f"+{controller}")
            except OSError:
                return None
            self._version2 = True
            return _ROOT
        base = os.path.join(_ROOT, controller)
        return base if os.access(os.path.join(base, "tasks"), os.W_OK) else None

    def create(self, name: str, memory_mb: int, pids: int) -> None:
        """Make a sandbox's groups with its limits; groups that are there already are left alone."""
        for folder in self._folders:
            path = os.path.join(folder, name)
            try:
                os.mkdir(path)
            except FileExistsError:
                continue
            if folder == self.memory:
                _limit_memory(path, memory_mb * _MIB, self._version2)
            if folder == self.pids:
                _write(os.path.join(path, "pids.max"), str(pids))

    def enter(self, name: str) -> None:
        """Put this process, and all that it will start, into a sandbox's groups.

        A process of one thread that moves itself by version 1's `tasks` needs no global lock; every
        other way waits for all processors, which takes 10 ms on an idle machine.
        """
        file = "cgroup.procs" if self._version2 else "tasks"
        for folder in self._folders:
            _write(os.path.join(folder, name, file), "0")

    def oom_kills(self, name: str) -> int:
        """How many processes the kernel has killed here for memory."""
        if self.memory is None:
            return 0
        file = "memory.events" if self._version2 else "memory.oom_control"
        try:
            with open(os.path.join(self.memory, name, file)) as lines:
                counts = dict(line.split() for line in lines)
        except (OSError, ValueError):
            return 0
        return int(counts.get("oom_kill", 0))

    def remove(self, name: str) -> bool:
        """Remove a sandbox's groups; False if one is still busy."""
        gone = True
        for folder in self._folders:
            try:
                os.rmdir(os.path.join(folder, name))
            except FileNotFoundError:
                pass
            except OSError:
                gone = False
        return gone

    def close(self) -> None:
        """Remove what is left, as far as it is empty."""
        for folder in self._folders:
            _remove_tree(folder)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _limit_memory(path: str, limit: int, version2: bool) -> None:
    if version2:
        _write(os.path.join(path, "memory.max"), str(limit))
        with contextlib.suppress(OSError):
            _write(os.path.join(path, "memory.swap.max"), "0")
        return
    _write(os.path.join(path, "memory.limit_in_bytes"), str(limit))
    with contextlib.suppress(OSError):
        _write(os.path.join(path, "memory.memsw.limit_in_bytes"), str(limit))


def _probe(folder: str, controller: str, version2: bool) -> None:
    """Fail now rather than at the first sandbox if a limit cannot be written."""
    path = os.path.join(folder, f"probe-{controller}")
    os.mkdir(path)
    try:
        if controller == "memory":
            _limit_memory(path, 64 * _MIB, version2)
        else:
            _write(os.path.join(path, "pids.max"), "64")
    finally:
        os.rmdir(path)


def _remove_leftovers(base: str, prefix: str) -> None:
    """Remove the groups of wardens that were killed before they could."""
    with contextlib.suppress(OSError):
        for name in os.listdir(base):
            if not name.startswith(prefix):
                continue
            pid = name.rpartition("-")[2]
            if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
                _remove_tree(os.path.join(base, name))


def _remove_tree(folder: str) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
        os.rmdir(folder)
