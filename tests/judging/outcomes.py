"""Verifier runs to be judged, and what results come down to."""

import json
from dataclasses import replace
from typing import NamedTuple

from deepgym_gym.results import RunResult
from deepgym_gym.sandbox.base import VerifierOutcome

# Prints a perfect verdict and ends cleanly.
PERFECT = VerifierOutcome(exit_code=0, stdout=b'{"score": 1.0, "passed": true}\n')
TIMED_OUT = replace(PERFECT, exit_code=None, timed_out=True)
KILLED = replace(PERFECT, exit_code=137, signal=9)


def printed(*lines: object, exit_code: int = 0, touched: bool = False) -> VerifierOutcome:
    """A run that printed these lines; what is no text or bytes is printed as JSON."""
    data = b"".join(
        (line if isinstance(line, bytes) else _text(line).encode("utf-8", "surrogatepass")) + b"\n"
        for line in lines
    )
    return VerifierOutcome(exit_code=exit_code, stdout=data, touched=touched)


def _text(line: object) -> str:
    return line if isinstance(line, str) else json.dumps(line)


def crashed(name: str, *, touched: bool = False) -> VerifierOutcome:
    """A run that printed a perfect verdict and then raised."""
    return replace(PERFECT, exit_code=1, crash=name, touched=touched)


class Essence(NamedTuple):
    """What a trainer goes by."""

    score: float
    passed: bool
    exit_code: int
    error_type: str | None
    has_verdict: bool


def essence(result: RunResult) -> Essence:
    return Essence(
        result.score, result.passed, result.exit_code, result.error_type, result.has_verdict
    )


def verdict(score: float, passed: bool, exit_code: int = 0) -> Essence:
    return Essence(score, passed, exit_code, None, True)


def no_verdict(error_type: str) -> Essence:
    return Essence(0.0, False, 2, error_type, False)


def judged_zero(error_type: str) -> Essence:
    return Essence(0.0, False, 1, error_type, True)
