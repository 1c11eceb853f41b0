"""`from deepgym_solution import load_solution`: run the agent's code from a verifier without
trusting it.

The code runs as another user in a box of its own; only plain data crosses. Each call has a
deadline, and a call that raises, exits, hangs or takes too much memory fails by itself: the next
one gets a fresh process.

Example of a verifier:
    solution = load_solution("fib.py", case_timeout=2.0)
    passed = solution.call("fib", 10) == 55
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any, Callable

from deepgym_gym.sandbox.guest import audit, plain, wire

# Set by the launcher: where to ask for a solver box, and where touches are reported.
_launcher_fd = -1
_report_fd = -1


class SolutionError(Exception):
    """The agent's code failed; `kind` is error, timeout, exit, missing, plain_data, or launch (its
    box could not be made).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class Solution:
    """The agent's code, loaded in its own box."""

    def __init__(self, channel: int, case_timeout: float) -> None:
        self._channel = channel
        self._case_timeout = case_timeout
        self._names: list[str] = []

    def names(self) -> list[str]:
        """The public callables of the loaded file, sorted."""
        return list(self._names)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call `name` (dots reach into classes and modules) with plain data and return plain data.

        Raises:
            SolutionError: whatever went wrong on the agent's side.
            plain.NotPlain: an argument is no plain data (the verifier's own mistake).
        """
        body = plain.dumps((args, kwargs))
        header = {"op": "call", "name": name, "timeout_s": self._case_timeout}
        data = self._ask(header, body)
        try:
            return plain.loads(data)
        except plain.NotPlain as error:
            raise SolutionError("plain_data", str(error)) from None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.call(name, *args, **kwargs)

    def _ask(self, header: dict[str, Any], body: bytes) -> bytes:
        try:
            wire.send(self._channel, header, body)
            reply, data = wire.receive(self._channel)
        except wire.ClosedChannel:
            # It was there when it was asked for, so its end is the agent's code's doing.
            raise SolutionError("exit", "the box of the agent's code is gone") from None
        if not reply["ok"]:
            # A box that could not be set up says so in another way than its supervisor.
            kind = reply.get("kind", "launch")
            if kind == "launch":
                os.write(_report_fd, audit.LAUNCH_FAILED)
            raise SolutionError(kind, reply.get("message") or reply["error"])
        self._names = reply.get("names", self._names)
        return data


def load_solution(path: str, *, case_timeout: float = 10.0, root: str = ".") -> Solution:
    """Load the agent's Python file in a box of its own.

    Args:
        path: the file, relative to the work folder.
        case_timeout: seconds for the load and for each call.
        root: the folder, relative to the work folder, that goes first on the solver's `sys.path`.

    Raises:
        SolutionError: the file is missing, does not compile or raises; kind `launch` if the box
        could not be made.
    """
    os.write(_report_fd, audit.TOUCHED)
    launcher = socket.socket(fileno=os.dup(_launcher_fd))
    with launcher:
        launcher.settimeout(30.0)
        try:
            launcher.send(b"solver")
            message, fds, _, _ = socket.recv_fds(launcher, 4096, 1)
        except OSError as error:
            message, fds = json.dumps(str(error)).encode(), []
    if not fds:
        os.write(_report_fd, audit.LAUNCH_FAILED)
        raise SolutionError(
            "launch", f"no box for the agent's code: {message.decode('utf-8', 'replace')}"
        )
    solution = Solution(fds[0], case_timeout)
    solution._ask({"op": "load", "path": path, "root": root, "timeout_s": case_timeout}, b"")
    return solution
