"""The members of a JSON object that a verifier printed, each read as what it must be.

Separate from `protocol`, which says what the members are: here is how any of them is checked,
bounded and made fit for a `RunResult`, so that nothing that a verifier prints can break one, nor
the JSON that is made of it later.
"""

import json
import math
from dataclasses import dataclass
from typing import Any, cast

from deepgym_gym import limits

# How much of a name from the JSON an explanation repeats.
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Invalid:
    """There is a number that should count, and it cannot: not finite, or out of [0, 1]."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """There is no verdict in the output."""

    reason: str


class RefusedError(Exception):
    """A member is not what it must be; carries the answer that the whole object thereby is."""

    def __init__(self, answer: Invalid | Unusable) -> None:
        super().__init__(answer.reason)
        self.answer = answer


class Fields:
    """One object. A member that is null counts as left out; members nobody asks for don't matter.

    Every method raises `RefusedError` for a member that is not what it must be.

    Args:
        members: the parsed object.
        where: what to call it in explanations.
    """

    def __init__(self, members: object, where: str) -> None:
        self._where = where
        if not isinstance(members, dict):
            raise self._unusable(f"must be an object, got {type(members).__name__}")
        self._members = cast(dict[str, Any], members)

    def score(self, key: str, default: float | None = None) -> float:
        """A number within 0 and 1, floating-point noise clamped."""
        value = self._members.get(key)
        if value is None and default is not None:
            return default
        number = self._real(key, value)
        score = clamped(number)
        if score is None:
            raise self._invalid(f"{key} must be within 0 and 1, got {number}")
        return score

    def flag(self, key: str, default: bool | None = None) -> bool:
        """A real boolean."""
        value = self._members.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def text(self, key: str) -> str | None:
        """A text that can be encoded."""
        value = self._members.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._wrong(key, "text", value)
        return clean(value)

    def whole(self, key: str) -> int | None:
        """A whole number."""
        value = self._members.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, "a whole number", value)
        return value

    def duration(self, key: str) -> float:
        """A finite number; 0.0 for one that is not: a clock's nonsense loses nobody a verdict."""
        value = self._members.get(key)
        number = 0.0 if value is None else self._real(key, value)
        return number if math.isfinite(number) else 0.0

    def numbers(self, key: str) -> dict[str, float] | None:
        """An object of finite numbers."""
        value = self._members.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(key, "an object", value)
        numbers = {}
        for name, part in value.items():
            numbers[clean(name)] = number = self._real(f"{key} {name!r}", part)
            if not math.isfinite(number):
                raise self._invalid(f"{key} {name!r} must be finite, got {number}")
        return numbers

    def objects(self, key: str, limit: int) -> "list[Fields] | None":
        """A list of at most `limit` objects."""
        value = self._members.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self._wrong(key, "a list", value)
        if len(value) > limit:
            raise self._unusable(f"{key} has {len(value)} entries; at most {limit}")
        return [
            Fields(part, f"{self._where}, {key} number {number}")
            for number, part in enumerate(value, 1)
        ]

    def plain(self, key: str) -> dict[str, Any] | None:
        """An object of anything that can be made JSON again; NaN and infinity become None."""
        value = self._members.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(key, "an object", value)
        left = limits.VERDICT_VALUES

        def fit(value: Any, depth: int) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise self._unusable(f"{key} has more than {limits.VERDICT_VALUES} values")
            if depth > limits.VERDICT_DEPTH:
                raise self._unusable(f"{key} is nested more than {limits.VERDICT_DEPTH} deep")
            if isinstance(value, str):
                return clean(value)
            if isinstance(value, float) and not math.isfinite(value):
                return None
            if isinstance(value, list):
                return [fit(part, depth + 1) for part in value]
            if isinstance(value, dict):
                return {clean(name): fit(part, depth + 1) for name, part in value.items()}
            return value

        return {clean(name): fit(part, 1) for name, part in value.items()}

    def encoded(self, key: str, limit_bytes: int) -> bytes | None:
        """Any JSON value, null included, as its text; None if it is left out."""
        if key not in self._members:
            return None
        try:
            data = json.dumps(self._members[key], allow_nan=False).encode("ascii")
        except (ValueError, RecursionError):
            raise self._unusable(f"{key} must be JSON without NaN and infinity") from None
        if len(data) > limit_bytes:
            raise self._unusable(f"{key} has {len(data)} bytes; at most {limit_bytes}")
        return data

    def bounded_text(self, key: str, limit_bytes: int) -> str:
        """A text of at most so many bytes of UTF-8; empty if it is left out."""
        text = self.text(key) or ""
        size = len(text.encode("utf-8"))
        if size > limit_bytes:
            raise self._unusable(f"{key} has {size} bytes; at most {limit_bytes}")
        return text

    def _real(self, name: str, value: object) -> float:
        """A number as a float; infinite where it is beyond every float."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "a number", value)
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf

    def _wrong(self, name: str, expected: str, value: object) -> RefusedError:
        got = "nothing" if value is None else type(value).__name__
        return self._unusable(f"{name[:_MAX_NAME]} must be {expected}, got {got}")

    def _unusable(self, problem: str) -> RefusedError:
        return RefusedError(Unusable(f"{self._where}: {problem}."))

    def _invalid(self, problem: str) -> RefusedError:
        return RefusedError(Invalid(f"{self._where}: {problem}."))


def clamped(number: float) -> float | None:
    """A score without floating-point noise; None if it is none, as NaN is.

    Source: reward contract, rule A14.
    """
    if not -limits.SCORE_TOLERANCE <= number <= 1.0 + limits.SCORE_TOLERANCE:
        return None
    # In this order -0.0 becomes 0.0.
    return min(1.0, max(0.0, number))


def clean(text: str) -> str:
    """Text that can be encoded: lone surrogates become replacement characters."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
