"""Plain data across the wall between a verifier and the agent's code.

Only None, bool, int, float, str, bytes, list, tuple, dict, set and frozenset cross, exactly these
types and no subclass, as tagged JSON. What arrives is built new from the text, so no method of the
agent's ever runs in the verifier. Source: reward contract, rule D3.
"""

from __future__ import annotations

import json
from typing import Any

_MAX_DEPTH = 100
_SEQUENCES: dict[Any, str] = {list: "l", tuple: "t", set: "s", frozenset: "f"}
_MAKERS: dict[str, Any] = {"l": list, "t": tuple, "s": set, "f": frozenset}


class NotPlain(Exception):
    """A value is of another type, too deep, or refers to itself."""


def _encode(value: Any, depth: int) -> Any:
    kind = type(value)
    if depth > _MAX_DEPTH:
        raise NotPlain(f"nested deeper than {_MAX_DEPTH} levels")
    if value is None or kind is bool:
        return value
    if kind is str:
        return ["u", value]
    if kind is int:
        # As hexadecimal: linear in both directions, and free of the interpreter's digit limit.
        return ["i", hex(value)]
    if kind is float:
        return ["d", value.hex()]
    if kind is bytes:
        return ["b", value.hex()]
    if kind in _SEQUENCES:
        return [_SEQUENCES[kind], [_encode(item, depth + 1) for item in value]]
    if kind is dict:
        return ["m", [[_encode(k, depth + 1), _encode(v, depth + 1)] for k, v in value.items()]]
    raise NotPlain(f"{kind.__name__} is no plain data")


def _decode(node: Any, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise NotPlain(f"nested deeper than {_MAX_DEPTH} levels")
    if node is None or isinstance(node, bool):
        return node
    tag, content = node
    if tag == "u" and isinstance(content, str):
        return content
    if tag == "i":
        return int(content, 16)
    if tag == "d":
        return float.fromhex(content)
    if tag == "b":
        return bytes.fromhex(content)
    if tag == "m":
        return {_decode(k, depth + 1): _decode(v, depth + 1) for k, v in content}
    return _MAKERS[tag](_decode(item, depth + 1) for item in content)


def dumps(value: Any) -> bytes:
    """The bytes of a plain value.

    Raises:
        NotPlain: it is not one.
    """
    try:
        return json.dumps(_encode(value, 0), separators=(",", ":")).encode("ascii")
    except (RecursionError, RuntimeError, MemoryError) as error:
        raise NotPlain(str(error)) from error


def loads(data: bytes) -> Any:
    """The value of bytes that `dumps` made; anything else is refused.

    Raises:
        NotPlain: the bytes are no plain value (the agent's process may have written them itself).
    """
    try:
        return _decode(json.loads(data), 0)
    except (ValueError, TypeError, KeyError, RecursionError, MemoryError, OverflowError) as error:
        raise NotPlain(f"malformed value: {error}") from error
