"""Running a verifier: a fork of this interpreter as `dgverifier`, watched for touches and held to a
deadline.

The program is `python3 -I` in every respect that its author can see: isolated `sys.path`, clean
environment, work folder as current folder, its text in a file that only its user can read.
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import socket
import sys
import time
from typing import Any, Callable

from deepgym_gym.sandbox.guest import audit, deepgym_solution, wire
from deepgym_gym.sandbox.guest.capture import Capture
from deepgym_gym.sandbox.guest.process import Ended, Supervisor, acting_as
from deepgym_gym.sandbox.guest.python import Identity, forget_supervisor, leave, run_main

_REPORT_BYTES = 4096


class Verifier:
    """One run of a verifier.

    Its process is forked and has given up every right before the request comes (`prepare`), so that
    a box of the verifier's own does that while its owner is still on the way.

    Args:
        folder: an empty private folder for its text and the step's output; emptied afterwards.
        launcher: a connected socket that answers requests for solver boxes; its other end is not
            ours to serve, unless `serve_launcher` is given.
        alone: whether there is nothing else in this sandbox that must live on.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        identity: Identity,
        folder: str,
        launcher: socket.socket,
        *,
        serve_launcher: tuple[int, Callable[[], None]] | None = None,
        alone: bool = False,
    ) -> None:
        self._supervisor = supervisor
        self._identity = identity
        self._folder = folder
        self._launcher = launcher
        self._serve_launcher = serve_launcher
        self._alone = alone
        self._pid = 0
        self._go = self._out = self._err = self._report = -1

    def prepare(self) -> None:
        """Fork the verifier's process; it waits to be told what to run."""
        go, self._go = os.pipe()
        self._out, out = os.pipe()
        self._err, err = os.pipe()
        self._report, report = os.pipe()
        if self._alone:
            # It changes its user by itself, while its supervisor does other things.
            self._pid = os.fork()
        else:
            with acting_as(self._identity.uid, self._identity.gid):
                self._pid = os.fork()
        if self._pid == 0:
            # Otherwise it would wait for itself when its supervisor dies.
            os.close(self._go)
            self._be_verifier(go, out, err, report)
        self._supervisor.expect(self._pid)
        for fd in (go, out, err, report):
            os.close(fd)

    def run(self, request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Run it and describe what happened; the reply's body is stdout followed by stderr."""
        started = time.monotonic()
        deadline = started + request["timeout_s"]
        before = {} if self._alone else self._supervisor.before()
        watch = audit.MountWatch.on(self._identity.directory) if request.get("watch") else None
        if not self._pid:
            self.prepare()
        folder, blobs = self._place(request, body)
        stdout = Capture(self._out, request["stdout_limit"], tail=True)
        stderr = Capture(self._err, request["stderr_limit"])
        reported = Capture(self._report, _REPORT_BYTES)
        captures = [stdout, stderr, reported]
        try:
            variables = {name: blobs[blob] for blob, name in request["variables"].items()}
            order = {
                "source": blobs["verifier.py"],
                "environment": {**variables, **request["environment"]},
                "touching": [blobs[name] for name in request["touching"] if name in blobs],
                "shown": os.path.join(self._folder, "verifier.py"),
                "memory_bytes": request["memory_bytes"],
            }
            # It may have died already, and then its status says so.
            with contextlib.suppress(wire.ClosedChannel):
                wire.send(self._go, order)
            hooks = dict([self._serve_launcher]) if self._serve_launcher else None
            status = self._supervisor.watch(self._pid, captures, deadline, hooks=hooks)
            if status is None:
                for capture in captures:
                    capture.drain()
            if self._alone:
                self._supervisor.kill_all()
            else:
                self._supervisor.kill_since(before)
            touched = watch.touched() if watch else False
        finally:
            for fd in (self._go, self._out, self._err, self._report):
                os.close(fd)
            with contextlib.suppress(OSError):
                os.chmod(folder, 0o700)
                for path in blobs.values():
                    os.unlink(path)
                os.rmdir(folder)
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

    def _place(self, request: dict[str, Any], body: bytes) -> tuple[str, dict[str, str]]:
        """Write the request's blobs as files that only the verifier can read: their folder, and
        name -> path.

        Nobody can guess the folder or list it: a link of the agent's that the verifier follows must
        not lead it to its own text, which it might then repeat.
        """
        folder = os.path.join(self._folder, secrets.token_hex(8))
        os.mkdir(folder, 0o700)
        blobs = {}
        start = 0
        for name, size in request["blobs"]:
            path = os.path.join(folder, name)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
            with open(fd, "wb") as file:
                if self._identity.uid != os.geteuid():
                    os.fchown(fd, self._identity.uid, self._identity.gid)
                file.write(body[start : start + size])
            blobs[name] = path
            start += size
        os.chmod(folder, 0o111)  # noqa: S103  # who knows a name may pass, nobody may list
        return folder, blobs

    def _be_verifier(self, go: int, out: int, err: int, report: int) -> None:
        status = 1
        try:
            null = os.open("/dev/null", os.O_RDONLY)
            launcher = self._launcher.fileno()
            self._identity.assume(null, out, err, keep=(go, report, launcher))
            deepgym_solution._launcher_fd = launcher
            deepgym_solution._report_fd = report
            sys.modules["deepgym_solution"] = deepgym_solution
            forget_supervisor()
            order, _ = wire.receive(go)
            os.close(go)
            os.environ.update(order["environment"])
            with open(order["source"], "rb") as file:
                source = file.read()
            # What the agent left to be read may have no end.
            memory = order["memory_bytes"]
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            audit.arm(report, self._identity.directory, order["touching"])
            status, crash = run_main(source, order["shown"], path=order["source"])
            if crash is not None:
                os.write(report, b"\n" + crash.encode("ascii", "replace")[:200])
        except BaseException as error:
            # Ours: nothing of the verifier has run, or its end could not be reported.
            with contextlib.suppress(OSError):
                os.write(report, b"\n" + type(error).__name__.encode("ascii", "replace"))
        finally:
            leave(status)
