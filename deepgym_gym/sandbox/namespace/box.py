"""Building a sandbox from inside its new namespaces: mounts, users, limits, then the supervisor.

Runs in a fork of the warden. What the agent sees: read-only system folders, a handful of files in
`/etc`, its own `/proc`, a minimal `/dev`, and four size-limited folders of its own. Nothing else of
the host exists here.
"""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any, NamedTuple

from deepgym_gym.sandbox.guest import seccomp, syscalls, wire
from deepgym_gym.sandbox.guest.main import Guest, limit_resources, serve_solver
from deepgym_gym.sandbox.guest.setting import Setting, User
from deepgym_gym.sandbox.guest.syscalls import (
    CAP_CHOWN,
    CAP_KILL,
    CAP_SETGID,
    CAP_SETUID,
    CAP_SYS_ADMIN,
    MOUNT_ATTR_NODEV,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_RDONLY,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
)
from deepgym_gym.sandbox.namespace.networks import bring_up_loopback

WORK, HOME, PRIVATE = "/work", "/home/dgagent", "/run/private"
_HOST = "/.host"
# Of a folder: enough for 4 KiB files throughout, and a bound on kernel memory.
_INODES_PER_MB, _MIN_INODES = 256, 1024
_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "mime.types", "protocols"),
    *("services", "ssl/certs", "python3", "terminfo", "magic", "perl", "fonts"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}


class Users(NamedTuple):
    """The numeric users inside; all the same where only one uid can be mapped."""

    root: int
    agent: int
    verifier: int
    solver: int

    @property
    def single(self) -> bool:
        """Whether the supervisor and the agent are one user, told apart by namespaces alone."""
        return self.root == self.agent


class Layout(NamedTuple):
    """What of the host is shown (`binds`), hidden within that, and where the interpreter is."""

    binds: tuple[str, ...]
    hidden: tuple[str, ...]
    interpreter: str
    path: str


class Box(NamedTuple):
    """One box to build."""

    users: Users
    layout: Layout
    spec: dict[str, Any]
    filter: bytes
    limit_memory: bool
    channel: int
    lifeline: int
    launcher: int = -1
    # Descriptors of the shown folders, opened while this process could still pass the folders above
    # them: an interpreter may lie in a home folder that only its owner may enter.
    shown: tuple[tuple[str, int], ...] = ()


def open_shown(layout: Layout) -> tuple[tuple[str, int], ...]:
    """Open the folders that are to be shown, in this process's own mount namespace."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    return tuple((path, os.open(path, flags)) for path in layout.binds)


def run_agent_box(box: Box) -> None:
    """Build the agent's box in fresh namespaces and serve until the owner hangs up."""
    try:
        _build_root(box)
        limit_resources(box.spec["pids"], _address_space(box), box.spec["nofile"])
        keep = 0 if box.users.single else syscalls.mask(CAP_KILL, CAP_SETGID, CAP_SETUID)
        setting = _setting(box)._replace(lockdown=_assert_no_capabilities)
        _lock(box, keep)
    except BaseException as error:
        refuse(box.channel, error)
        return
    _ready(box)
    Guest(box.channel, setting).serve()


def run_sibling_box(box: Box, *, solver: bool) -> None:
    """Turn a private copy of an agent's mounts into a verifier's or solver's box, and serve it.

    The system folders stay; `/work` becomes read-only; everything else that the agent could write
    is covered by something empty.
    """
    keep = 0 if box.users.single else syscalls.mask(CAP_KILL, CAP_SETGID, CAP_SETUID)
    guest: Guest | None = None
    try:
        # Where there is one uid only, its processes in all boxes count together.
        pids = box.spec["pids"] * (2 if box.users.single else 1) + 8 if solver else None
        limit_resources(pids, _address_space(box) if solver else None, box.spec["nofile"])
        if solver:
            _cover(box)
            _lock(box, keep)
        else:
            guest = _verifiers_guest(box, keep)
            # The verifier's process gives its rights up while its supervisor covers the rest.
            guest.prepare_verifier()
            _cover(box)
            # The supervisor marks the work mount and owns the verifier's file.
            syscalls.drop_capabilities(keep | syscalls.mask(CAP_CHOWN, CAP_SYS_ADMIN))
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    except BaseException as error:
        refuse(box.channel, error)
        return
    if guest is None:
        setting = _setting(box)._replace(lockdown=_assert_no_capabilities)
        serve_solver(box.channel, setting, _kill_all)
        return
    _ready(box)
    guest.serve()


