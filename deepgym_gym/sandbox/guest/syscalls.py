"""The few system calls that Python lacks, by ctypes, each raising OSError with what was tried."""

from __future__ import annotations

import ctypes
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
SIGCHLD = 17

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE, MS_STRICTATIME = 4096, 16384, 1 << 18, 1 << 24
MNT_DETACH = 2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV, MOUNT_ATTR_NOEXEC = 1, 2, 4, 8
AT_FDCWD, AT_RECURSIVE = -100, 0x8000

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_READ, PR_CAPBSET_DROP = 1, 4, 23, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 36, 38, 22
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
CAP_CHOWN, CAP_KILL, CAP_SETGID, CAP_SETUID = 0, 5, 6, 7
CAP_SYS_PTRACE, CAP_SYS_ADMIN = 19, 21

_NUMBERS = {
    "x86_64": {"clone": 56, "pivot_root": 155, "mount_setattr": 442, "capset": 126, "capget": 125},
    "aarch64": {"clone": 220, "pivot_root": 41, "mount_setattr": 442, "capset": 91, "capget": 90},
}

# PyDLL keeps the interpreter's lock while it calls: after a raw clone there is one thread, and it
# holds it.
_libc = ctypes.PyDLL(None, use_errno=True)


def _number(name: str) -> int:
    machine = platform.machine()
    if machine not in _NUMBERS:
        raise OSError(38, f"unsupported machine {machine}: expected one of {', '.join(_NUMBERS)}")
    return _NUMBERS[machine][name]


def _check(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def clone(flags: int) -> int:
    """Fork into new namespaces in one call: 0 in the child, its pid in the parent.

    Only safe in a process with one thread. Python's own after-fork hooks do not run.
    """
    number = _number("clone")
    result = _libc.syscall(
        ctypes.c_long(number), ctypes.c_ulong(flags | SIGCHLD), None, None, None, None
    )
    return _check(result, "clone")


def close_range(first: int, last: int = 0xFFFFFFFF) -> None:
    """Close all descriptors from `first` to `last`."""
    number = ctypes.c_long(436)
    if _libc.syscall(number, ctypes.c_uint(first), ctypes.c_uint(last), ctypes.c_uint(0)) < 0:
        os.closerange(first, min(last + 1, os.sysconf("SC_OPEN_MAX")))


def unshare(flags: int) -> None:
    """Move this process (for pid namespaces: its next children) into new namespaces."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd: int, kind: int) -> None:
    """Join the namespace that `fd` names."""
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system, or bind one."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    _check(result, f"mount {kind or 'bind'} on {target}")


def restrict_mount(target: str, attributes: int, *, recursive: bool = False) -> None:
    """Add restrictions (read-only, nosuid, ...) to a mount and, if asked, all below it."""

    class _Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]

    wanted = _Attributes(set=attributes)
    result = _libc.syscall(
        ctypes.c_long(_number("mount_setattr")),
        ctypes.c_int(AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(AT_RECURSIVE if recursive else 0),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )
    _check(result, f"mount_setattr {target}")


def unmount(target: str, flags: int = MNT_DETACH) -> None:
    """Unmount, by default from now on for new users only."""
    _check(_libc.umount2(os.fsencode(target), ctypes.c_int(flags)), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and show the old one at `old`."""
    result = _libc.syscall(ctypes.c_long(_number("pivot_root")), os.fsencode(new), os.fsencode(old))
    _check(result, f"pivot_root {new}")


def prctl(option: int, argument: int = 0) -> int:
    """Change or ask for a property of this process."""
    zero = ctypes.c_ulong(0)
    result = _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), zero, zero, zero)
    return _check(result, f"prctl {option}")


def capset(effective: int, permitted: int, inheritable: int = 0) -> None:
    """Set this process's capability sets, given as 64-bit masks."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    low = 0xFFFFFFFF
    data = (ctypes.c_uint32 * 6)(
        *(effective & low, permitted & low, inheritable & low),
        *(effective >> 32, permitted >> 32, inheritable >> 32),
    )
    _check(_libc.syscall(ctypes.c_long(_number("capset")), header, data), "capset")


def drop_capabilities(keep: int = 0) -> None:
    """Keep only the capabilities in mask `keep`, and let no program ever gain one again.

    The bounding and ambient sets are emptied as well: a launcher that runs as root may have put
    capabilities into the ambient set, which would survive a change of uid.
    """
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _check(
        _libc.prctl(
            ctypes.c_int(PR_CAP_AMBIENT),
            ctypes.c_ulong(PR_CAP_AMBIENT_CLEAR_ALL),
            ctypes.c_ulong(0),
            ctypes.c_ulong(0),
            ctypes.c_ulong(0),
        ),
        "prctl PR_CAP_AMBIENT_CLEAR_ALL",
    )
    for capability in range(64):
        try:
            held = prctl(PR_CAPBSET_READ, capability)
        except OSError:
            break
        if held:
            prctl(PR_CAPBSET_DROP, capability)
    capset(keep, keep)


def held_capabilities() -> int:
    """The mask of what this process holds in its permitted, effective or inheritable set."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    _check(_libc.syscall(ctypes.c_long(_number("capget")), header, data), "capget")
    return (data[0] | data[1] | data[2]) | (data[3] | data[4] | data[5]) << 32


def mask(*capabilities: int) -> int:
    """The 64-bit mask of some capabilities."""
    return sum(1 << capability for capability in capabilities)
