"""What holds for every run of every verifier, whatever it printed."""

import json
import math
from dataclasses import replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from deepgym_gym.errors import FailureKind
from deepgym_gym.limits import SCORE_TOLERANCE
from deepgym_gym.results import MODEL_FAULT, ErrorType, RunResult
from deepgym_gym.sandbox.base import VerifierOutcome
from deepgym_gym.verdict import judge_failure, judge_final, judge_step
from tests.judging.outcomes import PERFECT

# JSON with what Python's reader and writer allow beyond it: NaN, infinities, lone surrogates.
TEXTS = st.text(st.characters(), max_size=20)
NUMBERS = st.one_of(
    st.floats(),
    st.integers(),
    st.sampled_from([0, 1, -0.0, 1 + SCORE_TOLERANCE, -SCORE_TOLERANCE, 10**400, -(10**400)]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SCORES = st.one_of(st.floats(0, 1), NUMBERS, VALUES)
CASES = st.fixed_dictionaries(
    {"passed": st.one_of(st.booleans(), VALUES)},
    optional={"score": SCORES, "id": TEXTS | VALUES, "error": VALUES, "execution_time_ms": VALUES},
)
PAYLOADS = st.fixed_dictionaries(
    {"score": SCORES, "passed": st.one_of(st.booleans(), VALUES)},
    optional={
        "details": st.one_of(TEXTS, VALUES),
        "reward_components": st.one_of(st.dictionaries(TEXTS, SCORES, max_size=3), VALUES),
        "metrics": VALUES,
        "seed": st.one_of(st.integers(), VALUES),
        "truncated": st.one_of(st.booleans(), VALUES),
        "error_type": st.one_of(st.sampled_from(ErrorType), TEXTS, VALUES),
        "cases": st.one_of(st.lists(CASES, max_size=3), VALUES),
        "feedback": VALUES,
        "state": VALUES,
    },
)


def encoded(payload: object) -> bytes:
    return json.dumps(payload).encode()


LINES = st.one_of(
    PAYLOADS.map(encoded),
    VALUES.map(encoded),
    st.binary(max_size=20),
    TEXTS.map(lambda text: b"{" + text.encode("utf-8", "surrogatepass") + b"}"),
    st.floats().map(lambda number: str(number).encode()),
)
STDOUTS = st.one_of(
    st.binary(max_size=200),
    st.lists(LINES, max_size=4).map(b"\n".join),
    st.lists(LINES, max_size=4).map(b"\r\n".join),
)
OUTCOMES = st.builds(
    VerifierOutcome,
    exit_code=st.one_of(st.sampled_from([0, 0, 0, 1, 1, 2, 3, None]), st.integers(0, 255)),
    signal=st.sampled_from([None, None, None, None, 9]),
    timed_out=st.sampled_from([False, False, False, True]),
    crash=st.one_of(st.none(), st.none(), st.none(), st.just("ImportError"), TEXTS),
    touched=st.booleans(),
    launch_failed=st.sampled_from([False, False, False, True]),
    output_lost=st.sampled_from([False, False, False, True]),
    stdout=STDOUTS,
    stderr=st.binary(max_size=50),
)


def is_clean(outcome: VerifierOutcome) -> bool:
    """Whether the process itself ended as one with a verdict may."""
    return (
        outcome.exit_code in (0, 1)
        and outcome.signal is None
        and outcome.crash is None
        and not (outcome.timed_out or outcome.launch_failed or outcome.output_lost)
    )


def is_sound(result: RunResult) -> None:
    """What every result keeps, so that no reader of it can go wrong."""
    assert repr(result.score) != "-0.0"
    assert 0.0 <= result.score <= 1.0
    if not result.has_verdict:
        assert (result.score, result.passed) == (0.0, False)
        assert result.error_type is not None
        assert result.error_type not in MODEL_FAULT
    if result.error_type is not None:
        assert type(result.error_type) is str
        assert (result.score, result.passed) == (0.0, False)
        assert result.exit_code == (1 if result.has_verdict else 2)
    # It goes through JSON, a server's included, and comes back as it was.
    assert RunResult.model_validate_json(result.model_dump_json()) == result
    json.dumps(result.model_dump(), allow_nan=False).encode()


@given(OUTCOMES)
def test_every_run_gives_a_sound_result(outcome: VerifierOutcome) -> None:
    result = judge_final(outcome, acted=True)

    is_sound(result)
    assert judge_final(outcome, acted=False) == result
    assert result.stderr == outcome.stderr.decode("utf-8", "replace")


@given(OUTCOMES)
def test_score_above_zero_needs_a_clean_exit_and_valid_json(outcome: VerifierOutcome) -> None:
    result = judge_final(outcome, acted=True)

    if result.score > 0.0 or result.passed:
        assert is_clean(outcome)
        objects = [line for line in outcome.stdout.split(b"\n") if line.strip().startswith(b"{")]
        printed = [json.loads(line.decode("utf-8", "replace")) for line in objects if loads(line)]
        assert isinstance(printed[-1]["passed"], bool)
        assert abs(printed[-1]["score"] - result.score) <= SCORE_TOLERANCE * 1.001
        assert outcome.exit_code == 0 or not result.passed


def loads(line: bytes) -> bool:
    try:
        json.loads(line.decode("utf-8", "replace"))
    except ValueError:
        return False
    return True


@given(OUTCOMES)
def test_touch_turns_no_verdict_into_judged_zero_and_nothing_else(outcome: VerifierOutcome) -> None:
    untouched = judge_final(replace(outcome, touched=False), acted=True)
    touched = judge_final(replace(outcome, touched=True), acted=True)

    if touched != untouched:
        assert not untouched.has_verdict
        assert touched.has_verdict
        assert (touched.score, touched.passed) == (0.0, False)
        assert touched.error_type in ("solution_error", "solution_timeout")


@given(OUTCOMES, st.booleans())
def test_every_step_run_gives_a_reward_or_ends_the_episode(
    outcome: VerifierOutcome, verifier_feedback: bool
) -> None:
    judgement = judge_step(outcome, verifier_feedback=verifier_feedback)

    verdict = judgement.verdict
    assert 0.0 <= verdict.reward <= 1.0
    assert verdict.exit_code == outcome.exit_code
    assert type(verdict).model_validate_json(verdict.model_dump_json()) == verdict
    if verdict.error_type is not None:
        assert verdict.reward == 0.0
    if verdict.reward > 0.0:
        assert is_clean(outcome)
    if judgement.failure is not None:
        is_sound(judgement.failure)
        assert not judgement.failure.has_verdict
        assert judgement.failure.error_type in ("verifier_error", "invalid_score")
    if judgement.state is not None:
        assert verifier_feedback
        json.loads(judgement.state)


@given(OUTCOMES)
def test_touch_keeps_a_step_going_and_never_gives_a_reward(outcome: VerifierOutcome) -> None:
    untouched = judge_step(replace(outcome, touched=False))
    touched = judge_step(replace(outcome, touched=True))

    if touched != untouched:
        assert untouched.failure is not None
        assert touched.failure is None
        assert touched.verdict.reward == 0.0
        assert touched.verdict.error_type in ("solution_error", "solution_timeout")


@given(OUTCOMES)
def test_what_a_final_verifier_may_say_a_step_verifier_may_too(outcome: VerifierOutcome) -> None:
    final = judge_final(outcome, acted=True)

    if final.has_verdict and final.error_type is None:
        last = outcome.stdout.rstrip().split(b"\n")[-1].strip()
        step = judge_step(outcome)
        # A number as the last line is a step's own way to say it.
        if last.startswith(b"{"):
            assert step.verdict.reward == final.score


@given(st.binary(max_size=300))
@example(b"{" * 100_000 + b"}" * 100_000)
@example(b'{"a":' * 100_000 + b"}" * 100_000)
@example(b"\n" * 100_000)
@example(b"9" * 100_000)
@example(b'{"score": ' + b"9" * 100_000 + b', "passed": true}')
@example(b'{"score": 1' + b"." * 100_000 + b"}")
@example(b"\xef\xbb\xbf" + PERFECT.stdout)
@example(b"\0{}\0")
def test_arbitrary_bytes_are_never_a_score_by_accident(stdout: bytes) -> None:
    outcome = VerifierOutcome(exit_code=0, stdout=stdout)

    is_sound(judge_final(outcome, acted=True))
    judge_step(outcome)


@given(st.lists(LINES, max_size=3), st.lists(st.binary(max_size=20), max_size=3))
def test_last_object_line_decides(before: list[bytes], after: list[bytes]) -> None:
    verdict = b'{"score": 0.25, "passed": false}'
    junk = [line.replace(b"}", b"") for line in after]
    outcome = VerifierOutcome(exit_code=0, stdout=b"\n".join([*before, verdict, *junk]))

    result = judge_final(outcome, acted=True)

    assert (result.score, result.passed, result.error_type) == (0.25, False, None)


@given(st.one_of(st.floats(), st.floats(-1e-5, 1e-5), st.floats(1 - 1e-5, 1 + 1e-5)))
def test_scores_are_clamped_within_the_tolerance_and_invalid_beyond(score: float) -> None:
    outcome = replace(PERFECT, stdout=encoded({"score": score, "passed": True}))

    result = judge_final(outcome, acted=True)

    if math.isfinite(score) and -SCORE_TOLERANCE <= score <= 1 + SCORE_TOLERANCE:
        assert result.score == min(1.0, max(0.0, score))
        assert result.has_verdict
    else:
        assert result.error_type == "invalid_score"
    reward = judge_step(outcome).verdict.reward
    assert reward == result.score
    assert judge_step(replace(outcome, stdout=str(score).encode())).verdict.reward == reward


@given(st.sampled_from(FailureKind), st.booleans(), st.floats(0, 1), TEXTS)
def test_failed_machinery_never_gives_a_score(
    kind: FailureKind, acted: bool, agent_share: float, message: str
) -> None:
    result = judge_failure(kind, acted=acted, agent_share=agent_share, message=message)

    is_sound(result)
    assert result.score == 0.0
    assert acted or not result.has_verdict
    if result.has_verdict:
        assert result.error_type == "policy_sandbox_failure"
