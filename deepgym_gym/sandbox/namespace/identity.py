"""Which uids a warden may hand out, and how they are mapped: the four ways a machine may offer.

- `root`: a user namespace per sandbox over a block of unused host uids, written by root itself;
- `root-plain`: root where user namespaces are switched off: the block is used directly;
- `subuid`: an ordinary user with a range in /etc/subuid and the newuidmap helpers;
- `single`: an ordinary user without: one uid, and the walls are the namespaces alone.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from typing import NamedTuple

from deepgym_gym.sandbox.guest import syscalls
from deepgym_gym.sandbox.namespace.box import Users

AGENT, VERIFIER, SOLVER = 6001, 6002, 6003
_BLOCK = 4
# High, and a random place in it, so that no account and no other warden uses the same uids.
_HOST_BASE, _HOST_LENGTH = 0x70000000, 0x0F000000
MODES = ("root", "root-plain", "subuid", "single")


class Range(NamedTuple):
    """A range of host ids."""

    start: int
    length: int


class Identity:
    """Hands out one block of uids per sandbox, so that no two share a per-user limit.

    Raises:
        PermissionError: this machine cannot run the mode asked for; the message says why.
    """

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode or detect()
        self._range = Range(_HOST_BASE, _HOST_LENGTH)
        if self.mode == "root":
            self._range = _mapped_range()
        elif self.mode == "subuid":
            found = subordinate_range()
            if found is None:
                raise PermissionError("no range in /etc/subuid and /etc/subgid, or no newuidmap")
            self._range = found
        self._slots = max(1, self._range.length // _BLOCK)
        self._next = secrets.randbelow(self._slots)
        self._used: set[int] = set()

    def take(self) -> int:
        """A free slot."""
        for _ in range(self._slots):
            slot = self._next
            self._next = (self._next + 1) % self._slots
            if slot not in self._used:
                self._used.add(slot)
                return slot
        raise BlockingIOError("no free block of uids")

    def give_back(self, slot: int) -> None:
        """Free a slot."""
        self._used.discard(slot)

    @property
    def namespace_flag(self) -> int:
        """The clone flag for a user namespace, if this mode has one."""
        return 0 if self.mode == "root-plain" else syscalls.CLONE_NEWUSER

    def users(self, slot: int) -> Users:
        """The users inside the sandbox that holds a slot."""
        if self.mode == "single":
            return Users(AGENT, AGENT, AGENT, AGENT)
        if self.mode == "root-plain":
            base = self._range.start + slot * _BLOCK
            return Users(0, base + 1, base + 2, base + 3)
        return Users(0, AGENT, VERIFIER, SOLVER)

    def map(self, pid: int, slot: int) -> None:
        """Write the uid and gid maps of a new user namespace.

        Raises:
            OSError: the kernel or newuidmap refused.
        """
        if self.mode == "root-plain":
            return
        if self.mode == "single":
            _write(pid, "setgroups", "deny")
            _write(pid, "uid_map", f"{AGENT} {os.getuid()} 1")
            _write(pid, "gid_map", f"{AGENT} {os.getgid()} 1")
            return
        base = self._range.start + slot * _BLOCK
        inner = [(AGENT, base + 1), (VERIFIER, base + 2), (SOLVER, base + 3)]
        if self.mode == "root":
            text = "".join(f"{inside} {outside} 1\n" for inside, outside in [(0, base), *inner])
            _write(pid, "uid_map", text)
            _write(pid, "gid_map", text)
            return
        for helper, own in (("newuidmap", os.getuid()), ("newgidmap", os.getgid())):
            words = [str(n) for row in [(0, own), *inner] for n in (*row, 1)]
            path = shutil.which(helper) or helper
            child = os.posix_spawn(path, [helper, str(pid), *words], {"PATH": "/usr/bin:/bin"})
            if os.waitpid(child, 0)[1] != 0:
                raise PermissionError(f"{helper} refused {' '.join(words)}")


def _write(pid: int, name: str, text: str) -> None:
    fd = os.open(f"/proc/{pid}/{name}", os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _mapped_range() -> Range:
    """Where unused ids are among those that root has here: all of them, or a container's."""
    with open("/proc/self/uid_map") as file:
        rows = [tuple(int(word) for word in line.split()) for line in file]
    for inside, _, length in rows:
        if inside <= _HOST_BASE and inside + length >= _HOST_BASE + _HOST_LENGTH:
            return Range(_HOST_BASE, _HOST_LENGTH)
    inside, _, length = max(rows, key=lambda row: row[2])
    if length < 1 << 14:
        raise PermissionError(f"only {length} uids are mapped here; at least {1 << 14} are needed")
    # The upper half: accounts and dynamic users of distributions lie in the lower.
    return Range(inside + length // 2, length // 2)


def subordinate_range() -> Range | None:
    """This user's range, if it has the same one for uids and gids, and the helpers are there."""
    import pwd

    if not (shutil.which("newuidmap") and shutil.which("newgidmap")):
        return None
    uid = os.getuid()
    names = {str(uid)}
    with contextlib.suppress(KeyError):
        names.add(pwd.getpwuid(uid).pw_name)
    found = [_range_in(path, names) for path in ("/etc/subuid", "/etc/subgid")]
    first, second = found
    if first is None or second is None or first != second or first.length < _BLOCK:
        return None
    return first


def _range_in(path: str, names: set[str]) -> Range | None:
    with contextlib.suppress(OSError, ValueError), open(path) as file:
        for line in file:
            name, start, length = line.strip().split(":")
            if name in names:
                return Range(int(start), int(length))
    return None


def detect() -> str:
    """The best mode of this machine.

    Raises:
        PermissionError: user namespaces do not work and this is not root.
    """
    works = user_namespaces_fault() is None
    if os.geteuid() == 0:
        return "root" if works else "root-plain"
    if not works:
        raise PermissionError(f"user namespaces: {user_namespaces_fault()}")
    return "subuid" if subordinate_range() else "single"


def user_namespaces_fault() -> str | None:
    """Try to make a user namespace with a mount namespace in it; what failed, or None."""
    reader, writer = os.pipe()
    try:
        pid = syscalls.clone(syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWNS)
    except OSError as error:
        os.close(reader)
        os.close(writer)
        return str(error)
    if pid == 0:
        try:
            # Where a security module restricts it, the namespace exists but gives no right to
            # mount.
            syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
            syscalls.mount("tmpfs", "/tmp", "tmpfs", 0, "size=4k")  # noqa: S108
            os._exit(0)
        except OSError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(1)
    os.close(writer)
    status = os.waitpid(pid, 0)[1]
    text = os.read(reader, 1000).decode()
    os.close(reader)
    return None if status == 0 else text or f"exit status {status}"