def _verifiers_guest(box: Box, keep: int) -> Guest:
    if not box.users.single:
        os.setgroups([])

    def lockdown() -> None:
        syscalls.capset(0, 0)
        seccomp.install(box.filter)
        _assert_no_capabilities()

    setting = _setting(box)._replace(
        shed=lambda: syscalls.drop_capabilities(keep),
        lockdown=lockdown,
        watch=box.spec["guest_watch"],
        launcher=box.launcher,
    )
    return Guest(box.channel, setting)


def _setting(box: Box) -> Setting:
    users = box.users
    return Setting(
        work=WORK,
        home=HOME,
        temporary="/tmp",  # noqa: S108
        path=box.layout.path,
        agent=User(users.agent, users.agent),
        verifier=User(users.verifier, users.verifier),
        solver=User(users.solver, users.solver),
        first=True,
        private=PRIVATE,
        memory_bytes=box.spec["memory_mb"] << 20,
        output_bytes=box.spec["output_bytes"],
        lifeline=box.lifeline,
    )


def _kill_all() -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, 9)


def _address_space(box: Box) -> int | None:
    return box.spec["memory_mb"] << 20 if box.limit_memory else None


def _assert_no_capabilities() -> None:
    held = syscalls.held_capabilities()
    if held:
        raise PermissionError(f"a program of the sandbox would hold capabilities {held:#x}")


def _lock(box: Box, keep: int) -> None:
    if not box.users.single:
        os.setgroups([])
    syscalls.drop_capabilities(keep)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    seccomp.install(box.filter)


def _ready(box: Box) -> None:
    wire.send(box.channel, {"ok": True, "ready": True})


def refuse(channel: int, error: BaseException) -> None:
    """Tell the owner why there will be no box."""
    with contextlib.suppress(wire.ClosedChannel):
        wire.send(channel, {"ok": False, "error": f"{type(error).__name__}: {error}"})


def _tmpfs(target: str, size_mb: int, user: int, mode: int = 0o755, flags: int = 0) -> None:
    inodes = max(_MIN_INODES, size_mb * _INODES_PER_MB)
    data = f"size={size_mb}m,nr_inodes={inodes},mode={mode:o},uid={user},gid={user}"
    syscalls.mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV | flags, data)


def _proc(users: Users) -> None:
    # Members of the supervisor's group may see every process; the agent's user only its own.
    options = f"hidepid=2,gid={users.root}"
    syscalls.mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)


