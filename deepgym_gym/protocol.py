"""Reading what a verifier printed: its last line that is a JSON object, or, for a step, a bare
number.

Pure, total and bounded: whatever the bytes are, the answer is a `Protocol`, `Invalid` or
`Unusable`, never an exception. Verifiers handle the agent's work, so their output may carry
anything that the agent wrote.

Source: API wire notes 2.4; reward contract, rules A14 to A16.
"""

import json
import math
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from deepgym_gym.limits import FEEDBACK_BYTES, SCORE_TOLERANCE, STATE_BYTES
from deepgym_gym.results import CaseResult

# A verdict is small; a longer line is somebody else's output.
_MAX_LINE = 1 << 20
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Protocol:
    """A verdict as printed. `bare`: a number alone, which only a step verifier may print."""

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


@dataclass(frozen=True, slots=True)
class Invalid:
    """There is a score, and it is none: not finite, or out of [0, 1]."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """There is no verdict in the output."""

    reason: str


Answer = Protocol | Invalid | Unusable


class _NotUsableError(Exception):
    pass


class _NotAScoreError(Exception):
    pass


def read_final(stdout: bytes) -> Answer:
    """Read a final verifier's output: `score` and `passed` are both required."""
    payload = _last_object(stdout)
    if payload is None:
        return Unusable("The verifier printed no JSON object.")
    return _read(payload, passed_required=True)


def read_step(stdout: bytes) -> Answer:
    """Read a step verifier's output: a JSON object with `score`, or a number as the last line."""
    lines = [line.strip() for line in stdout.split(b"\n")]
    last = next((line for line in reversed(lines) if line), b"")
    number = _number(last)
    if number is not None:
        score = _clamped(number)
        if score is None:
            return Invalid(f"The step verifier printed the score {number}.")
        return Protocol(score=score, passed=False, bare=True)
    payload = _last_object(stdout)
    if payload is None:
        return Unusable("The step verifier printed neither a number nor a JSON object.")
    return _read(payload, passed_required=False)


def _last_object(stdout: bytes) -> dict[str, Any] | None:
    end = len(stdout)
    while end > 0:
        start = stdout.rfind(b"\n", 0, end) + 1
        line = stdout[start:end] if end - start <= _MAX_LINE else b""
        line = line.strip()
        if line.startswith(b"{") and line.endswith(b"}"):
            payload = _object(line)
            if payload is not None:
                return payload
        end = start - 1
    return None


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_int=_int)
    except (ValueError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict) else None


def _int(digits: str) -> int | float:
    # Beyond the interpreter's digit limit a number is only known to be far out of range.
    return (
        int(digits)
        if len(digits) <= 400
        else math.copysign(math.inf, -1 if digits[0] == "-" else 1)
    )


def _number(line: bytes) -> float | None:
    if not line or len(line) > 400 or b"_" in line:
        return None
    try:
        return float(line.decode("ascii"))
    except ValueError:
        return None


def _clamped(value: float) -> float | None:
    """The score without floating-point noise, or None if it is none."""
    if not math.isfinite(value) or not -SCORE_TOLERANCE <= value <= 1.0 + SCORE_TOLERANCE:
        return None
    # `+ 0.0` turns -0.0 into 0.0.
    return min(1.0, max(0.0, value)) + 0.0


def _read(payload: dict[str, Any], *, passed_required: bool) -> Answer:
    try:
        score = _score(payload.get("score"), "score")
        passed = payload.get("passed", None if passed_required else False)
        if not isinstance(passed, bool):
            raise _NotUsableError("passed is no boolean")
        return Protocol(
            score=score,
            passed=passed,
            details=_words(payload.get("details"), "details"),
            reward_components=_components(payload.get("reward_components")),
            metrics=_metrics(payload.get("metrics")),
            seed=_seed(payload.get("seed")),
            truncated=payload.get("truncated") is True,
            error_type=_words(payload.get("error_type"), "error_type")[:_MAX_NAME] or None,
            cases=_cases(payload.get("cases")),
            feedback=_feedback(payload.get("feedback")),
            state=_state(payload),
        )
    except _NotAScoreError as error:
        return Invalid(f"The verifier's {error}.")
    except _NotUsableError as error:
        return Unusable(f"The verifier's {error}.")


def _score(value: object, name: str) -> float:
    number = _real(value, name)
    score = _clamped(number)
    if score is None:
        raise _NotAScoreError(f"{name} is {number}, not within 0 and 1")
    return score


def _real(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _NotUsableError(f"{name} is no number")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _words(value: object, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _NotUsableError(f"{name} is no text")
    return clean(value)


def _feedback(value: object) -> str:
    text = _words(value, "feedback")
    size = len(text.encode("utf-8"))
    if size > FEEDBACK_BYTES:
        raise _NotUsableError(f"feedback has {size} bytes; at most {FEEDBACK_BYTES}")
    return text


def clean(text: str) -> str:
    """Text that can be encoded: lone surrogates become replacement characters."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _components(value: object) -> dict[str, float] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _NotUsableError("reward_components is no object")
    components = {}
    for key, part in value.items():
        number = _real(part, f"component {clean(key)[:_MAX_NAME]}")
        if not math.isfinite(number):
            raise _NotAScoreError(f"component {clean(key)[:_MAX_NAME]} is {number}")
        components[clean(key)] = number
    return components


def _metrics(value: object) -> dict[str, Any] | None:
    """Metrics are for people: kept if they are JSON, dropped if not; never a reason to lose a
    verdict.
    """
    if not isinstance(value, dict):
        return None
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        return cast(dict[str, Any], json.loads(text.encode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def _seed(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _cases(value: object) -> tuple[CaseResult, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _NotUsableError("cases is no list")
    return tuple(_case(item) for item in value)


def _case(value: object) -> CaseResult:
    if not isinstance(value, dict) or not isinstance(value.get("passed"), bool):
        raise _NotUsableError("case has no passed")
    passed = value["passed"]
    fields: dict[str, Any] = {
        key: clean(value[key]) if isinstance(value[key], str) else value[key]
        for key in CaseResult.model_fields
        if key in value and key not in ("passed", "score")
    }
    score = _score(value.get("score", 1.0 if passed else 0.0), "case score")
    try:
        return CaseResult(passed=passed, score=score, **fields)
    except ValidationError as error:
        raise _NotUsableError(f"case: {error.errors()[0]['msg']}") from None


def _state(payload: dict[str, Any]) -> bytes | None:
    if "state" not in payload:
        return None
    try:
        data = json.dumps(payload["state"], allow_nan=False).encode("ascii")
    except (ValueError, RecursionError):
        raise _NotUsableError("state is no JSON value") from None
    if len(data) > STATE_BYTES:
        raise _NotUsableError(f"state has {len(data)} bytes; at most {STATE_BYTES}")
    return data
