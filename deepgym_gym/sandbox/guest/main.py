"""The supervisor's loop: one request at a time from the owner's channel, one reply each.

Requests: `exec`, `code`, `write`, `read`, `freeze`, `thaw`, `kill`, `keep`, `verify`. When
the channel closes, the owner is gone and everything in the sandbox is ended.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import stat
import threading
from typing import Any, Callable

from deepgym_gym.sandbox.guest import files, python, syscalls, wire
from deepgym_gym.sandbox.guest.capture import Capture
from deepgym_gym.sandbox.guest.commands import Commands
from deepgym_gym.sandbox.guest.process import Supervisor
from deepgym_gym.sandbox.guest.setting import Setting, User
from deepgym_gym.sandbox.guest.solver import SolverSupervisor
from deepgym_gym.sandbox.guest.verify import Verifier


class Guest:
    """Serves one owner until it hangs up."""

    def __init__(self, channel: int, setting: Setting) -> None:
        self._channel = channel
        self._setting = setting
        self._supervisor = Supervisor(channel, first=setting.first, lifeline=setting.lifeline)
        self._commands = Commands(self._supervisor, setting)
        self._verifier: Verifier | None = None
        self._handlers: dict[
            str, Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]
        ] = {
            "exec": self._commands.run_bash,
            "code": self._commands.run_python,
            "write": self._write,
            "read": self._read,
            "freeze": self._freeze,
            "thaw": self._thaw,
            "kill": self._kill,
            "keep": self._keep,
            "verify": self._verify,
        }

    def serve(self) -> None:
        """Answer requests until the channel closes; then end everything."""
        # The agent may have closed its folder; a verifier's process was let in before.
        with contextlib.suppress(PermissionError):
            os.chdir(self._setting.work)
        try:
            while True:
                self._supervisor.idle()
                header, body_bytes = wire.receive_header(self._channel)
                if header.get("secret"):
                    self._answer_apart(header, body_bytes)
                else:
                    self._answer(header, body_bytes)
        except (wire.ClosedChannel, ValueError):
            pass
        finally:
            self._supervisor.kill_all()

    def _answer(self, header: dict[str, Any], body_bytes: int) -> None:
        body = wire.receive_body(self._channel, body_bytes)
        reply, data = self._handlers[header["op"]](header, body)
        wire.send(self._channel, {"ok": True, **reply}, data)

    def _answer_apart(self, header: dict[str, Any], body_bytes: int) -> None:
        """Answer in a fork, and never read the body here: the agent's `code` is a fork of this
        process, may read all of its own memory, and would find what was freed long ago.
        """
        ours, theirs = socket.socketpair()
        with ours, theirs:
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    status = self._be_apart(header, body_bytes, theirs)
                finally:
                    python.leave(status)
            theirs.close()
            # Pipes that background programs still hold stay open, as after any other command.
            _, fds, _, _ = socket.recv_fds(ours, 1, 16)
            for fd in fds:
                self._supervisor.linger(Capture(fd, 0))
            if os.waitpid(pid, 0)[1] != 0:
                raise wire.ClosedChannel

    def _be_apart(self, header: dict[str, Any], body_bytes: int, parent: socket.socket) -> int:
        # What double-forks away must be found at the deadline.
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        guest = Guest(self._channel, self._setting._replace(first=False))
        try:
            guest._answer(header, body_bytes)
        except wire.ClosedChannel:
            return 1
        socket.send_fds(parent, [b"x"], guest._supervisor.lingering)
        return 0

    # Files, as the agent's user.

    def _write(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        try:
            with _files_as(self._setting.agent):
                files.write(self._setting.work, header["path"], body)
        except files.Blocked as error:
            return {"blocked": str(error)}, b""
        except files.DiskFault as error:
            return {"disk": str(error)}, b""
        return {}, b""

    def _read(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        try:
            with _files_as(self._setting.agent):
                return {}, files.read(self._setting.work, header["path"], header["limit"])
        except files.Blocked as error:
            return {"blocked": str(error)}, b""
        except OverflowError as error:
            return {"overflow": str(error)}, b""

    # The agent's processes.

    def _freeze(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        self._supervisor.stop_all()
        self._open_work()
        return {}, b""

    def _thaw(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        self._supervisor.continue_all()
        return {}, b""

    def _kill(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        self._supervisor.kill_all()
        self._commands.forget_shell()
        self._open_work()
        return {}, b""

    def _keep(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        self._open_work()
        return {}, b""

    def _open_work(self) -> None:
        """Let a verifier into the work folder: an agent that closes it must not go unjudged."""
        work = self._setting.work
        with _files_as(self._setting.agent), contextlib.suppress(OSError):
            mode = stat.S_IMODE(os.stat(work).st_mode)
            if mode & 0o555 != 0o555:
                os.chmod(work, mode | 0o555)  # noqa: S103  # what others may do is read

    # Verifiers.

    def prepare_verifier(self) -> None:
        """In a verifier's own box: have its process ready before the request comes."""
        launcher = socket.socket(fileno=self._setting.launcher)
        self._verifier = self._make_verifier(launcher, alone=True)
        self._verifier.prepare()

    def _verify(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        request = {**header, "watch": self._setting.watch}
        if self._verifier is not None:
            prepared, self._verifier = self._verifier, None
            return prepared.run(request, body)
        self._open_work()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            serving = (ours.fileno(), lambda: self._launch_solver(ours))
            return self._make_verifier(theirs, serve_launcher=serving).run(request, body)

    def _make_verifier(self, launcher: socket.socket, **options: Any) -> Verifier:
        setting = self._setting
        environment = setting.environment("dgverifier")
        environment["HOME"] = setting.temporary
        identity = python.Identity(
            *setting.verifier, environment, setting.work, setting.lockdown, setting.shed
        )
        return Verifier(self._supervisor, identity, setting.private, launcher, **options)

    def _launch_solver(self, requests: socket.socket) -> None:
        """Start a solver beside the verifier, where no warden can give it a box of its own."""
        if not requests.recv(4096):
            return
        ours, theirs = socket.socketpair()
        with ours, theirs:
            pid = os.fork()
            if pid == 0:
                try:
                    os.setsid()
                    signal.set_wakeup_fd(-1)
                    serve_solver(theirs.fileno(), self._setting, lambda: None)
                finally:
                    python.leave(0)
            socket.send_fds(requests, [b"ok"], [ours.fileno()])


def serve_solver(channel: int, setting: Setting, kill_everything: Callable[[], None]) -> None:
    """Serve a verifier's channel with the agent's code until it closes."""
    environment = setting.environment("dgsolver")
    environment["HOME"] = setting.temporary
    identity = python.Identity(*setting.solver, environment, setting.work, setting.lockdown)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    SolverSupervisor(channel, identity, setting.memory_bytes, kill_everything).serve()


@contextlib.contextmanager
def _files_as(user: User) -> Any:
    """Use the agent's rights for files: only the effective ids change, and only for a moment."""
    if user.uid == os.geteuid():
        yield
        return
    os.setegid(user.gid)
    os.seteuid(user.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def limit_resources(pids: int | None, memory_bytes: int | None, open_files: int) -> None:
    """Set the limits that every program inherits."""
    wanted = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, open_files)]
    if pids is not None:
        wanted.append((resource.RLIMIT_NPROC, pids))
    if memory_bytes is not None:
        wanted.append((resource.RLIMIT_AS, memory_bytes))
    for kind, value in wanted:
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def preload() -> None:
    """Import what forks will want, once, before any of them exists."""
    import ast  # noqa: F401
    import collections  # noqa: F401
    import csv  # noqa: F401
    import hashlib  # noqa: F401
    import json  # noqa: F401
    import math  # noqa: F401
    import pathlib  # noqa: F401
    import random  # noqa: F401
    import re  # noqa: F401
    import site
    import subprocess  # noqa: F401
    import traceback  # noqa: F401

    # Started with -S for speed; forks see the distribution's packages as under a plain `python3
    # -I`.
    with contextlib.suppress(Exception):
        site.main()

    if threading.active_count() != 1:
        raise RuntimeError("the supervisor must have one thread: it forks")
