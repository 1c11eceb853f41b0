"""The owner's side of the warden: starting it, asking it, noticing that it is gone."""

import asyncio
import contextlib
import itertools
import json
import os
import socket
import subprocess
from collections import deque
from collections.abc import Mapping
from typing import Any

from deepgym_gym.errors import SandboxUnavailableError
from deepgym_gym.limits import CLOSE_TIMEOUT_S, START_TIMEOUT_S
from deepgym_gym.sandbox import bundle, children, interpreter

_PACKET = 1 << 16
# How long the kernel may take from closing a killed process's descriptors to its end.
_DYING_S = 0.5
# Only what the interpreter needs: boxes inherit the warden's memory, and with it this environment.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


class WardenClient:
    """One warden process and the requests that wait for it. Lives on one event loop."""

    def __init__(self, control: socket.socket, process: "subprocess.Popen[bytes]") -> None:
        self._control = control
        self._process = process
        self._ids = itertools.count()
        self._waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._outbox: deque[tuple[bytes, int]] = deque()
        self._loop = asyncio.get_running_loop()
        self.facts: Mapping[str, Any] = {}

    @classmethod
    async def start(cls, config: Mapping[str, Any]) -> "WardenClient":
        """Start a warden and wait until it is ready.

        Raises:
            SandboxUnavailableError: it could not start; the message says why.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        python = interpreter.choose().path
        memory = bundle.write_memory_file(
            "namespace.warden", {**config, "owner": os.getpid()}, warden=True
        )
        try:
            # No preexec_fn and no change of user: the child is made by vfork, whatever this heap's
            # size.
            process = subprocess.Popen(  # noqa: S603
                bundle.command(python, memory, theirs.fileno()),
                env=_ENVIRONMENT,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(memory, theirs.fileno()),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise SandboxUnavailableError(f"The warden could not be started: {error}.") from None
        finally:
            os.close(memory)
            theirs.close()
        ours.setblocking(False)
        client = cls(ours, process)
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                data = await client._loop.sock_recv(ours, _PACKET)
            facts = json.loads(data) if data else {"error": "it ended while it started"}
        except TimeoutError:
            facts = {"error": f"it was not ready within {START_TIMEOUT_S:g} s"}
        if "error" in facts:
            await client.aclose()
            raise SandboxUnavailableError(f"The warden could not work: {facts['error']}")
        client.facts = facts
        client._loop.add_reader(ours, client._on_readable)
        return client

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return self._control.fileno() >= 0

    async def has_ended(self) -> bool:
        """Whether its process is gone, for who sees one of its boxes go.

        A dying process closes its descriptors, at which its boxes end, before it can be reaped; so
        this waits a moment.
        """
        return await children.wait(self._process, _DYING_S)

    async def ask(self, request: Mapping[str, Any], fd: int = -1) -> Mapping[str, Any]:
        """Send a request, with a descriptor if given, and wait for its reply.

        Raises:
            SandboxUnavailableError: the warden is gone, or could not do it.
        """
        if not self.alive:
            raise SandboxUnavailableError("The warden is gone.")
        number = next(self._ids)
        future: asyncio.Future[Mapping[str, Any]] = self._loop.create_future()
        self._waiting[number] = future
        data = json.dumps({**request, "id": number}).encode()
        self._outbox.append((data, os.dup(fd) if fd >= 0 else -1))
        self._flush()
        try:
            reply = await future
        finally:
            self._waiting.pop(number, None)
        if "error" in reply:
            raise SandboxUnavailableError(f"The warden could not do it: {reply['error']}")
        return reply

    def _flush(self) -> None:
        while self._outbox:
            data, fd = self._outbox[0]
            try:
                if fd >= 0:
                    socket.send_fds(self._control, [data], [fd])
                else:
                    self._control.send(data)
            except BlockingIOError:
                self._loop.add_writer(self._control, self._flush)
                return
            except OSError:
                self._lose()
                return
            self._outbox.popleft()
            if fd >= 0:
                os.close(fd)
        self._loop.remove_writer(self._control)

    def _on_readable(self) -> None:
        while True:
            try:
                data = self._control.recv(_PACKET)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._lose()
                return
            reply = json.loads(data)
            future = self._waiting.pop(reply["id"], None)
            if future is not None and not future.done():
                future.set_result(reply)

    def _lose(self) -> None:
        if not self.alive:
            return
        self._loop.remove_reader(self._control)
        self._loop.remove_writer(self._control)
        self._control.close()
        for _, fd in self._outbox:
            if fd >= 0:
                os.close(fd)
        self._outbox.clear()
        for future in self._waiting.values():
            if not future.done():
                future.set_result({"error": "it is gone"})
        self._waiting.clear()

    async def aclose(self) -> None:
        """Hang up and wait, within bounds, until the warden has ended all boxes and itself."""
        self._lose()
        with contextlib.suppress(OSError):
            self._control.close()
        # If it has to be killed: its boxes hold a pipe of its and die with it.
        await children.end(self._process, CLOSE_TIMEOUT_S - 1.0)
