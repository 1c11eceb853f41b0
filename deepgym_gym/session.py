"""`Session`: one episode in one sandbox, on the background loop.

The one implementation, which synchronous and asynchronous faces wrap. What has happened is kept by
`Progress`; whose fault a failure was is decided by `verdict`.
"""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any, Self

from deepgym_gym import limits, waiting
from deepgym_gym.acting import Deed, act
from deepgym_gym.actions import Action, ActionType, Observation, parse_action
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import (
    ActionError,
    DefinitionError,
    FailureKind,
    SandboxError,
    SandboxLostError,
    SessionStateError,
    VerifierError,
)
from deepgym_gym.progress import Progress, SessionState
from deepgym_gym.results import RunResult, StepResult
from deepgym_gym.sandbox.base import Backend, Sandbox
from deepgym_gym.starting import Start
from deepgym_gym.verdict import judge_failure
from deepgym_gym.verifier import run_final_verifier, run_step_verifier, stamped, time_limit_s
from deepgym_gym.waiting import end_sandbox, within

__all__ = ["Session", "SessionState"]


class Session(Progress):
    """The state machine of one episode; see ARCHITECTURE.md, "The episode".

    Calls queue up, in order. A call that does not fit the state raises and changes nothing. An
    action is never run twice.

    Args:
        definition: the environment.
        backend: what makes the sandbox.
        start_timeout_s: seconds in which a sandbox must have been had, tries included.
        clock: seconds that only grow; tells how long the agent's own actions took.

    Raises:
        DefinitionError: `definition` is none.

    Example:
        >>> from deepgym_gym.sandbox.backends import get_backend
        >>> Session(MultiTurnEnvironment(task="Say done."), get_backend("local")).state.value
        'new'
    """

    def __init__(
        self,
        definition: MultiTurnEnvironment,
        backend: Backend,
        *,
        start_timeout_s: float = limits.START_TIMEOUT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not isinstance(definition, MultiTurnEnvironment):
            raise DefinitionError(
                f"Expected a MultiTurnEnvironment, got {type(definition).__name__}. "
                "Make one, or load one with load_environment(name)."
            )
        super().__init__()
        self.definition = definition
        self._start = Start(definition, backend, timeout_s=start_timeout_s, session_id=self.id)
        self._clock = clock
        # Makes calls queue up, in order.
        self._lock = asyncio.Lock()
        self._close_task: asyncio.Task[None] | None = None
        # Whether closing ended the sandbox under a call: what that call then meets is our doing.
        self._cut_short = False
        self._started_at = 0.0
        self._agent_s = 0.0
        self._verifier_state: bytes | None = None
        # A forked child must not touch the sandbox, the loop and the sockets of its parent.
        self._owner = os.getpid()

    @property
    def sandbox(self) -> Sandbox | None:
        """The sandbox, from `start` on; None where there was none to be had."""
        return self._start.sandbox

    async def start(self) -> Observation:
        """Make the sandbox, write the files, run the setup; the first observation.

        Raises:
            SetupError: a setup step failed. Nothing is left behind, nor for the errors below.
            SandboxError: no sandbox was to be had in time; the message names the phase.
            SessionStateError: it was started before.
        """
        self._expect_owner()
        async with self._lock:
            self._expect(SessionState.NEW)
            self._started_at = self._clock()
            try:
                observation = await self._start.run()
            except BaseException:
                self._move(SessionState.FAILED)
                raise
            self._begin(observation)
            return observation

    async def step(self, action: Action | dict[str, Any] | str) -> StepResult:
        """Apply one action: the new observation, the step's reward, whether the episode is done.

        Raises:
            ActionError: the action was rejected; the episode goes on.
            SandboxError: the sandbox failed after the action may have run; the episode is over and
                `score()` returns `failure_result`.
            VerifierError: the step verifier failed by itself; likewise.
            SessionClosedError: the episode is over.
            SessionStateError: it has not started.
        """
        self._expect_owner()
        parsed = parse_action(action)
        async with self._lock:
            self._expect(SessionState.RUNNING)
            if parsed.action_type not in self.definition.allowed_actions:
                allowed = ", ".join(sorted(self.definition.allowed_actions))
                raise ActionError(
                    f"Action {parsed.action_type.value!r} not allowed here. Allowed: {allowed}"
                )
            try:
                return await self._step(parsed)
            except ActionError:
                raise
            except VerifierError:
                await end_sandbox(self.sandbox)
                raise
            except BaseException as error:
                self._fail(parsed, self._judge(error, "The step"))
                await end_sandbox(self.sandbox)
                raise

    async def _step(self, action: Action) -> StepResult:
        sandbox = self._live_sandbox()
        self._step_number += 1
        number, most = self._step_number, self.definition.max_steps
        last = most is not None and number >= most
        try:
            deed = await self._act(sandbox, action)
        except ActionError:
            # A rejected write uses up its step's number. Source: API wire notes, 2.3.
            if last:
                self._end(terminated=False)
            raise
        content, reward = deed.content, 0.0
        if self.definition.step_verifier_code:
            reward, feedback = await self._verify_step(sandbox, action, deed.output)
            if feedback:
                content = f"{content.rstrip()}\n{feedback}".lstrip("\n")
        done = deed.done or last
        observation = Observation(content=content, step=number, done=done, metadata=deed.metadata)
        self._advance(action, observation, reward)
        if done:
            self._end(terminated=deed.done)
        return StepResult(observation, reward, done)

    async def _act(self, sandbox: Sandbox, action: Action) -> Deed:
        """Do it, keeping account of whether the agent has acted and of the time that it took."""
        acted_before = self._acted
        self._acted = acted_before or action.action_type is not ActionType.DONE
        began = self._clock()
        try:
            return await act(sandbox, self.definition, action)
        except ActionError:
            self._acted = acted_before
            raise
        except SandboxError as error:
            self._acted = acted_before or error.may_have_run
            raise
        finally:
            self._agent_s += self._clock() - began

    async def _verify_step(
        self, sandbox: Sandbox, action: Action, output: bytes
    ) -> tuple[float, str]:
        """The step's reward, and what the verifier tells the agent."""
        judging = run_step_verifier(
            sandbox,
            self.definition,
            step_number=self._step_number,
            output=output,
            state=self._verifier_state,
        )
        judgement = await within(time_limit_s(self.definition), judging)
        verdict = self._step_verdict = judgement.verdict
        if judgement.failure is not None:
            self._fail(action, judgement.failure)
            raise VerifierError(
                f"Step verifier gave no verdict at step {self._step_number}: "
                f"{judgement.failure.output}",
                step=self._step_number,
                exit_code=verdict.exit_code,
            )
        self._verifier_state = judgement.state or self._verifier_state
        return verdict.reward, verdict.feedback

    async def score(self) -> RunResult:
        """Run the final verifier; the same result however often it is asked.

        Raises:
            SessionStateError: the episode has not started, or could not.
            SessionClosedError: it was closed.
        """
        self._expect_owner()
        async with self._lock:
            if self._state is SessionState.SCORED and self._result is not None:
                return self._result
            if self._state is SessionState.FAILED and self._failure_result is not None:
                return self._failure_result
            self._expect(SessionState.RUNNING, SessionState.ENDED)
            try:
                result = await self._scored(self._live_sandbox())
            except BaseException as error:
                self._fix(self._judge(error, "Scoring"))
                await end_sandbox(self.sandbox)
                raise
            self._settle(result)
            return result

    async def _scored(self, sandbox: Sandbox) -> RunResult:
        judging = run_final_verifier(
            sandbox,
            self.definition,
            acted=self._acted,
            agent_share=self._agent_share,
            state=self._verifier_state,
        )
        try:
            result = await within(time_limit_s(self.definition), judging)
        except SandboxError as error:
            return self._judge(error, "Scoring")
        if self._cut_short and result.error_type is not None:
            return self._judge(SandboxLostError("The session was closed."), "Scoring")
        return result

    async def close(self) -> None:
        """End the session and its sandbox.

        Waits for a running call only for a while, then ends the sandbox under it. May be called
        twice and at any time, takes a bounded time, and raises nothing for what the sandbox does.
        A caller that is cancelled does not stop it.
        """
        if self._state is SessionState.CLOSED or os.getpid() != self._owner:
            return
        if self._close_task is None or self._close_task.cancelled():
            self._closing = True
            self._close_task = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._close_task)

    async def _close(self) -> None:
        locked = await self._locked_in_time()
        if not locked:
            self._cut_short = True
            await self._start.give_up()
            # A call that still does not return has a broken backend; it is left to its own bound.
            locked = await self._locked_in_time()
        try:
            await end_sandbox(self.sandbox)
            self._move(SessionState.CLOSED)
        finally:
            if locked:
                self._lock.release()

    async def _locked_in_time(self) -> bool:
        try:
            async with asyncio.timeout(waiting.PATIENCE_S):
                return await self._lock.acquire()
        except TimeoutError:
            return False

    async def __aenter__(self) -> Self:
        """Return the session; `start` is the caller's."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    # Inside.

    def _expect_owner(self) -> None:
        if os.getpid() != self._owner:
            raise SessionStateError(
                f"The session belongs to process {self._owner}; a forked process opens its own."
            )

    def _live_sandbox(self) -> Sandbox:
        if self.sandbox is None:
            raise SandboxLostError("The session has no sandbox.", may_have_run=False)
        return self.sandbox

    def _judge(self, error: BaseException, what: str) -> RunResult:
        """The result that an error fixes. What is no failure of the sandbox is never judged."""
        if isinstance(error, SandboxError) and not self._cut_short:
            kind, message = error.kind, str(error)
        elif isinstance(error, Exception) and not self._cut_short:
            kind, message = FailureKind.UNAVAILABLE, f"{what} failed: {type(error).__name__}."
        else:
            # Cancelled, interrupted or closed: nobody knows how far it got.
            kind, message = FailureKind.INTERRUPTED, f"{what} was interrupted."
        result = judge_failure(
            kind, acted=self._acted, agent_share=self._agent_share(), message=message
        )
        return result if self.sandbox is None else stamped(result, self.sandbox)

    def _agent_share(self) -> float:
        """The part of the session's time so far that the agent's own actions took."""
        return self._agent_s / max(1e-9, self._clock() - self._started_at)
