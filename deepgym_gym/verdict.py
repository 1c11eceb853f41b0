"""Whose fault it was: the one pure table that turns what happened into a result.

A score is a verdict on the agent or it is nothing. Every rule of the reward contract is a row here,
and nothing else in the package decides fault.

Two facts decide most rows. *Touched*: the verifier opened, listed or started something in or on the
work folder, read the step's output, or started the agent's code; what goes wrong after that came
from handling the agent's work. *Acted*: at least one action of the agent may have run; a sandbox
that dies after that died of the agent.

Source: reward contract, sections A to C, whose rule names stand beside the rows.
"""

from dataclasses import dataclass

from deepgym_gym.errors import FailureKind
from deepgym_gym.protocol import Invalid, Protocol, Unusable, read_final, read_step
from deepgym_gym.results import MODEL_FAULT, ErrorType, RunResult, StepVerdict
from deepgym_gym.sandbox.base import VerifierOutcome

# Exit codes of results, not of processes. Source: API wire notes, 2.3: 2 is "no verdict".
_FAILED_RUN, _NO_VERDICT = 1, 2
# The agent's own actions must have taken this part of the session's time for a retired sandbox to
# be its fault.
_RETIRED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class StepJudgement:
    """What a step verifier's run means.

    With `failure`, `step()` raises, the episode ends, and `score()` returns that result. `state` is
    what the verifier wants to hand to the next one.
    """

    verdict: StepVerdict
    failure: RunResult | None = None
    state: bytes | None = None


def judge_final(outcome: VerifierOutcome, *, acted: bool) -> RunResult:
    """The result of a final verifier's run."""
    del (
        acted
    )  # A verifier's run is judged by what it touched; who acted matters when sandboxes die.
    stderr = _text(outcome.stderr)
    fault = _process_fault(outcome)
    if fault is not None:
        return _by_touch(outcome.touched, *fault, stderr)
    answer = read_final(outcome.stdout)
    if not isinstance(answer, Protocol):
        return _unusable(outcome, answer, stderr)
    code = outcome.exit_code
    # A4: the verifier says itself that it failed.
    if code == _NO_VERDICT and answer.score == 0.0 and not answer.passed:
        name = answer.error_type or ErrorType.VERIFIER_ERROR
        return _no_verdict(name, answer.details, stderr)
    # A3: an exit code that the protocol does not have, or that contradicts the JSON. A7: its score
    # is dropped.
    if code not in (0, _FAILED_RUN) or (code == _FAILED_RUN and answer.passed):
        message = (
            f"The verifier exited {code} with passed {answer.passed} and score {answer.score}."
        )
        return _by_touch(
            outcome.touched, ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR, message, stderr
        )
    # A17: a reason that the verifier itself gives.
    if answer.error_type is not None and answer.error_type not in MODEL_FAULT:
        return _no_verdict(answer.error_type, answer.details, stderr)
    if answer.error_type is not None:
        return _judged_zero(answer.error_type, answer.details, stderr)
    # A1, A2.
    return RunResult(
        score=answer.score,
        passed=answer.passed,
        output=answer.details,
        stderr=stderr,
        exit_code=code,
        reward_components=answer.reward_components,
        metrics=answer.metrics,
        seed=answer.seed,
        truncated=answer.truncated,
        cases=answer.cases,
    )


