"""Reading what a verifier printed: its last line that is a JSON object, or, for a step, a bare
number.

Pure, total and bounded: whatever the bytes are, the answer is a `Verdict`, `Invalid` or `Unusable`,
never an exception. Verifiers handle the agent's work, so their output may carry anything that the
agent wrote. Where a line could be read in two ways it is not read at all: a score is a verdict or
it is nothing.

Source: API wire notes 2.3 and 2.4; reward contract, rules A14 to A16 and B1.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

from deepgym_gym import limits
from deepgym_gym.fields import Fields, Invalid, RefusedError, Unusable, clamped
from deepgym_gym.results import CaseResult

# Digits beyond which a number is only known to be out of every range. A double ends at 309, and the
# interpreter refuses to read an integer of more than 4300.
_MAX_DIGITS = 400
# How much of an output that holds no verdict is repeated, and of a printed `error_type` kept.
_MAX_CHARS = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict as printed, each value checked and encodable.

    `bare`: a number alone, which only a step verifier may print. `state`: JSON text.
    """

    score: float
    passed: bool
    details: str = ""
    reward_components: dict[str, float] | None = None
    metrics: dict[str, Any] | None = None
    seed: int | None = None
    truncated: bool = False
    error_type: str | None = None
    cases: tuple[CaseResult, ...] | None = None
    feedback: str = ""
    state: bytes | None = None
    bare: bool = False


Answer = Verdict | Invalid | Unusable


def read_final(stdout: bytes) -> Answer:
    """Read a final verifier's output: a JSON object with at least `score` and `passed`."""
    return _read(stdout, passed_default=None, verifier_feedback=False)


def read_step(stdout: bytes, *, verifier_feedback: bool = False) -> Answer:
    """Read a step verifier's output: a number as its last line, or a JSON object with `score`.

    Args:
        stdout: what it printed.
        verifier_feedback: whether `feedback` and `state` mean anything here; if not, they are not
            looked at.
    """
    printed = stdout.rstrip()
    number = _number(printed[printed.rfind(b"\n") + 1 :].strip())
    if number is None:
        return _read(stdout, passed_default=False, verifier_feedback=verifier_feedback)
    score = clamped(number)
    if score is None:
        return Invalid(f"The verifier printed {number}; a score lies within 0 and 1.")
    return Verdict(score=score, passed=False, bare=True)


def _read(stdout: bytes, *, passed_default: bool | None, verifier_feedback: bool) -> Answer:
    payload = _last_object(stdout)
    if isinstance(payload, Unusable):
        return payload
    try:
        fields = Fields(payload, "The verifier's JSON")
        cases = fields.objects("cases", limits.VERDICT_CASES)
        return Verdict(
            score=fields.score("score"),
            passed=fields.flag("passed", passed_default),
            details=fields.text("details") or "",
            reward_components=fields.numbers("reward_components"),
            metrics=fields.plain("metrics"),
            seed=fields.whole("seed"),
            truncated=fields.flag("truncated", default=False),
            error_type=(fields.text("error_type") or "")[:_MAX_CHARS] or None,
            cases=None if cases is None else tuple(_case(case) for case in cases),
            feedback=fields.bounded_text("feedback", limits.FEEDBACK_BYTES)
            if verifier_feedback
            else "",
            state=fields.encoded("state", limits.STATE_BYTES) if verifier_feedback else None,
        )
    except RefusedError as refused:
        return refused.answer


def _case(fields: Fields) -> CaseResult:
    passed = fields.flag("passed")
    return CaseResult(
        passed=passed,
        score=fields.score("score", default=float(passed)),
        id=fields.text("id") or "",
        input_summary=fields.text("input_summary") or "",
        expected_summary=fields.text("expected_summary") or "",
        actual_summary=fields.text("actual_summary") or "",
        error=fields.text("error"),
        execution_time_ms=fields.duration("execution_time_ms"),
    )


def _last_object(stdout: bytes) -> dict[str, Any] | Unusable:
    end = len(stdout)
    for _ in range(limits.VERDICT_LINES):
        # Passes over everything without a brace, long lines and blank ones, in one call.
        brace = stdout.rfind(b"}", 0, end)
        if brace < 0:
            return Unusable(
                'The verifier must print a line like {"score": 1.0, "passed": true} last; its '
                f"output ended with {stdout[-_MAX_CHARS:].decode('utf-8', 'replace')!r}."
            )
        start = stdout.rfind(b"\n", 0, brace) + 1
        stop = stdout.find(b"\n", brace, end)
        line = stdout[start : end if stop < 0 else stop].strip()
        if line.startswith(b"{") and line.endswith(b"}"):
            payload = _object(line)
            if payload is not None:
                return payload
        end = start
    return Unusable(
        f"None of the last {limits.VERDICT_LINES} lines with a brace is a JSON object; the "
        "verifier must print its verdict last."
    )


def _object(line: bytes) -> dict[str, Any] | Unusable | None:
    """The object on a line in braces; None if the line is no JSON after all."""
    repeated = False

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        members = dict(pairs)
        repeated = repeated or len(members) != len(pairs)
        return members

    try:
        # Bytes that are no UTF-8 can only stand inside strings, where they change no number.
        text = line.decode("utf-8", "replace")
        payload: dict[str, Any] = json.loads(text, object_pairs_hook=collect, parse_int=_integer)
    except (RecursionError, MemoryError):
        # It may well be an object, so no earlier line may speak in its place.
        return Unusable("The verifier's JSON is nested too deeply to be read.")
    except ValueError:
        return None
    if repeated:
        return Unusable("The verifier's JSON has the same name twice in one object.")
    return payload


def _integer(digits: str) -> int | float:
    if len(digits) <= _MAX_DIGITS:
        return int(digits)
    return -math.inf if digits.startswith("-") else math.inf


def _number(line: bytes) -> float | None:
    # `float` also takes 1_0, which no verifier prints for a number.
    if not line or len(line) > _MAX_DIGITS or b"_" in line:
        return None
    try:
        return float(line.decode("ascii"))
    except ValueError:
        return None
