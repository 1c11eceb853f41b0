"""What an episode leaves: `RunResult`, `CaseResult`, `StepResult`, `StepVerdict`, `Trajectory`."""

from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from deepgym_gym.actions import Action, Observation


class ErrorType(StrEnum):
    """The values of `RunResult.error_type` that this package gives by itself."""

    # The agent's fault: a judged 0. Source: reward contract, "Model-fault names".
    INVALID_PATCH = "invalid_patch"
    PATCH_APPLY_FAILED = "patch_apply_failed"
    TEST_INFRA_TAMPERING = "test_infra_tampering"
    POLICY_SANDBOX_FAILURE = "policy_sandbox_failure"
    SOLUTION_TIMEOUT = "solution_timeout"
    SOLUTION_ERROR = "solution_error"
    # Not the agent's fault: no verdict.
    RUNTIME_ERROR = "runtime_error"
    IMPORT_ERROR = "import_error"
    TIMEOUT = "timeout"
    INVALID_SCORE = "invalid_score"
    VERIFIER_ERROR = "verifier_error"
    SANDBOX_ERROR = "sandbox_error"
    NO_VERIFIER = "no_verifier"
    SETUP_ERROR = "setup_error"
    INTERRUPTED = "interrupted"


MODEL_FAULT = frozenset(
    {
        ErrorType.INVALID_PATCH,
        ErrorType.PATCH_APPLY_FAILED,
        ErrorType.TEST_INFRA_TAMPERING,
        ErrorType.POLICY_SANDBOX_FAILURE,
        ErrorType.SOLUTION_TIMEOUT,
        ErrorType.SOLUTION_ERROR,
    }
)

Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CaseResult(_Model):
    """One test case of a verifier."""

    passed: bool
    id: str = ""
    score: Score = 0.0
    input_summary: str = ""
    expected_summary: str = ""
    actual_summary: str = ""
    error: str | None = None
    execution_time_ms: Finite = 0.0


class RunResult(_Model):
    """The result of scoring an episode: a verdict, or the reason why there is none.

    `score` means something only where `has_verdict` is true. `stderr` is the verifier's.
    """

    score: Score
    passed: bool
    output: str = ""
    stderr: str = ""
    exit_code: int = 0
    execution_time_ms: Finite = 0.0
    sandbox_id: str = ""
    reward_components: dict[str, Finite] | None = None
    metrics: dict[str, Any] | None = None
    seed: int | None = None
    truncated: bool = False
    error_type: str | None = None
    cases: tuple[CaseResult, ...] | None = None
    isolation: str | None = None

    @property
    def has_verdict(self) -> bool:
        """Whether the score is a judgement on the agent, so that a trainer may use it.

        Source: API wire notes, RunResult.
        """
        return self.exit_code != 2 and (self.error_type is None or self.error_type in MODEL_FAULT)


class StepVerdict(_Model):
    """What the step verifier of one step did: `reward`, its last output and its exit code.

    `feedback` is what it told the agent, where the definition lets it (`verifier_feedback`).
    """

    reward: Finite
    output: str = ""
    stderr: str = ""
    exit_code: int | None = None
    error_type: str | None = None
    feedback: str = ""


class StepResult(NamedTuple):
    """What `step` returns; unpacks as `observation, reward, done`."""

    observation: Observation
    reward: float
    done: bool


class Trajectory(_Model):
    """Every (observation before the action, action) pair of an episode, and the step rewards.

    `step_rewards` is one shorter than `steps` where the last step failed after its action may have
    run.
    """

    steps: tuple[tuple[Observation, Action], ...] = ()
    final_observation: Observation | None = None
    step_rewards: tuple[float, ...] = ()

    @property
    def total_reward(self) -> float:
        """The sum of the step rewards."""
        return float(sum(self.step_rewards))
