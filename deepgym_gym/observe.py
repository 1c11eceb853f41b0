"""Turning what a command did into what the agent reads, and finding its word that it is done."""

import asyncio
import codecs
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from deepgym_gym.limits import KIB
from deepgym_gym.sandbox.base import ExecResult

# A longer line is output, not a sign.
_MAX_SIGN: Final = 64 * KIB
# More output than this is read in a thread: other episodes share the event loop, and 1 MiB of
# hostile JSON lines takes 0.1 s to read.
_IN_THREAD: Final = 256 * KIB


class Observed(NamedTuple):
    """What the agent reads of a command, and whether the command said that the episode is done."""

    content: str
    done: bool


async def observed(result: ExecResult, timeout_s: float, output_bytes: int) -> Observed:
    """Read a command's result without holding up the event loop.

    Args:
        result: how it ended.
        timeout_s: the time limit that it had.
        output_bytes: the limit of each stream, for the note on what was dropped.
    """
    if len(result.stdout) + len(result.stderr) > _IN_THREAD:
        return await asyncio.to_thread(_observed, result, timeout_s, output_bytes)
    return _observed(result, timeout_s, output_bytes)


def _observed(result: ExecResult, timeout_s: float, output_bytes: int) -> Observed:
    return Observed(content_of(result, timeout_s, output_bytes), says_done(result))


def output_of(result: ExecResult) -> bytes:
    """A command's own output, as a step verifier finds it: stdout, then stderr on a new line."""
    between = b"\n" if result.stdout and result.stderr and result.stdout[-1:] != b"\n" else b""
    return result.stdout + between + result.stderr


def text_of(data: bytes) -> str:
    """Text of bytes: what is no UTF-8 becomes replacement characters."""
    return data.decode("utf-8", "replace")


def content_of(result: ExecResult, timeout_s: float, output_bytes: int) -> str:
    """The observation of a command: its output, then what there is to say about it, a line each."""
    parts = [
        _kept(result.stdout, result.stdout_dropped),
        _kept(result.stderr, result.stderr_dropped),
    ]
    content = _joined([part for part in parts if part])
    notes = []
    for name, dropped in (("stdout", result.stdout_dropped), ("stderr", result.stderr_dropped)):
        if dropped:
            notes.append(f"[{dropped} bytes of {name} dropped: the limit is {output_bytes} bytes]")
    if result.timed_out:
        notes.append(f"[timed out after {timeout_s:g}s]")
    if result.oom_killed:
        notes.append("[killed: out of memory]")
    if result.shell_restarted:
        notes.append("[the shell ended: its folder, variables and functions are lost]")
    if result.background:
        running = "process is" if result.background == 1 else "processes are"
        notes.append(f"[{result.background} background {running} running]")
    return _joined([content, *notes] if content else notes)


def _kept(data: bytes, dropped: int) -> str:
    # With more to come, as it would have, the decoder keeps back the bytes of a character that the
    # limit cut.
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=not dropped)


def _joined(parts: list[str]) -> str:
    joined = ""
    for part in parts:
        if joined and not joined.endswith("\n"):
            joined += "\n"
        joined += part
    return joined


def metadata_of(result: ExecResult) -> dict[str, Any]:
    """The facts of a command: the exit code, and others only where there is something to say."""
    facts: dict[str, Any] = {"exit_code": result.exit_code}
    optional = {
        "timed_out": result.timed_out,
        "signal": result.signal,
        "oom_killed": result.oom_killed,
        "stdout_dropped_bytes": result.stdout_dropped,
        "stderr_dropped_bytes": result.stderr_dropped,
        "background_processes": result.background,
        "shell_restarted": result.shell_restarted,
    }
    return facts | {name: value for name, value in optional.items() if value}


def says_done(result: ExecResult) -> bool:
    """Whether a line of the output is `DONE`, or a JSON object with `"done": true`.

    Source: sessions document, "The session API"; reward contract, rule C11.
    """
    streams = ((result.stdout, result.stdout_dropped), (result.stderr, result.stderr_dropped))
    return any(_is_sign(line) for data, dropped in streams for line in _lines(data, dropped))


def _lines(data: bytes, dropped: int) -> Iterator[bytes]:
    # Most output has no sign in it, and that is told without cutting it into lines.
    if b"DONE" in data or b'"done"' in data or b"\\u" in data:
        lines = data.split(b"\n")
        # Where the limit cut a line, nobody knows what it said.
        yield from lines[:-1] if dropped else lines


def _is_sign(line: bytes) -> bool:
    if len(line) > _MAX_SIGN:
        return False
    if b"DONE" in line and text_of(line).strip() == "DONE":
        return True
    # The name may be written with escapes, the value may not.
    if b"true" not in line or not (b'"done"' in line or b"\\u" in line):
        return False
    text = text_of(line).strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("done") is True
