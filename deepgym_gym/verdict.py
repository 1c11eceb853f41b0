"""Whose fault it was: the one pure table that turns what happened into a result.

A score is a verdict on the agent or it is nothing. Every rule of the reward contract on judging is
a row here, and nothing else in the package decides fault.

Two facts decide most rows. *Touched*: the verifier opened, listed or started something in or on the
work folder, read the step's output, or started the agent's code; what goes wrong after that came
from handling the agent's work. *Acted*: at least one action of the agent may have run; a sandbox
that dies after that died of the agent.

Source: reward contract, sections A to C, whose rule names stand beside the rows; API wire notes,
2.3 to 2.5.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from deepgym_gym.errors import FailureKind
from deepgym_gym.fields import Invalid, Unusable, clean
from deepgym_gym.protocol import Answer, Verdict, read_final, read_step
from deepgym_gym.results import MODEL_FAULT, ErrorType, RunResult, StepVerdict
from deepgym_gym.sandbox.base import VerifierOutcome

# What a verifier says by its exit code, and `RunResult.exit_code` by the same numbers.
# Source: API wire notes, 2.4.
_FAILED_RUN, _VERIFIER_ERROR = 1, 2


class Ending(Enum):
    """The ways in which a verifier's run ends without a usable verdict."""

    LAUNCH_FAILED = auto()
    TIMED_OUT = auto()
    TIMED_OUT_OUTPUT_LOST = auto()
    OUTPUT_LOST = auto()
    KILLED = auto()
    CRASHED = auto()
    CRASHED_IMPORTING = auto()
    CRASHED_WAITING = auto()
    SAID_SO = auto()
    UNUSABLE = auto()
    INVALID_SCORE = auto()
    WRONG_EXIT = auto()


@dataclass(frozen=True, slots=True)
class Row:
    """What an ending means.

    Args:
        final: the `error_type` of a final verifier that had touched nothing: no verdict.
        touched: the `error_type` after a touch, for final and step verifiers: a judged 0. None if
            a touch changes nothing.
        step: the `error_type` of a step verifier that had touched nothing: it failed by itself, so
            `step()` raises and the episode ends without a verdict.
    """

    final: ErrorType
    touched: ErrorType | None
    step: ErrorType = ErrorType.VERIFIER_ERROR


VERIFIER_ROWS: Final[Mapping[Ending, Row]] = {
    # A10: no box for the agent's code, for a reason of ours. Whatever the verifier made of that,
    # were it a clean 0, is no judgement on code that never ran.
    Ending.LAUNCH_FAILED: Row(ErrorType.SANDBOX_ERROR, None),
    # A11, A12; B3, B4.
    Ending.TIMED_OUT: Row(ErrorType.TIMEOUT, ErrorType.SOLUTION_TIMEOUT),
    # A13.
    Ending.TIMED_OUT_OUTPUT_LOST: Row(ErrorType.TIMEOUT, ErrorType.SOLUTION_ERROR),
    # A8, A9; B5, B6. No output is no verdict, however the process ended.
    Ending.OUTPUT_LOST: Row(ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR),
    Ending.KILLED: Row(ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR),
    # A5, A6, A7, A23; B5, B6. Nothing that a crashed verifier printed counts.
    Ending.CRASHED: Row(ErrorType.RUNTIME_ERROR, ErrorType.SOLUTION_ERROR),
    Ending.CRASHED_IMPORTING: Row(ErrorType.IMPORT_ERROR, ErrorType.SOLUTION_ERROR),
    Ending.CRASHED_WAITING: Row(ErrorType.TIMEOUT, ErrorType.SOLUTION_ERROR),
    # A4, A17; B6. The verifier itself says that it has no verdict, and knows best. The names are
    # for one that does not say why.
    Ending.SAID_SO: Row(ErrorType.VERIFIER_ERROR, None),
    # A8, A9, A15; B5, B6.
    Ending.UNUSABLE: Row(ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR),
    # A14; B5, B6.
    Ending.INVALID_SCORE: Row(
        ErrorType.INVALID_SCORE, ErrorType.SOLUTION_ERROR, step=ErrorType.INVALID_SCORE
    ),
    # A3; B5, B6.
    Ending.WRONG_EXIT: Row(ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR),
}

# Uncaught exceptions with a row of their own. Source: API wire notes, 2.5.
_CRASHES: Final[Mapping[str, Ending]] = {
    "ImportError": Ending.CRASHED_IMPORTING,
    "ModuleNotFoundError": Ending.CRASHED_IMPORTING,
    "TimeoutError": Ending.CRASHED_WAITING,
}


class Blame(Enum):
    """When a failure of the episode's machinery is the agent's doing."""

    NEVER = auto()
    ONCE_IT_ACTED = auto()
    IF_IT_TOOK_HALF_THE_TIME = auto()


