"""The box in which the agent's code runs while a verifier grades it.

Two processes: a supervisor (ours) that holds the verifier's channel and every deadline, and a
worker (the agent's code, as `dgsolver`) that loads one file and answers calls. A worker that
overruns, exits or crashes is replaced for the next call. Source: reward contract, rules D1 to D4.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any, Callable

from deepgym_gym.sandbox.guest import plain, wire
from deepgym_gym.sandbox.guest.process import acting_as
from deepgym_gym.sandbox.guest.python import Identity, leave

# Beyond these an answer is refused: the verifier's side takes seconds and gigabytes for 64 MiB.
_MAX_ANSWER = 16 * 1024 * 1024
_MAX_HEADER = 1024 * 1024
_MAX_MESSAGE = 2000
# What the agent's process may say of itself. `timeout` and `launch` are for its supervisor to say.
_WORKERS_KINDS = ("error", "exit", "missing", "plain_data")
# How long killed processes may take to disappear before the next worker starts.
_REAP_S = 2.0


class SolverSupervisor:
    """Serves one verifier's channel until it closes.

    Args:
        channel: the verifier's end, blocking.
        identity: who the agent's code runs as.
        memory_bytes: address space of the worker, None for no limit.
        kill_everything: ends every process of the solver's box but this one.
    """

    def __init__(
        self,
        channel: int,
        identity: Identity,
        memory_bytes: int | None,
        kill_everything: Callable[[], None],
    ) -> None:
        self._channel = channel
        self._identity = identity
        self._memory_bytes = memory_bytes
        self._kill_everything = kill_everything
        self._worker: tuple[int, int] | None = None
        self._load: dict[str, Any] = {}
        self._has_run = False

    def serve(self) -> None:
        """Answer requests until the verifier is gone."""
        with contextlib.suppress(wire.ClosedChannel, ValueError):
            while True:
                header, body = wire.receive(self._channel)
                try:
                    reply, data = self._answer(header, body)
                except wire.ClosedChannel:
                    raise
                except Exception as error:
                    if not self._has_run:
                        raise
                    # The agent's code has run: what fails from then on was made to fail by it.
                    self._end_worker()
                    reply, data = _failure("exit", f"{type(error).__name__}: {error}"), b""
                wire.send(self._channel, reply, data)
        self._end_worker()

    def _answer(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        timeout_s = float(header["timeout_s"])
        if header["op"] == "load":
            self._end_worker()
            self._load = header
            return self._start_worker(timeout_s)
        if self._worker is None:
            reply, data = self._start_worker(timeout_s)
            if not reply["ok"]:
                return reply, data
        return self._ask({"op": "call", "name": header["name"]}, body, timeout_s)

    def _start_worker(self, timeout_s: float) -> tuple[dict[str, Any], bytes]:
        ours, theirs = socket.socketpair()
        try:
            with acting_as(self._identity.uid, self._identity.gid):
                pid = os.fork()
        except OSError as error:
            ours.close()
            theirs.close()
            # Once its code has run, what is used up here was used up by that.
            kind = "exit" if self._has_run else "launch"
            return {"ok": False, "kind": kind, "message": str(error)}, b""
        self._has_run = True
        if pid == 0:
            self._be_worker(theirs.detach())
        theirs.close()
        self._worker = (pid, ours.detach())
        return self._ask({"op": "load", **self._load}, b"", timeout_s)

    def _ask(
        self, request: dict[str, Any], body: bytes, timeout_s: float
    ) -> tuple[dict[str, Any], bytes]:
        if self._worker is None:
            raise RuntimeError("no worker")
        fd = self._worker[1]
        deadline = time.monotonic() + timeout_s
        try:
            os.set_blocking(fd, False)
            self._send_before(fd, wire.pack(request, body), deadline)
            answer = self._receive_before(fd, deadline)
        except TimeoutError:
            self._end_worker()
            return {
                "ok": False,
                "kind": "timeout",
                "message": f"no answer within {timeout_s:g} s",
            }, b""
        except (EOFError, OSError, ValueError, RecursionError, MemoryError):
            self._end_worker()
            return {
                "ok": False,
                "kind": "exit",
                "message": "the process ended before it answered",
            }, b""
        reply, data = answer
        clean: dict[str, Any] = {"ok": reply.get("ok") is True}
        # Rebuilt field by field: the worker is the agent's, and may have written anything.
        kind = reply.get("kind")
        clean["kind"] = kind if kind in _WORKERS_KINDS else "error"
        clean["message"] = str(reply.get("message", ""))[:_MAX_MESSAGE]
        names = reply.get("names")
        if isinstance(names, list):
            clean["names"] = [name for name in names[:1000] if isinstance(name, str)]
        return clean, data

    def _send_before(self, fd: int, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(fd, view) :]
            except BlockingIOError:
                self._wait(fd, select.POLLOUT, deadline)

    def _receive_before(self, fd: int, deadline: float) -> tuple[dict[str, Any], bytes]:
        def exactly(count: int) -> bytes:
            data = bytearray()
            while len(data) < count:
                self._wait(fd, select.POLLIN, deadline)
                part = os.read(fd, min(1 << 20, count - len(data)))
                if not part:
                    raise EOFError
                data += part
            return bytes(data)

        header_bytes, body_bytes = wire.lengths(exactly(wire.HEAD_BYTES))
        if header_bytes > _MAX_HEADER or header_bytes + body_bytes > _MAX_ANSWER:
            raise ValueError("answer too large")
        header = wire.parse(exactly(header_bytes))
        return header, exactly(body_bytes)

    def _wait(self, fd: int, event: int, deadline: float) -> None:
        left = deadline - time.monotonic()
        poller = select.poll()
        poller.register(fd, event)
        # A verifier that was stopped waits for no answer.
        poller.register(self._channel, 0)
        ready = poller.poll(int(left * 1000) + 1) if left > 0 else []
        if any(found == self._channel for found, _ in ready):
            raise wire.ClosedChannel
        if not ready:
            raise TimeoutError

    def _end_worker(self) -> None:
        if self._worker is None:
            return
        pid, fd = self._worker
        self._worker = None
        os.close(fd)
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
        self._kill_everything()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
            # What it had started is this process's to reap, and counts as long as it is not.
            end = time.monotonic() + _REAP_S
            while time.monotonic() < end:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.001)

    def _be_worker(self, fd: int) -> None:
        status = 1
        try:
            null = os.open("/dev/null", os.O_RDWR)
            self._identity.assume(null, null, null, keep=(fd,))
            if self._memory_bytes is not None:
                resource.setrlimit(resource.RLIMIT_AS, (self._memory_bytes, self._memory_bytes))
            _Worker(fd, self._identity.directory).serve()
            status = 0
        except BaseException:
            status = 1
        finally:
            leave(status)


class _Worker:
    """The agent's side: loads a file as a module and calls what it defines."""

    def __init__(self, fd: int, directory: str) -> None:
        self._fd = fd
        self._directory = directory
        self._module: Any = None

    def serve(self) -> None:
        while True:
            header, body = wire.receive(self._fd)
            data = b""
            try:
                if header["op"] == "load":
                    reply = self._loaded(header)
                else:
                    data = self._called(header["name"], body)
                    reply = {"ok": True}
            except plain.NotPlain as error:
                reply = _failure("plain_data", str(error))
            except SystemExit as error:
                reply = _failure("exit", f"SystemExit: {_text(error.code)}")
            except AttributeError as error:
                kind = "missing" if getattr(error, "deepgym_missing", False) else "error"
                reply = _failure(kind, f"{type(error).__name__}: {_text(error)}")
            except BaseException as error:
                reply = _failure("error", f"{type(error).__name__}: {_text(error)}")
            wire.send(self._fd, reply, data)

    def _loaded(self, header: dict[str, Any]) -> dict[str, Any]:
        root = os.path.join(self._directory, header.get("root", "."))
        path = os.path.join(self._directory, header["path"])
        # What is judged is the source that lies there, not bytecode beside it.
        sys.pycache_prefix = "/nonexistent"
        sys.path.insert(0, os.path.normpath(root))
        name = os.path.splitext(os.path.relpath(path, root))[0].replace(os.sep, ".")
        if name.endswith(".__init__"):
            name = name[: -len(".__init__")]
        if "." in name and all(part.isidentifier() for part in name.split(".")):
            # Inside a package, so that its relative imports work.
            self._module = importlib.import_module(name)
        else:
            spec = importlib.util.spec_from_file_location(name, path)
            if spec is None or spec.loader is None:
                raise ImportError(f"{header['path']} is no Python file")
            self._module = importlib.util.module_from_spec(spec)
            sys.modules[name] = self._module
            spec.loader.exec_module(self._module)
        names = [key for key, value in vars(self._module).items() if callable(value)]
        return {"ok": True, "names": sorted(key for key in names if not key.startswith("_"))}

    def _called(self, name: str, body: bytes) -> bytes:
        args, kwargs = plain.loads(body)
        target = self._module
        for part in name.split("."):
            try:
                target = getattr(target, part)
            except AttributeError as error:
                error.deepgym_missing = True  # type: ignore[attr-defined]  # carries the reason outwards
                raise
        return plain.dumps(target(*args, **kwargs))


def _failure(kind: str, message: str) -> dict[str, Any]:
    return {"ok": False, "kind": kind, "message": message[:_MAX_MESSAGE]}


def _text(value: object) -> str:
    try:
        return str(value)
    except BaseException:
        return "(no message)"
