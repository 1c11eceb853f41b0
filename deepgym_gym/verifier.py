"""Running an environment's verifiers in a sandbox and having them judged."""

import time

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import SandboxError, SandboxUnavailableError
from deepgym_gym.results import ErrorType, RunResult
from deepgym_gym.sandbox.base import Sandbox, VerifierOutcome, VerifyRequest
from deepgym_gym.verdict import StepJudgement, judge_failure, judge_final, judge_step, no_verifier

# What a step verifier that could not be started at all is: killed, untouched, nothing said.
_NEVER_RAN = VerifierOutcome(exit_code=None, signal=9)


async def run_final_verifier(
    sandbox: Sandbox,
    definition: MultiTurnEnvironment,
    *,
    acted: bool,
    state: bytes | None = None,
) -> RunResult:
    """Score the work folder. Never raises for what a verifier or the sandbox under it did.

    Args:
        sandbox: where the agent worked.
        definition: its environment.
        acted: whether an action of the agent may have run.
        state: what the last step verifier left, for environments with `verifier_feedback`.
    """
    if not definition.final_verifier_code:
        return no_verifier()
    started = time.perf_counter()
    request = VerifyRequest(
        code=definition.final_verifier_code,
        timeout_s=definition.verifier_timeout or definition.timeout_per_step,
        final=True,
        keep_processes=definition.keep_processes,
        state=_given(definition, state),
    )
    try:
        result = judge_final(await sandbox.verify(request), acted=acted)
    except SandboxUnavailableError as error:
        # The verifier's box, which the agent cannot reach.
        failed = judge_failure(error.kind, acted=acted, message=str(error))
        result = failed.model_copy(update={"error_type": ErrorType.VERIFIER_ERROR})
    except SandboxError as error:
        # A19.
        result = judge_failure(error.kind, acted=acted, message=str(error))
    return result.model_copy(
        update={
            "sandbox_id": sandbox.id,
            "execution_time_ms": (time.perf_counter() - started) * 1000,
            "isolation": sandbox.capabilities.backend if sandbox.capabilities.isolated else "none",
        }
    )


async def run_step_verifier(
    sandbox: Sandbox,
    definition: MultiTurnEnvironment,
    *,
    step_number: int,
    output: bytes,
    state: bytes | None = None,
) -> StepJudgement:
    """Judge one step.

    Args:
        sandbox: where the agent works.
        definition: its environment, which must have a `step_verifier_code`.
        step_number: from 1.
        output: what the step's action printed.
        state: what the step verifier before it left.

    Raises:
        SandboxError: the agent's sandbox was lost under it.
    """
    request = VerifyRequest(
        code=definition.step_verifier_code or "",
        timeout_s=definition.verifier_timeout or definition.timeout_per_step,
        final=False,
        keep_processes=definition.keep_processes,
        step_output=output,
        step_number=step_number,
        state=_given(definition, state),
    )
    try:
        outcome = await sandbox.verify(request)
    except SandboxUnavailableError:
        outcome = _NEVER_RAN
    return judge_step(outcome)


def _given(definition: MultiTurnEnvironment, state: bytes | None) -> bytes | None:
    if not definition.verifier_feedback:
        return None
    return b"null" if state is None else state
