"""The protocol's frames: 4 bytes length of the JSON header, 4 bytes length of the body, header,
body.

Headers are small facts; bytes of any kind (output, files) travel in the body, so that nothing is
ever escaped.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_LENGTHS = struct.Struct("!II")
HEAD_BYTES = _LENGTHS.size
# Both ends refuse more: a peer that sends it is broken.
MAX_BYTES = 256 * 1024 * 1024


class ClosedChannel(Exception):
    """The other end of the channel is gone."""


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One frame."""
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return _LENGTHS.pack(len(text), len(body)) + text + body


def lengths(head: bytes) -> tuple[int, int]:
    """The lengths of header and body.

    Raises:
        ValueError: if one is beyond `MAX_BYTES`.
    """
    header_bytes, body_bytes = _LENGTHS.unpack(head)
    if header_bytes > MAX_BYTES or body_bytes > MAX_BYTES:
        raise ValueError(f"frame of {header_bytes} + {body_bytes} bytes; at most {MAX_BYTES} each")
    return header_bytes, body_bytes


def parse(text: bytes) -> dict[str, Any]:
    """The header of a frame.

    Raises:
        ValueError: it is no JSON object.
    """
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("frame header is no JSON object")
    return header


def send(fd: int, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame to a blocking descriptor.

    Raises:
        ClosedChannel: the reader is gone.
    """
    view = memoryview(pack(header, body))
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError as error:
        raise ClosedChannel from error


def receive(fd: int) -> tuple[dict[str, Any], bytes]:
    """Read one frame from a blocking descriptor.

    Raises:
        ClosedChannel: the writer is gone, also in the middle of a frame.
    """
    header, body_bytes = receive_header(fd)
    return header, receive_body(fd, body_bytes)


def receive_header(fd: int) -> tuple[dict[str, Any], int]:
    """Read a frame as far as its body, of which the length is returned. Raises: as `receive`."""
    header_bytes, body_bytes = lengths(_exactly(fd, HEAD_BYTES))
    return parse(_exactly(fd, header_bytes)), body_bytes


def receive_body(fd: int, count: int) -> bytes:
    """Read the rest of a frame. Raises: as `receive`."""
    return _exactly(fd, count)


def _exactly(fd: int, count: int) -> bytes:
    parts = []
    while count:
        try:
            part = os.read(fd, min(count, 1 << 20))
        except OSError as error:
            raise ClosedChannel from error
        if not part:
            raise ClosedChannel
        parts.append(part)
        count -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
