"""The seccomp deny-list: system calls that no agent, verifier or solution ever needs.

It is the second wall. The first is that no process holds a capability; this one keeps kernel code
out of reach that has had its share of faults (io_uring, bpf, keyrings, user namespaces, exotic
sockets).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

from deepgym_gym.sandbox.guest import syscalls

_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
# BPF instructions: load word, jump if equal / greater-or-equal / any bit set, return.
_LOAD, _EQ, _GE, _SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000

# Number on x86_64, on aarch64 (None: does not exist there).
_DENIED: dict[str, tuple[int, int | None]] = {
    # namespaces and mounts
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # kernel interfaces with a large attack surface
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "pidfd_getfd": (438, 438),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "lookup_dcookie": (212, 18),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
}
_CLONE, _CLONE3, _SOCKET, _IOCTL = (56, 220), (435, 435), (41, 198), (16, 29)
# A frozen agent must stay frozen, but a signal of the kernel's own may be SIGCONT: from a timer, or
# from a descriptor (a lease that the verifier breaks, say). Programs take a missing timer_create
# well: `timeout` falls back to alarm.
_TIMER_CREATE, _FCNTL = (222, 107), (72, 25)
# Only one's own limits: where there is one uid only, the supervisor's could be set as well.
_PRLIMIT = (302, 261)
_SIGNALS = tuple(enumerate((10, 1026)))  # F_SETSIG, F_NOTIFY
_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag, CLONE_NEWTIME included
_SOCKET_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink
_TIOCSTI = 0x5412


def _instruction(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("HBBI", code, true, false, value)


def _refuse(error: int) -> bytes:
    return _instruction(_RETURN, _ERRNO | error)


def program(machine: str) -> bytes:
    """The BPF program for a machine type."""
    column = 0 if machine == "x86_64" else 1
    allow = _instruction(_RETURN, _ALLOW)
    parts = [
        # Another architecture's system calls have other numbers: none is served.
        _instruction(_LOAD, _ARCH),
        _instruction(_EQ, _AUDIT_ARCH[machine], 1, 0),
        _refuse(_ENOSYS),
        _instruction(_LOAD, _NR),
        _instruction(_GE, _X32, 0, 1),
        _refuse(_ENOSYS),
        # clone3 hides its flags behind a pointer; libc falls back to clone when it is missing.
        _instruction(_EQ, _CLONE3[column], 0, 1),
        _refuse(_ENOSYS),
    ]
    for numbers in _DENIED.values():
        number = numbers[column]
        if number is not None:
            parts += [_instruction(_EQ, number, 0, 1), _refuse(_EPERM)]
    parts += [
        _instruction(_EQ, _CLONE[column], 0, 4),
        _instruction(_LOAD, _ARG0),
        _instruction(_SET, _NEW_NAMESPACES, 0, 1),
        _refuse(_EPERM),
        allow,
        _instruction(_EQ, _IOCTL[column], 0, 4),
        _instruction(_LOAD, _ARG1),
        _instruction(_EQ, _TIOCSTI, 0, 1),
        _refuse(_EPERM),
        allow,
        _instruction(_EQ, _TIMER_CREATE[column], 0, 1),
        _refuse(_ENOSYS),
        _instruction(_EQ, _PRLIMIT[column], 0, 4),
        _instruction(_LOAD, _ARG0),
        _instruction(_EQ, 0, 1, 0),
        _refuse(_EPERM),
        allow,
        _instruction(_EQ, _FCNTL[column], 0, 5),
        _instruction(_LOAD, _ARG1),
        *(_instruction(_EQ, command, 1 - place, place) for place, command in _SIGNALS),
        _refuse(_EPERM),
        allow,
        _instruction(_EQ, _SOCKET[column], 0, 2 + len(_SOCKET_FAMILIES)),
        _instruction(_LOAD, _ARG0),
    ]
    # A known family jumps over the rest of the list and the refusal to the `allow` behind them.
    for place, family in enumerate(_SOCKET_FAMILIES):
        parts.append(_instruction(_EQ, family, len(_SOCKET_FAMILIES) - place, 0))
    parts += [_refuse(_EAFNOSUPPORT), allow]
    return b"".join(parts)


def prepare() -> bytes | None:
    """The program for this machine, or None where none exists."""
    machine = platform.machine()
    return program(machine) if machine in _AUDIT_ARCH else None


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install(code: bytes) -> None:
    """Apply the filter to this process and all that it will start; it can never be taken off again.

    Raises:
        OSError: the kernel refused it (no-new-privileges must be set before).
    """
    wanted = _Program(len(code) // 8, code)
    libc = ctypes.PyDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    option, mode = ctypes.c_int(syscalls.PR_SET_SECCOMP), ctypes.c_ulong(2)
    if libc.prctl(option, mode, ctypes.byref(wanted), zero, zero) < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"seccomp filter: {os.strerror(error)}")
