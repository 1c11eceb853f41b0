"""Section B of the reward contract, row by row: what a step verifier's run means."""

from dataclasses import replace

import pytest

from deepgym_gym.errors import FailureKind
from deepgym_gym.results import MODEL_FAULT, StepVerdict
from deepgym_gym.sandbox.base import VerifierOutcome
from deepgym_gym.verdict import judge_failure, judge_step, step_verifier_never_ran
from tests.judging.outcomes import (
    KILLED,
    PERFECT,
    TIMED_OUT,
    crashed,
    essence,
    judged_zero,
    no_verdict,
    printed,
)


def goes_on(
    outcome: VerifierOutcome, *, touched: bool, verifier_feedback: bool = False
) -> StepVerdict:
    """The verdict of a run after which the episode goes on."""
    outcome = replace(outcome, touched=touched)
    judgement = judge_step(outcome, verifier_feedback=verifier_feedback)
    assert judgement.failure is None
    assert judgement.verdict.exit_code == outcome.exit_code
    assert judgement.verdict.output == outcome.stdout.decode("utf-8", "replace")
    return judgement.verdict


def ends_it(outcome: VerifierOutcome, *, touched: bool = False) -> tuple[str | None, str | None]:
    """The error types, of the result and of the step, of a run that ends the episode."""
    judgement = judge_step(replace(outcome, touched=touched))
    assert judgement.failure is not None
    assert essence(judgement.failure) == no_verdict(str(judgement.failure.error_type))
    assert judgement.verdict.reward == 0.0
    assert judgement.state is None
    return judgement.failure.error_type, judgement.verdict.error_type


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize(
    ("outcome", "reward"),
    [
        pytest.param(printed("0.5"), 0.5, id="float"),
        pytest.param(printed("1"), 1.0, id="whole"),
        pytest.param(printed("-0.0"), 0.0, id="minus-zero"),
        pytest.param(printed("1e-3"), 0.001, id="exponent"),
        pytest.param(printed("1.0000005"), 1.0, id="clamped"),
        pytest.param(printed("junk", "", "0.5\r", "", "  "), 0.5, id="float-in-blank-lines"),
        pytest.param(printed({"score": 1.0, "passed": True}, "0.5"), 0.5, id="float-after-json"),
        pytest.param(printed({"score": 0.5}), 0.5, id="json-without-passed"),
        pytest.param(printed({"score": 0.5, "passed": True}), 0.5, id="json"),
        pytest.param(printed({"score": 0.5, "passed": False}, exit_code=1), 0.5, id="failed-run"),
        pytest.param(printed("0.9", {"score": 0.5}, "junk"), 0.5, id="json-before-junk"),
    ],
)
def test_b1_float_or_json_is_the_reward(
    outcome: VerifierOutcome, reward: float, touched: bool
) -> None:
    verdict = goes_on(replace(outcome, stderr=b"note"), touched=touched)

    assert repr(verdict.reward) == repr(reward)
    assert verdict.error_type is None
    assert verdict.stderr == "note"


@pytest.mark.parametrize("name", sorted(MODEL_FAULT))
def test_b1_printed_model_fault_is_reward_zero_and_the_episode_goes_on(name: str) -> None:
    outcome = printed({"score": 0.5, "passed": True, "error_type": str(name)})

    verdict = goes_on(outcome, touched=False)

    assert (verdict.reward, verdict.error_type) == (0.0, name)


def test_b3_timeout_after_touching_is_reward_zero_and_the_episode_goes_on() -> None:
    verdict = goes_on(TIMED_OUT, touched=True)

    assert (verdict.reward, verdict.error_type) == (0.0, "solution_timeout")


def test_b4_timeout_before_touching_ends_the_episode() -> None:
    assert ends_it(TIMED_OUT) == ("verifier_error", "verifier_error")


INVALID = [
    pytest.param(printed(line), id=line)
    for line in (
        "nan",
        "inf",
        "-inf",
        "1e999",
        "2",
        "-0.1",
        '{"score": NaN}',
        '{"score": 1e999}',
        '{"score": 1.1}',
        '{"score": 0.5, "reward_components": {"a": Infinity}}',
    )
]
BAD = [
    pytest.param(KILLED, id="killed"),
    pytest.param(crashed("ValueError"), id="crashed"),
    pytest.param(crashed("ImportError"), id="crashed-importing"),
    pytest.param(crashed("TimeoutError"), id="crashed-waiting"),
    pytest.param(replace(PERFECT, output_lost=True), id="output-lost"),
    pytest.param(VerifierOutcome(exit_code=0), id="nothing"),
    pytest.param(VerifierOutcome(exit_code=2), id="nothing-exit-2"),
    pytest.param(printed("good"), id="words"),
    pytest.param(printed("0.5", "junk"), id="float-before-junk"),
    pytest.param(printed("1_0"), id="underscore"),
    pytest.param(printed("0.5 0.5"), id="two-floats"),
    pytest.param(printed("True"), id="bool"),
    pytest.param(printed("\u0665"), id="foreign-digit"),
    pytest.param(printed({"score": True}), id="score-bool"),
    pytest.param(printed({"score": "1"}), id="score-text"),
    pytest.param(printed({"passed": True}), id="no-score"),
    pytest.param(printed({"score": 1.0, "passed": "yes"}), id="passed-text"),
    pytest.param(printed("0.5", exit_code=1), id="float-exit-1"),
    pytest.param(printed("0.0", exit_code=1), id="zero-exit-1"),
    pytest.param(printed("0.5", exit_code=2), id="float-exit-2"),
    pytest.param(printed("0.5", exit_code=3), id="float-exit-3"),
    pytest.param(printed({"score": 0.5, "passed": True}, exit_code=1), id="passed-exit-1"),
    pytest.param(printed({"score": 0.5, "passed": False}, exit_code=2), id="score-exit-2"),
    pytest.param(printed({"score": 0.5, "passed": False}, exit_code=3), id="exit-3"),
]


