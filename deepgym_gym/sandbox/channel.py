"""The owner's end of a guest's channel: one request, one reply, each with a deadline."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from deepgym_gym.errors import SandboxLostError, SandboxTimeoutError
from deepgym_gym.limits import MAX_MESSAGE_BYTES, MIB
from deepgym_gym.sandbox.guest import wire


class Reply(NamedTuple):
    """A reply's facts and its body."""

    facts: Mapping[str, Any]
    body: bytes


class GuestChannel:
    """Speaks with one guest; calls are answered in order.

    Args:
        sandbox_id: goes into every error.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sandbox_id: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._sandbox_id = sandbox_id

    @classmethod
    async def over(cls, connected: socket.socket, sandbox_id: str) -> "GuestChannel":
        """Take over one end of a socket pair."""
        connected.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connected, limit=MIB)
        return cls(reader, writer, sandbox_id)

    async def receive(self, timeout_s: float) -> Reply:
        """Wait for one frame.

        Raises:
            SandboxTimeoutError: none came in time.
            SandboxLostError: the guest is gone.
        """
        try:
            async with asyncio.timeout(timeout_s):
                head = await self._reader.readexactly(wire.HEAD_BYTES)
                header_bytes, body_bytes = wire.lengths(head)
                if header_bytes + body_bytes > MAX_MESSAGE_BYTES:
                    raise ValueError(f"a frame of {header_bytes + body_bytes} bytes")
                header = json.loads(await self._reader.readexactly(header_bytes))
                return Reply(header, await self._reader.readexactly(body_bytes))
        except TimeoutError:
            raise SandboxTimeoutError(
                f"The sandbox gave no answer within {timeout_s:g} s.", sandbox_id=self._sandbox_id
            ) from None
        except (asyncio.IncompleteReadError, OSError, ValueError) as error:
            raise self._lost(error) from None

    async def ask(self, header: Mapping[str, Any], body: bytes = b"", *, timeout_s: float) -> Reply:
        """Send a request and wait for its reply.

        Raises:
            SandboxTimeoutError: no reply in time; the channel cannot be used any more.
            SandboxLostError: the guest is gone, or says that it has failed and is going;
                `may_have_run` tells whether it was gone before.
        """
        if self._reader.at_eof() or self._reader.exception() is not None:
            raise SandboxLostError(
                "The sandbox had died before: its supervisor is gone.",
                sandbox_id=self._sandbox_id,
                may_have_run=False,
            )
        try:
            self._writer.write(wire.pack(dict(header), body))
            if len(body) > MIB:
                async with asyncio.timeout(timeout_s):
                    await self._writer.drain()
        except TimeoutError:
            raise SandboxTimeoutError(
                f"The sandbox took no request within {timeout_s:g} s.", sandbox_id=self._sandbox_id
            ) from None
        except OSError as error:
            raise self._lost(error) from None
        reply = await self.receive(timeout_s)
        if not reply.facts.get("ok"):
            raise SandboxLostError(
                f"The sandbox's supervisor failed: {reply.facts.get('error')}.",
                sandbox_id=self._sandbox_id,
            )
        return reply

    def close(self) -> None:
        """Hang up; the guest then ends everything."""
        with contextlib.suppress(Exception):
            self._writer.close()

    def _lost(self, error: Exception) -> SandboxLostError:
        reason = "its supervisor is gone" if isinstance(error, EOFError) else str(error)
        return SandboxLostError(f"The sandbox died: {reason}.", sandbox_id=self._sandbox_id)
