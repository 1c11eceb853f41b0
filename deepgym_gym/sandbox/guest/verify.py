"""Running a verifier: a fork of this interpreter as `dgverifier`, watched for touches and held to a
deadline.

The program is `python3 -I` in every respect that its author can see: isolated `sys.path`, clean
environment, work folder as current folder, its text in a file that only its user can read.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from typing import Any, Callable

from deepgym_gym.sandbox.guest import audit, deepgym_solution
from deepgym_gym.sandbox.guest.capture import Capture
from deepgym_gym.sandbox.guest.process import Ended, Supervisor, acting_as
from deepgym_gym.sandbox.guest.python import Identity, leave, run_main

_REPORT_BYTES = 4096


class Verifier:
    """One run of a verifier.

    Args:
        folder: an empty private folder for its text and the step's output; emptied afterwards.
        launcher: a connected socket that answers requests for solver boxes; its other end is not
        ours to serve,
            unless `serve_launcher` is given.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        identity: Identity,
        folder: str,
        launcher: socket.socket,
        serve_launcher: tuple[int, Callable[[], None]] | None = None,
    ) -> None:
        self._supervisor = supervisor
        self._identity = identity
        self._folder = folder
        self._launcher = launcher
        self._serve_launcher = serve_launcher

    def run(self, request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Run it and describe what happened; the reply's body is stdout followed by stderr."""
        started = time.monotonic()
        deadline = started + request["timeout_s"]
        # In a box of the verifier's own there is nothing before it; locally the agent's programs
        # are.
        before = self._supervisor.before()
        blobs = self._place(request, body)
        out, out_writer = os.pipe()
        err, err_writer = os.pipe()
        report, report_writer = os.pipe()
        watch = audit.MountWatch.on(self._identity.directory) if request.get("watch") else None
        stdout = Capture(out, request["stdout_limit"], tail=True)
        stderr = Capture(err, request["stderr_limit"])
        reported = Capture(report, _REPORT_BYTES)
        try:
            with acting_as(self._identity.uid, self._identity.gid):
                pid = os.fork()
            if pid == 0:
                self._be_verifier(request, blobs, out_writer, err_writer, report_writer)
            for fd in (out_writer, err_writer, report_writer):
                os.close(fd)
            hooks = dict([self._serve_launcher]) if self._serve_launcher else None
            status = self._supervisor.watch(pid, [stdout, stderr, reported], deadline, hooks=hooks)
            if status is None:
                for capture in (stdout, stderr, reported):
                    capture.drain()
            self._supervisor.kill_since(before)
            touched = watch.touched() if watch else False
        finally:
            for fd in (out, err, report):
                os.close(fd)
            for path in blobs.values():
                with contextlib.suppress(OSError):
                    os.unlink(path)
        marks, _, crash = bytes(reported.data).partition(b"\n")
        reply = {
            **Ended(status, time.monotonic() - started).facts,
            "crash": crash.decode("ascii", "replace") or None,
            "touched": touched or audit.TOUCHED in marks,
            "launch_failed": audit.LAUNCH_FAILED in marks,
            "stdout_bytes": len(stdout.data),
            "watched_by": "audit+fanotify" if watch else "audit",
        }
        return reply, bytes(stdout.data) + bytes(stderr.data)

    def _place(self, request: dict[str, Any], body: bytes) -> dict[str, str]:
        """Write the request's blobs as files that only the verifier can read; name -> path."""
        blobs = {}
        start = 0
        for name, size in request["blobs"]:
            path = os.path.join(self._folder, name)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
            with open(fd, "wb") as file:
                if self._identity.uid != os.geteuid():
                    os.fchown(fd, self._identity.uid, self._identity.gid)
                file.write(body[start : start + size])
            blobs[name] = path
            start += size
        return blobs

    def _be_verifier(
        self, request: dict[str, Any], blobs: dict[str, str], out: int, err: int, report: int
    ) -> None:
        status = 1
        try:
            environment = self._identity.environment
            for name, variable in request["variables"].items():
                environment[variable] = blobs[name]
            environment.update(request["environment"])
            null = os.open("/dev/null", os.O_RDONLY)
            launcher = self._launcher.fileno()
            self._identity.assume(null, out, err, keep=(report, launcher))
            deepgym_solution._launcher_fd = launcher
            deepgym_solution._report_fd = report
            sys.modules["deepgym_solution"] = deepgym_solution
            for name in [name for name in sys.modules if name.split(".")[0] == "deepgym_gym"]:
                del sys.modules[name]
            path = blobs["verifier.py"]
            with open(path, "rb") as file:
                source = file.read()
            others = [blobs[name] for name in request["variables"] if name in request["touching"]]
            audit.arm(report, self._identity.directory, others)
            status, crash = run_main(source, path)
            if crash is not None:
                os.write(report, b"\n" + crash.encode("ascii", "replace")[:200])
        except BaseException as error:
            # Ours: nothing of the verifier has run, or its end could not be reported.
            with contextlib.suppress(OSError):
                os.write(report, b"\n" + type(error).__name__.encode("ascii", "replace"))
        finally:
            leave(status)