# How the machinery failed -> when that is the agent's doing (a judged 0), and the `error_type`
# where it is not (no verdict).
FAILURE_ROWS: Final[Mapping[FailureKind, tuple[Blame, ErrorType]]] = {
    # A19, C8, C9: the agent can kill its sandbox, or fill its memory and process table.
    FailureKind.LOST: (Blame.ONCE_IT_ACTED, ErrorType.SANDBOX_ERROR),
    FailureKind.EXHAUSTED: (Blame.ONCE_IT_ACTED, ErrorType.SANDBOX_ERROR),
    # C3: it can fill the disk.
    FailureKind.WRITE_FAILED: (Blame.ONCE_IT_ACTED, ErrorType.SANDBOX_ERROR),
    # B7: its files can be in the way.
    FailureKind.OUTPUT_BLOCKED: (Blame.ONCE_IT_ACTED, ErrorType.SANDBOX_ERROR),
    # C7.
    FailureKind.RETIRED: (Blame.IF_IT_TOOK_HALF_THE_TIME, ErrorType.SANDBOX_ERROR),
    # C6.
    FailureKind.PROVIDER: (Blame.NEVER, ErrorType.SANDBOX_ERROR),
    FailureKind.UNAVAILABLE: (Blame.NEVER, ErrorType.SANDBOX_ERROR),
    # C10.
    FailureKind.SETUP: (Blame.NEVER, ErrorType.SETUP_ERROR),
    # C16.
    FailureKind.INTERRUPTED: (Blame.NEVER, ErrorType.INTERRUPTED),
}


