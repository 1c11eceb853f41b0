"""Running an environment's verifiers in a sandbox and having them judged.

Separate from `verdict`, which decides and does nothing else: here is what is asked of the sandbox,
and which row its answer, or its failure, goes to.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import FailureKind, SandboxError
from deepgym_gym.results import RunResult
from deepgym_gym.sandbox.base import Sandbox, VerifyRequest
from deepgym_gym.verdict import (
    StepJudgement,
    final_verifier_never_ran,
    judge_failure,
    judge_final,
    judge_step,
    no_verifier,
    step_verifier_never_ran,
)


def _no_share() -> float:
    return 0.0


async def run_final_verifier(
    sandbox: Sandbox,
    definition: MultiTurnEnvironment,
    *,
    acted: bool,
    agent_share: Callable[[], float] = _no_share,
    state: bytes | None = None,
) -> RunResult:
    """Score the work folder. Never raises for what a verifier or the sandbox under it did.

    Args:
        sandbox: where the agent worked.
        definition: its environment.
        acted: whether an action of the agent may have run.
        agent_share: gives the part (0 to 1) of the session's time until now that the agent's own
            actions took; asked only where the sandbox fails.
        state: what the last step verifier left, for environments with `verifier_feedback`.

    Returns:
        The result, with `sandbox_id`, `isolation` (the backend's name, or "none" where it does not
        isolate) and `execution_time_ms` (the whole call).
    """
    started = time.perf_counter()
    result = await _final_result(sandbox, definition, acted, agent_share, state)
    return stamped(result, sandbox, _since_ms(started))


async def _final_result(
    sandbox: Sandbox,
    definition: MultiTurnEnvironment,
    acted: bool,
    agent_share: Callable[[], float],
    state: bytes | None,
) -> RunResult:
    if not definition.final_verifier_code:
        return no_verifier()
    request = VerifyRequest(
        code=definition.final_verifier_code,
        timeout_s=time_limit_s(definition),
        final=True,
        keep_processes=definition.keep_processes,
        state=_given(definition, state),
    )
    try:
        outcome = await sandbox.verify(request)
    except SandboxError as error:
        if error.kind is FailureKind.UNAVAILABLE:
            return final_verifier_never_ran(str(error))
        return judge_failure(error.kind, acted=acted, agent_share=agent_share(), message=str(error))
    return judge_final(outcome, acted=acted)


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

    Returns:
        What the run means; a `failure` is filled in as `run_final_verifier` fills in its result.

    Raises:
        SandboxError: the agent's sandbox failed under it; `judge_failure` has the row for that.
    """
    started = time.perf_counter()
    request = VerifyRequest(
        code=definition.step_verifier_code or "",
        timeout_s=time_limit_s(definition),
        final=False,
        keep_processes=definition.keep_processes,
        step_output=output,
        step_number=step_number,
        state=_given(definition, state),
    )
    try:
        outcome = await sandbox.verify(request)
    except SandboxError as error:
        if error.kind is not FailureKind.UNAVAILABLE:
            raise
        judgement = step_verifier_never_ran(str(error))
    else:
        judgement = judge_step(outcome, verifier_feedback=definition.verifier_feedback)
    if judgement.failure is None:
        return judgement
    return replace(judgement, failure=stamped(judgement.failure, sandbox, _since_ms(started)))


def stamped(result: RunResult, sandbox: Sandbox, time_ms: float = 0.0) -> RunResult:
    """A result that says where it comes from: `sandbox_id`, `isolation`, `execution_time_ms`."""
    capabilities = sandbox.capabilities
    return result.model_copy(
        update={
            "sandbox_id": sandbox.id,
            "isolation": capabilities.backend if capabilities.isolated else "none",
            "execution_time_ms": time_ms,
        }
    )


def _since_ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def time_limit_s(definition: MultiTurnEnvironment) -> float:
    """How many seconds a verifier of the environment has."""
    # Source: API wire notes, 2.4: a verifier's budget is `timeout_per_step`.
    return definition.verifier_timeout or definition.timeout_per_step


def _given(definition: MultiTurnEnvironment, state: bytes | None) -> bytes | None:
    if not definition.verifier_feedback:
        return None
    return b"null" if state is None else state