def _build_root(box: Box) -> None:
    os.umask(0o022)
    users = box.users
    syscalls.mount("none", "/", None, MS_REC | MS_PRIVATE)
    # Any folder serves as the place: pivot_root moves the mount away from it, and then nothing
    # covers the host.
    stage = "/tmp"  # noqa: S108
    syscalls.mount("tmpfs", stage, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,nr_inodes=4096,mode=755")
    os.mkdir(stage + _HOST)
    syscalls.pivot_root(stage, stage + _HOST)
    os.chdir("/")
    for name in ("dev", "etc", "home", "opt", "proc", "run", "tmp", "var", "work"):
        os.mkdir("/" + name)
    os.mkdir(PRIVATE)
    os.mkdir(HOME)
    os.symlink("/tmp", "/var/tmp")  # noqa: S108
    for path, fd in box.shown:
        os.fchdir(fd)
        _show(path, source=".")
        os.close(fd)
    os.chdir("/")
    for name in _SYSTEM_LINKS:
        if os.path.islink(f"{_HOST}/{name}"):
            os.symlink(os.readlink(f"{_HOST}/{name}"), f"/{name}")
        elif os.path.isdir(f"{_HOST}/{name}"):
            _show(f"/{name}")
    for path in box.layout.hidden:
        if os.path.isdir(path):
            syscalls.mount(
                "tmpfs",
                path,
                "tmpfs",
                MS_RDONLY | MS_NOSUID | MS_NODEV,
                "size=0,nr_inodes=2,mode=755",
            )
    _fill_etc(users)
    _fill_dev(box)
    _interpreter_links(box.layout.interpreter)
    _proc(users)
    _tmpfs(WORK, box.spec["disk_mb"], users.agent)
    _tmpfs("/tmp", box.spec["tmp_mb"], users.root, 0o1777)  # noqa: S108
    _tmpfs(HOME, box.spec["tmp_mb"], users.agent)
    _tmpfs("/dev/shm", box.spec["shm_mb"], users.root, 0o1777)  # noqa: S108
    syscalls.unmount(_HOST)
    os.rmdir(_HOST)
    syscalls.restrict_mount("/", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
    if box.spec["new_network"]:
        bring_up_loopback()
    socket.sethostname("deepgym")
    _limit_shared_memory(box.spec["shm_mb"])


def _show(path: str, source: str = "") -> None:
    """Show a folder or file of the host, read-only, at its own place."""
    source = source or _HOST + path
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    syscalls.mount(source, path, None, MS_BIND | MS_REC)
    attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV
    syscalls.restrict_mount(path, attributes, recursive=True)


def _fill_etc(users: Users) -> None:
    for name in _ETC:
        if os.path.exists(f"{_HOST}/etc/{name}"):
            _show(f"/etc/{name}")
    names = {"dgagent": users.agent}
    if not users.single:
        names |= {"root": users.root, "dgverifier": users.verifier, "dgsolver": users.solver}
    texts = {
        "passwd": "".join(
            f"{name}:x:{uid}:{uid}::{HOME if name == 'dgagent' else '/'}:/bin/bash\n"
            for name, uid in names.items()
        ),
        "group": "".join(f"{name}:x:{uid}:\n" for name, uid in names.items()),
        "hosts": "127.0.0.1 localhost deepgym\n::1 localhost\n",
        "hostname": "deepgym\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "resolv.conf": "",
    }
    for name, text in texts.items():
        fd = os.open(f"/etc/{name}", os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o644)
        os.write(fd, text.encode())
        os.close(fd)


def _fill_dev(box: Box) -> None:
    for name in _DEVICES:
        os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
        syscalls.mount(f"{_HOST}/dev/{name}", f"/dev/{name}", None, MS_BIND)
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"/dev/{name}")
    os.mkdir("/dev/shm")  # noqa: S108
    os.mkdir("/dev/pts")
    options = "newinstance,ptmxmode=0666,mode=620"
    syscalls.mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, options)


def _interpreter_links(interpreter: str) -> None:
    """`python` and `python3` at the end of the PATH, for hosts whose own have another name or
    place.
    """
    os.makedirs("/opt/deepgym/bin")
    for name in ("python", "python3"):
        os.symlink(interpreter, f"/opt/deepgym/bin/{name}")


def _limit_shared_memory(size_mb: int) -> None:
    """System V shared memory lives in no file system: bound it too, where the kernel lets us."""
    for name, value in (("shmall", size_mb * 256), ("msgmni", 64)):
        with contextlib.suppress(OSError), open(f"/proc/sys/kernel/{name}", "w") as file:
            file.write(str(value))


def _cover(box: Box) -> None:
    users = box.users
    syscalls.mount("none", "/", None, MS_REC | MS_PRIVATE)
    syscalls.restrict_mount(WORK, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
    _proc(users)
    _tmpfs("/tmp", box.spec["tmp_mb"], users.root, 0o1777)  # noqa: S108
    _tmpfs(HOME, 1, users.root)
    _tmpfs("/dev/shm", box.spec["shm_mb"], users.root, 0o1777)  # noqa: S108
    syscalls.mount(
        "devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"
    )
    # Room for the verifier's text and state, and for a step's two streams at their longest.
    streams_mb = 2 * box.spec["output_bytes"] >> 20
    _tmpfs(PRIVATE, box.spec["tmp_mb"] + streams_mb, users.root, 0o711)
    if box.spec["new_network"]:
        bring_up_loopback()
    socket.sethostname("deepgym")