def judge_step(outcome: VerifierOutcome) -> StepJudgement:
    """What a step verifier's run means: a reward, a judged 0 after which the episode goes on, or a
    failure.
    """
    stdout, stderr = _text(outcome.stdout), _text(outcome.stderr)

    def verdict(reward: float, error_type: str | None = None, feedback: str = "") -> StepVerdict:
        return StepVerdict(
            reward=reward,
            output=stdout,
            stderr=stderr,
            exit_code=outcome.exit_code,
            error_type=error_type,
            feedback=feedback,
        )

    def fault(untouched: ErrorType, touched: ErrorType, message: str) -> StepJudgement:
        # B3, B5: after it had read the agent's output, the step is worth 0 and the episode goes on.
        if outcome.touched and not outcome.launch_failed:
            return StepJudgement(verdict(0.0, touched))
        # B4, B6: it failed by itself.
        return StepJudgement(verdict(0.0, untouched), _no_verdict(untouched, message, stderr))

    broken = _process_fault(outcome)
    if broken is not None:
        _, touched, message = broken
        return fault(ErrorType.VERIFIER_ERROR, touched, message)
    answer = read_step(outcome.stdout)
    code = outcome.exit_code
    if isinstance(answer, Invalid):
        return fault(ErrorType.INVALID_SCORE, ErrorType.SOLUTION_ERROR, answer.reason)
    if isinstance(answer, Unusable):
        return fault(ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR, answer.reason)
    declared = answer.error_type
    said_failed = code == _NO_VERDICT and answer.score == 0.0 and not answer.passed
    if said_failed or (declared is not None and declared not in MODEL_FAULT):
        message = answer.details or f"The step verifier exited {code}, error_type {declared}."
        failure = _no_verdict(ErrorType.VERIFIER_ERROR, message, stderr)
        return StepJudgement(verdict(0.0, declared or ErrorType.VERIFIER_ERROR), failure)
    contradicts = code == _FAILED_RUN and (answer.bare or answer.passed)
    if code not in (0, _FAILED_RUN) or contradicts:
        message = f"The step verifier exited {code} with score {answer.score}."
        return fault(ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR, message)
    reward = 0.0 if declared is not None else answer.score
    # B1.
    return StepJudgement(verdict(reward, declared, answer.feedback), state=answer.state)


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
    agents = False
    match kind:
        # C3, C8, B7: follows from what the agent did. C9: nothing of the agent had run.
        case (
            FailureKind.LOST
            | FailureKind.EXHAUSTED
            | FailureKind.WRITE_FAILED
            | FailureKind.OUTPUT_BLOCKED
        ):
            agents = acted
        # C7.
        case FailureKind.RETIRED:
            agents = acted and agent_share >= _RETIRED_SHARE
        # C6, C10, C16, and a box that we could not make: ours for certain.
        case (
            FailureKind.PROVIDER
            | FailureKind.UNAVAILABLE
            | FailureKind.SETUP
            | FailureKind.INTERRUPTED
        ):
            pass
    if agents:
        return _judged_zero(ErrorType.POLICY_SANDBOX_FAILURE, message, "")
    names = {
        FailureKind.SETUP: ErrorType.SETUP_ERROR,
        FailureKind.INTERRUPTED: ErrorType.INTERRUPTED,
    }
    return _no_verdict(names.get(kind, ErrorType.SANDBOX_ERROR), message, "")


def no_verifier() -> RunResult:
    """A18: the environment has no final verifier, so that trainers mask its episodes."""
    return RunResult(
        score=0.0,
        passed=False,
        exit_code=0,
        error_type=ErrorType.NO_VERIFIER,
        output="The environment has no final_verifier_code.",
    )


def _process_fault(outcome: VerifierOutcome) -> tuple[ErrorType, ErrorType, str] | None:
    """What is wrong with how the process ended: (type if untouched, type if touched, message), or
    None.
    """
    # A10: whatever it made of that, even a clean 0, is not the agent's doing.
    if outcome.launch_failed:
        return ErrorType.SANDBOX_ERROR, ErrorType.SANDBOX_ERROR, "No box for the agent's code."
    if outcome.timed_out:
        # A11, A12, and A13 for one whose output was lost.
        touched = ErrorType.SOLUTION_ERROR if outcome.output_lost else ErrorType.SOLUTION_TIMEOUT
        return ErrorType.TIMEOUT, touched, "The verifier ran into its time limit."
    if outcome.output_lost:
        return ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR, "The verifier's output was lost."
    # A8, A9.
    if outcome.signal is not None:
        message = f"The verifier was killed by signal {outcome.signal}."
        return ErrorType.VERIFIER_ERROR, ErrorType.SOLUTION_ERROR, message
    # A5, A6, A7, A23: an uncaught exception. It exits 1 like a failed run, so the exit code cannot
    # tell.
    if outcome.crash is not None:
        names = {
            "ImportError": ErrorType.IMPORT_ERROR,
            "ModuleNotFoundError": ErrorType.IMPORT_ERROR,
            "TimeoutError": ErrorType.TIMEOUT,
        }
        untouched = names.get(outcome.crash, ErrorType.RUNTIME_ERROR)
        return untouched, ErrorType.SOLUTION_ERROR, f"The verifier crashed: {outcome.crash}."
    return None


def _unusable(outcome: VerifierOutcome, answer: Invalid | Unusable, stderr: str) -> RunResult:
    # A14 for a score that is none, A8 and A9 for everything else.
    untouched = ErrorType.INVALID_SCORE if isinstance(answer, Invalid) else ErrorType.VERIFIER_ERROR
    return _by_touch(outcome.touched, untouched, ErrorType.SOLUTION_ERROR, answer.reason, stderr)


def _by_touch(
    touched: bool, if_untouched: str, if_touched: str, message: str, stderr: str
) -> RunResult:
    if touched and if_touched in MODEL_FAULT:
        return _judged_zero(if_touched, message, stderr)
    return _no_verdict(if_untouched, message, stderr)


def _no_verdict(error_type: str, message: str, stderr: str) -> RunResult:
    return RunResult(
        score=0.0,
        passed=False,
        exit_code=_NO_VERDICT,
        error_type=error_type,
        output=message,
        stderr=stderr,
    )


def _judged_zero(error_type: str, message: str, stderr: str) -> RunResult:
    return RunResult(
        score=0.0,
        passed=False,
        exit_code=_FAILED_RUN,
        error_type=error_type,
        output=message,
        stderr=stderr,
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