@pytest.mark.parametrize("outcome", [*BAD, *INVALID])
def test_b5_bad_run_after_touching_is_reward_zero_and_the_episode_goes_on(
    outcome: VerifierOutcome,
) -> None:
    verdict = goes_on(outcome, touched=True)

    assert (verdict.reward, verdict.error_type) == (0.0, "solution_error")


@pytest.mark.parametrize("outcome", BAD)
def test_b6_bad_run_untouched_ends_the_episode(outcome: VerifierOutcome) -> None:
    assert ends_it(outcome) == ("verifier_error", "verifier_error")


@pytest.mark.parametrize("outcome", INVALID)
def test_b6_invalid_score_untouched_ends_the_episode(outcome: VerifierOutcome) -> None:
    assert ends_it(outcome) == ("invalid_score", "invalid_score")


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize("outcome", [printed({"score": 0}, exit_code=2), printed("0", exit_code=2)])
def test_b6_exit_2_with_score_0_ends_the_episode(outcome: VerifierOutcome, touched: bool) -> None:
    assert ends_it(outcome, touched=touched) == ("verifier_error", "verifier_error")


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize("exit_code", [0, 1, 2])
def test_b6_error_type_of_its_own_ends_the_episode(exit_code: int, touched: bool) -> None:
    outcome = printed({"score": 0, "passed": False, "error_type": "own"}, exit_code=exit_code)

    assert ends_it(outcome, touched=touched) == ("verifier_error", "own")


def test_b6_agents_code_that_we_could_not_launch_ends_the_episode() -> None:
    outcome = replace(crashed("SolutionError"), launch_failed=True)

    assert ends_it(outcome, touched=True) == ("verifier_error", "verifier_error")


def test_b6_verifier_that_could_not_run_ends_the_episode() -> None:
    judgement = step_verifier_never_ran("no box")

    assert judgement.verdict == StepVerdict(reward=0.0, error_type="verifier_error")
    assert judgement.failure is not None
    assert essence(judgement.failure) == no_verdict("verifier_error")
    assert judgement.failure.output == "no box"


def test_b6_failure_says_why_and_keeps_stderr() -> None:
    outcome = printed({"score": 0, "error_type": "own", "details": "no model"})

    failure = judge_step(replace(outcome, stderr=b"trace")).failure

    assert failure is not None
    assert (failure.output, failure.stderr) == ("no model", "trace")


def test_b7_output_blocked_by_the_agents_files_is_judged_zero() -> None:
    result = judge_failure(FailureKind.OUTPUT_BLOCKED, acted=True)

    assert essence(result) == judged_zero("policy_sandbox_failure")


# `verifier_feedback`.


def test_feedback_and_state_are_kept_where_the_environment_has_them() -> None:
    outcome = printed({"score": 0, "feedback": "colder", "state": {"tries": 2}})

    judgement = judge_step(outcome, verifier_feedback=True)

    assert judgement.verdict.feedback == "colder"
    assert judgement.state == b'{"tries": 2}'


@pytest.mark.parametrize("extra", ['"feedback": 5', '"state": NaN', '"feedback": "psst"'])
def test_feedback_and_state_mean_nothing_where_the_environment_has_them_not(extra: str) -> None:
    outcome = printed(f'{{"score": 0.5, {extra}}}')

    judgement = judge_step(outcome)

    assert judgement.verdict.reward == 0.5
    assert judgement.verdict.feedback == ""
    assert judgement.state is None


@pytest.mark.parametrize("extra", ['"feedback": 5', '"state": NaN', '"state": [1e999]'])
def test_feedback_and_state_that_cannot_be_used_are_bad_output(extra: str) -> None:
    outcome = printed(f'{{"score": 0.5, {extra}}}')

    failure = judge_step(outcome, verifier_feedback=True).failure

    assert failure is not None
    assert failure.error_type == "verifier_error"


def test_state_null_is_a_state_and_none_given_is_none() -> None:
    null = judge_step(printed('{"score": 0, "state": null}'), verifier_feedback=True)
    none = judge_step(printed('{"score": 0}'), verifier_feedback=True)

    assert (null.state, none.state) == (b"null", None)
