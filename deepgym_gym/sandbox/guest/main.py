"""The supervisor's loop: one request at a time from the owner's channel, one reply each.

Requests: `exec`, `code`, `write`, `read`, `list`, `freeze`, `thaw`, `kill`, `verify`, `exit`. When
the channel closes, the owner is gone and everything in the sandbox is ended.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import threading
import time
from typing import Any, Callable, NamedTuple

from deepgym_gym.sandbox.guest import files, python, wire
from deepgym_gym.sandbox.guest.process import (
    DEFAULT_SIGNALS,
    Capture,
    Ended,
    Supervisor,
    acting_as,
    out_of_processes,
)
from deepgym_gym.sandbox.guest.shell import LastingShell
from deepgym_gym.sandbox.guest.solver import SolverSupervisor
from deepgym_gym.sandbox.guest.verify import Verifier

# One command-line argument may hold 128 KiB; longer scripts go through a file in memory.
_MAX_ARGUMENT = 120_000


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
        }


class Guest:
    """Serves one owner until it hangs up."""

    def __init__(self, channel: int, setting: Setting) -> None:
        self._channel = channel
        self._setting = setting
        self._supervisor = Supervisor(channel, first=setting.first, lifeline=setting.lifeline)
        self._shell: LastingShell | None = None
        self._bash = next(
            (path for path in ("/bin/bash", "/usr/bin/bash") if os.path.exists(path)), ""
        )
        self._handlers: dict[
            str, Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]
        ] = {
            "exec": self._exec,
            "code": self._code,
            "write": self._write,
            "read": self._read,
            "list": self._list,
            "freeze": self._freeze,
            "thaw": self._thaw,
            "kill": self._kill,
            "verify": self._verify,
        }

    def serve(self) -> None:
        """Answer requests until the channel closes or `exit` is asked; then end everything."""
        os.chdir(self._setting.work)
        try:
            while True:
                self._supervisor.idle()
                header, body = wire.receive(self._channel)
                if header["op"] == "exit":
                    break
                reply, data = self._handlers[header["op"]](header, body)
                wire.send(self._channel, {"ok": True, **reply}, data)
        except (wire.ClosedChannel, ValueError):
            pass
        finally:
            self._supervisor.kill_all()

    # Commands.

    def _exec(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        if header.get("persistent"):
            return self._exec_in_shell(body, header["timeout_s"])
        arguments = ["bash", "--norc", "--noprofile"]
        script = -1
        if len(body) <= _MAX_ARGUMENT:
            arguments += ["-c", os.fsdecode(body)]
        else:
            script = os.memfd_create("script")
            with open(script, "wb", closefd=False) as file:
                file.write(body)
            os.lseek(script, 0, os.SEEK_SET)
            arguments.append("/dev/fd/3")

        def start(stdout: int, stderr: int) -> int:
            opened: list[tuple[int, ...]] = [
                (os.POSIX_SPAWN_DUP2, stdout, 1),
                (os.POSIX_SPAWN_DUP2, stderr, 2),
            ]
            if script >= 0:
                opened.append((os.POSIX_SPAWN_DUP2, script, 3))
            with acting_as(*self._setting.agent):
                return os.posix_spawn(
                    self._bash,
                    arguments,
                    self._setting.environment("dgagent"),
                    file_actions=[
                        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                        *opened,
                    ],
                    setsid=True,
                    setsigdef=DEFAULT_SIGNALS,
                )

        try:
            return self._run(start, header["timeout_s"])
        finally:
            if script >= 0:
                os.close(script)

    def _code(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        setting = self._setting
        identity = python.Identity(
            *setting.agent, setting.environment("dgagent"), setting.work, setting.lockdown
        )

        def start(stdout: int, stderr: int) -> int:
            with acting_as(*setting.agent):
                pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    null = os.open("/dev/null", os.O_RDONLY)
                    identity.assume(null, stdout, stderr)
                    python.forget_supervisor()
                    status, _ = python.run_main(body, "<code>", first_path="")
                finally:
                    python.leave(status)
            return pid

        return self._run(start, header["timeout_s"])

    def _run(
        self, start: Callable[[int, int], int], timeout_s: float
    ) -> tuple[dict[str, Any], bytes]:
        begun = time.monotonic()
        before = self._supervisor.before()
        out, out_writer = os.pipe()
        err, err_writer = os.pipe()
        try:
            pid = start(out_writer, err_writer)
        except OSError as error:
            os.close(out)
            os.close(err)
            if not out_of_processes(error):
                raise
            return {"exhausted": os.strerror(error.errno or 0)}, b""
        finally:
            os.close(out_writer)
            os.close(err_writer)
        captures = [
            Capture(out, self._setting.output_bytes),
            Capture(err, self._setting.output_bytes),
        ]
        status = self._supervisor.watch(pid, captures, begun + timeout_s)
        if status is None:
            self._supervisor.kill_since(before)
            for capture in captures:
                capture.drain()
        background = self._supervisor.background()
        reply = self._reply(Ended(status, time.monotonic() - begun), captures, background)
        for capture in captures:
            if background:
                self._supervisor.linger(capture)
            else:
                os.close(capture.fd)
        return reply

    @staticmethod
    def _reply(
        ended: Ended, captures: list[Capture], background: int
    ) -> tuple[dict[str, Any], bytes]:
        stdout, stderr = captures
        facts = {
            **ended.facts,
            "stdout_bytes": len(stdout.data),
            "stdout_dropped": stdout.dropped,
            "stderr_dropped": stderr.dropped,
            "background": background,
        }
        return facts, bytes(stdout.data) + bytes(stderr.data)

    def _exec_in_shell(self, body: bytes, timeout_s: float) -> tuple[dict[str, Any], bytes]:
        begun = time.monotonic()
        deadline = begun + timeout_s
        before = self._supervisor.before()
        restarted = False
        try:
            shell = self._shell
            if shell is None:
                shell = self._shell = LastingShell(
                    self._bash, *self._setting.agent, self._setting.environment("dgagent")
                )
                self._supervisor.infrastructure.add(shell.pid)
        except OSError as error:
            if not out_of_processes(error):
                raise
            return {"exhausted": os.strerror(error.errno or 0)}, b""
        captures = shell.captures(self._setting.output_bytes)
        status: int | None = None
        with contextlib.suppress(BrokenPipeError):
            if shell.begin(body, deadline):
                status = self._supervisor.watch(
                    shell.pid,
                    captures,
                    deadline,
                    hooks={shell.answers: shell.poll_answer},
                    finished=lambda: shell.code is not None,
                )
        ended = Ended(status, time.monotonic() - begun)
        if status is not None and shell.code is not None:
            ended = Ended(shell.code << 8, ended.duration_s)
        else:
            # The command ended the shell or overran its deadline: its state is lost, and that is
            # said.
            self._supervisor.infrastructure.discard(shell.pid)
            with contextlib.suppress(OSError):
                os.kill(shell.pid, signal.SIGKILL)
            if status is None:
                self._supervisor.kill_since(before)
            for capture in captures:
                capture.drain()
            shell.close()
            self._shell = None
            restarted = True
        facts, data = self._reply(ended, captures, self._supervisor.background())
        return {**facts, "shell_restarted": restarted}, data

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

    def _list(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        with _files_as(self._setting.agent):
            return {"entries": files.listing(self._setting.work)}, b""

    # The agent's processes.

    def _freeze(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        self._supervisor.stop_all()
        return {}, b""

    def _thaw(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        self._supervisor.continue_all()
        return {}, b""

    def _kill(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        self._supervisor.kill_all()
        if self._shell is not None:
            self._shell.close()
            self._shell = None
        return {}, b""

    # Verifiers.

    def _verify(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        setting = self._setting
        environment = setting.environment("dgverifier")
        environment["HOME"] = setting.temporary
        identity = python.Identity(*setting.verifier, environment, setting.work, setting.lockdown)
        request = {**header, "watch": setting.watch}
        if setting.launcher >= 0:
            with socket.socket(fileno=os.dup(setting.launcher)) as launcher:
                verifier = Verifier(self._supervisor, identity, setting.private, launcher)
                return verifier.run(request, body)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            serving = (ours.fileno(), lambda: self._launch_solver(ours))
            verifier = Verifier(self._supervisor, identity, setting.private, theirs, serving)
            return verifier.run(request, body)

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
