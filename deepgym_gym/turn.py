"""One action in an episode as Gymnasium needs it: what failed is data, not an exception.

It is separate from the environment because it is about one session and one action, whoever asks:
one environment, or one that drives many.
"""

from typing import Any, NamedTuple

from deepgym_gym.actions import Action, Observation, parse_action
from deepgym_gym.errors import ActionError, SandboxError, VerifierError
from deepgym_gym.playing import rejected_observation
from deepgym_gym.results import RunResult
from deepgym_gym.session import Session, SessionState

# A rejection may quote the agent, who may have said megabytes.
MAX_REJECTION_CHARS = 4096
# The largest number that NumPy's integers, and so the infos of vector environments, can hold.
_MAX_INFO_INT = (1 << 63) - 1


class Turn(NamedTuple):
    """What became of one action.

    `result` is None while the episode goes on; `failed` says that the step itself failed, so that
    its reward is none either; `rejection` why the action was rejected; `error_type` is the step
    verifier's.
    """

    observation: Observation
    reward: float = 0.0
    result: RunResult | None = None
    failed: bool = False
    rejection: str | None = None
    error_type: str | None = None

    def info(self, variant: int, *, reward_valid: bool) -> dict[str, Any]:
        """Return the step's info, as `SandboxEnv` describes it: fresh objects each time.

        Each value keeps its type from step to step, since vector environments make arrays of them:
        what would be None beside a number is left out instead.
        """
        result, error_type = self.result, self.error_type
        if result is not None:
            # The same for equal episodes.
            result = result.model_copy(update={"execution_time_ms": 0.0, "sandbox_id": ""})
            error_type = result.error_type
        info: dict[str, Any] = {
            "score": float(result.score) if result else 0.0,
            "passed": bool(result and result.passed),
            "has_verdict": bool(result and result.has_verdict),
            "reward_valid": reward_valid,
            "error_type": None if error_type is None else str(error_type),
            "action_error": self.rejection,
            "result": result,
            "timed_out": False,
        }
        if variant <= _MAX_INFO_INT:
            info["variant"] = variant
        metadata = self.observation.metadata or {}
        return info | {name: fact for name, fact in metadata.items() if fact is not None}


def parsed_action(action: Action | dict[str, Any] | str) -> tuple[Action | None, str | None]:
    """Return the action, or why what an agent said is none.

    Raises:
        ActionError: it is of a type that no agent's words can have.
    """
    try:
        return parse_action(action), None
    except ActionError as error:
        if not isinstance(action, Action | dict | str):
            raise
        return None, str(error)


async def advance(
    session: Session, action: Action | None, rejection: str | None, *, last_chance: bool
) -> Turn:
    """One step, and the score if it ended the episode.

    Source: reward contract, rules C1, C2, C5 and E1.

    Args:
        session: it is running.
        action: None where it was rejected for what it is.
        rejection: why it was.
        last_chance: end the episode if the action is rejected.

    Raises:
        SessionClosedError: the session was closed meanwhile.
    """
    reward, failed = 0.0, False
    observation: Observation | None = None
    verdict_before = session.step_verdict
    if action is not None:
        try:
            observation, reward, _ = await session.step(action)
        except ActionError as error:
            rejection = str(error)
        except (SandboxError, VerifierError):
            failed = True
    result: RunResult | None = None
    if failed and session.failure_result is not None:
        # Also where `close` came from another thread, after which nothing can be scored.
        result = session.failure_result
    elif session.state is not SessionState.RUNNING or (rejection is not None and last_chance):
        result = await session.score()
    if rejection is not None:
        rejection = _shown(rejection)
        observation = rejected_observation(rejection, session.step_number)
    elif observation is None:
        why = result.error_type if result else None
        observation = Observation(content=f"[the episode ended: {why}]", step=session.step_number)
    verdict = session.step_verdict
    error_type = verdict.error_type if verdict and verdict is not verdict_before else None
    return Turn(observation, reward, result, failed, rejection, error_type)


def _shown(rejection: str) -> str:
    return rejection[:MAX_REJECTION_CHARS].encode("utf-8", "replace").decode()
