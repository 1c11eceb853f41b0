"""Running the agent's commands: `bash`, the lasting shell, and Python."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from deepgym_gym.sandbox.guest import python
from deepgym_gym.sandbox.guest.capture import Capture
from deepgym_gym.sandbox.guest.process import (
    DEFAULT_SIGNALS,
    Ended,
    Supervisor,
    acting_as,
    out_of_processes,
)
from deepgym_gym.sandbox.guest.setting import Setting
from deepgym_gym.sandbox.guest.shell import LastingShell

# One command-line argument may hold 128 KiB; longer scripts go through a file in memory.
_MAX_ARGUMENT = 120_000


class Commands:
    """Runs commands of one sandbox, one at a time, as the agent's user."""

    def __init__(self, supervisor: Supervisor, setting: Setting) -> None:
        self._supervisor = supervisor
        self._setting = setting
        self._shell: LastingShell | None = None
        paths = ("/bin/bash", "/usr/bin/bash")
        self._bash = next((path for path in paths if os.path.exists(path)), "")

    def forget_shell(self) -> None:
        """The lasting shell was killed with everything else; the next command gets a new one."""
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    def run_bash(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Run `body` under bash, in the lasting shell if the header says `persistent`."""
        # As bash itself does with a script; no argument could hold them.
        body = body.replace(b"\0", b"")
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

    def run_python(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Run `body` as a Python program."""
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