@dataclass(frozen=True, slots=True)
class StepJudgement:
    """What a step verifier's run means.

    With `failure`, `step()` raises, the episode ends, and `score()` returns that result, which has
    no verdict. `state` is what the verifier wants to hand to the next one (JSON text), None if
    nothing.
    """

    verdict: StepVerdict
    failure: RunResult | None = None
    state: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why there is no usable verdict; `declared` is the reason that the verifier itself gave."""

    ending: Ending
    message: str
    declared: str | None = None


def judge_final(outcome: VerifierOutcome, *, acted: bool) -> RunResult:
    """The result of a final verifier's run.

    Args:
        outcome: how it ran.
        acted: whether an action of the agent may have run. No row asks: what a verifier did is
            judged by what it touched.
    """
    del acted
    stderr = _text(outcome.stderr)
    answer = _examined(outcome, read_final)
    if isinstance(answer, _Problem):
        row = VERIFIER_ROWS[answer.ending]
        if outcome.touched and row.touched is not None:
            return _judged_zero(row.touched, answer.message, stderr)
        return _no_verdict(answer.declared or row.final, answer.message, stderr)
    # A17: one of the model-fault names is a judged 0. What explains it is kept; the components are
    # reward, and go with the score.
    blamed = answer.error_type is not None
    # A1, A2.
    return RunResult(
        score=0.0 if blamed else answer.score,
        passed=answer.passed and not blamed,
        output=answer.details,
        stderr=stderr,
        exit_code=_FAILED_RUN if blamed else outcome.exit_code or 0,
        reward_components=None if blamed else answer.reward_components,
        metrics=answer.metrics,
        seed=answer.seed,
        truncated=answer.truncated,
        error_type=answer.error_type,
        cases=answer.cases,
    )


def judge_step(outcome: VerifierOutcome, *, verifier_feedback: bool = False) -> StepJudgement:
    """The meaning of a step verifier's run: a reward, a judged 0 after which the episode goes on,
    or a failure.

    Args:
        outcome: how it ran.
        verifier_feedback: whether the environment lets it answer the agent and keep a state.
    """
    answer = _examined(
        outcome, lambda stdout: read_step(stdout, verifier_feedback=verifier_feedback)
    )
    if isinstance(answer, Verdict):
        # B1. A model-fault name is a judged 0, as in A17.
        reward = answer.score if answer.error_type is None else 0.0
        verdict = _step_verdict(outcome, reward, answer.error_type, answer.feedback)
        return StepJudgement(verdict, state=answer.state)
    row = VERIFIER_ROWS[answer.ending]
    if outcome.touched and row.touched is not None:
        # B3, B5: the step is worth 0, and the episode goes on.
        return StepJudgement(_step_verdict(outcome, 0.0, row.touched))
    # B4, B6: it failed by itself.
    return StepJudgement(
        _step_verdict(outcome, 0.0, answer.declared or row.step),
        failure=_no_verdict(row.step, answer.message, _text(outcome.stderr)),
    )


def judge_failure(
    kind: FailureKind, *, acted: bool, agent_share: float = 0.0, message: str = ""
) -> RunResult:
    """The result of an episode whose machinery failed.

    Args:
        kind: how it failed.
        acted: whether an action of the agent may have run.
        agent_share: the part (0 to 1) of the session's time that the agent's own actions took.
        message: what happened, for `RunResult.output`.
    """
    blame, ours = FAILURE_ROWS[kind]
    guilty = {
        Blame.NEVER: False,
        Blame.ONCE_IT_ACTED: acted,
        Blame.IF_IT_TOOK_HALF_THE_TIME: acted and agent_share >= 0.5,
    }[blame]
    if guilty:
        return _judged_zero(ErrorType.POLICY_SANDBOX_FAILURE, message, stderr="")
    return _no_verdict(ours, message, stderr="")


def no_verifier() -> RunResult:
    """The result where there is no final verifier, so that trainers mask the episode.

    Source: reward contract, rule A18; API wire notes, 2.5 (exit code 0).
    """
    return RunResult(
        score=0.0,
        passed=False,
        error_type=ErrorType.NO_VERIFIER,
        output="The environment has no final_verifier_code.",
    )


def final_verifier_never_ran(message: str) -> RunResult:
    """The result where no box could be made for the final verifier, which the agent cannot reach.

    Source: reward contract, rule A8: nothing was touched, and nothing usable came.
    """
    return _no_verdict(ErrorType.VERIFIER_ERROR, message, stderr="")


def step_verifier_never_ran(message: str) -> StepJudgement:
    """The meaning of a step verifier for which no box could be made.

    Source: reward contract, rule B6, "could not run".
    """
    verdict = StepVerdict(reward=0.0, error_type=ErrorType.VERIFIER_ERROR)
    return StepJudgement(verdict, failure=_no_verdict(ErrorType.VERIFIER_ERROR, message, stderr=""))


def _examined(outcome: VerifierOutcome, read: Callable[[bytes], Answer]) -> Verdict | _Problem:
    """The verdict that counts, or why none does. First match decides, from the process inwards."""
    if outcome.launch_failed:
        return _Problem(Ending.LAUNCH_FAILED, "The agent's code could not be given a box to run.")
    if outcome.timed_out:
        ending = Ending.TIMED_OUT_OUTPUT_LOST if outcome.output_lost else Ending.TIMED_OUT
        return _Problem(ending, "The verifier ran into its time limit.")
    if outcome.output_lost:
        return _Problem(Ending.OUTPUT_LOST, "The verifier's output was lost.")
    if outcome.signal is not None:
        return _Problem(Ending.KILLED, f"The verifier was killed by signal {outcome.signal}.")
    # An uncaught exception exits 1 like a failed run, so the exit code cannot tell.
    if outcome.crash is not None:
        ending = _CRASHES.get(outcome.crash, Ending.CRASHED)
        return _Problem(ending, f"The verifier crashed: {outcome.crash}. See its stderr.")
    answer = read(outcome.stdout)
    if isinstance(answer, Invalid):
        return _Problem(Ending.INVALID_SCORE, answer.reason)
    if isinstance(answer, Unusable):
        return _Problem(Ending.UNUSABLE, answer.reason)
    return _accepted(outcome.exit_code, answer)


def _accepted(exit_code: int | None, verdict: Verdict) -> Verdict | _Problem:
    """Whether the exit code lets a well-formed verdict count.

    Source: API wire notes, 2.4: 0 with any, 1 with `passed` false, 2 with `passed` false and score
    0; a bare number says nothing of a failed run and needs 0.
    """
    foreign = None if verdict.error_type in MODEL_FAULT else verdict.error_type
    reason = verdict.details or f"The verifier exited {exit_code}, error_type {foreign}."
    # A4. A model-fault name would contradict it: what has no verdict is nobody's fault.
    if exit_code == _VERIFIER_ERROR and verdict.score == 0.0 and not verdict.passed:
        return _Problem(Ending.SAID_SO, reason, foreign)
    # A3, A7: what such a process printed does not count, not even its `error_type`.
    failed_run = exit_code == _FAILED_RUN and not (verdict.passed or verdict.bare)
    if exit_code != 0 and not failed_run:
        said = f"score {verdict.score}" + ("" if verdict.bare else f", passed {verdict.passed}")
        return _Problem(
            Ending.WRONG_EXIT,
            f"The verifier exited {exit_code} with {said}; expected 0, or 1 with passed false.",
        )
    # A17.
    if foreign is not None:
        return _Problem(Ending.SAID_SO, reason, foreign)
    return verdict


def _step_verdict(
    outcome: VerifierOutcome, reward: float, error_type: str | None, feedback: str = ""
) -> StepVerdict:
    return StepVerdict(
        reward=reward,
        output=_text(outcome.stdout),
        stderr=_text(outcome.stderr),
        exit_code=outcome.exit_code,
        error_type=error_type,
        feedback=feedback,
    )


def _no_verdict(error_type: str, message: str, stderr: str) -> RunResult:
    return _zero(_VERIFIER_ERROR, error_type, message, stderr)


def _judged_zero(error_type: str, message: str, stderr: str) -> RunResult:
    return _zero(_FAILED_RUN, error_type, message, stderr)


def _zero(exit_code: int, error_type: str, message: str, stderr: str) -> RunResult:
    return RunResult(
        score=0.0,
        passed=False,
        exit_code=exit_code,
        error_type=error_type,
        output=clean(message),
        stderr=stderr,
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
