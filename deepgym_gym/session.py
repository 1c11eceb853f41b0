"""`Session`: the state machine of one episode, on the background loop. The one implementation;
faces wrap it.
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any

from deepgym_gym import limits, observe
from deepgym_gym.actions import Action, ActionType, Observation, parse_action
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import (
    ActionError,
    DefinitionError,
    FailureKind,
    ProviderError,
    SandboxError,
    SandboxLostError,
    SandboxTimeoutError,
    SandboxUnavailableError,
    SandboxWriteError,
    SessionClosedError,
    SessionStateError,
    SetupError,
    VerifierError,
)
from deepgym_gym.results import RunResult, StepResult, StepVerdict, Trajectory
from deepgym_gym.sandbox.base import Backend, ExecResult, Sandbox, SandboxSpec
from deepgym_gym.verdict import judge_failure
from deepgym_gym.verifier import run_final_verifier, run_step_verifier

_log = logging.getLogger(__name__)

# Failures of a start that may pass, so that another try is worth it. Source: reward contract, rule
# E3.
_RETRYABLE = (ProviderError, SandboxLostError, SandboxTimeoutError, SandboxUnavailableError)
_START_TRIES = 3
_FIRST_PAUSE_S = 0.05
# How much of a failed setup step's output goes into its error.
_SETUP_TAIL = 2000


class SessionState(StrEnum):
    """Where an episode is. See ARCHITECTURE.md, "The episode"."""

    NEW = "new"
    RUNNING = "running"
    ENDED = "ended"
    SCORED = "scored"
    FAILED = "failed"
    CLOSED = "closed"


class Session:
    """One episode in one sandbox. Calls queue up; all of it runs on the background loop.

    Args:
        definition: the environment.
        backend: what makes the sandbox.
        start_timeout_s: seconds in which a sandbox must have been had, tries included.
    """

    def __init__(
        self,
        definition: MultiTurnEnvironment,
        backend: Backend,
        *,
        start_timeout_s: float = limits.START_TIMEOUT_S,
    ) -> None:
        if not isinstance(definition, MultiTurnEnvironment):
            raise DefinitionError(
                f"Expected a MultiTurnEnvironment, got {type(definition).__name__}. "
                "Make one, or load one with load_environment(name)."
            )
        self.id = uuid.uuid4().hex
        self.definition = definition
        self._backend = backend
        self._start_timeout_s = start_timeout_s
        # Makes calls queue up, in order.
        self._lock = asyncio.Lock()
        self._state = SessionState.NEW
        self._closing = False
        self._sandbox: Sandbox | None = None
        self._started_at = 0.0
        self._agent_s = 0.0
        self._acted = False
        self._terminated = False
        self._truncated = False
        self._step_number = 0
        self._observation: Observation | None = None
        self._steps: list[tuple[Observation, Action]] = []
        self._rewards: list[float] = []
        self._step_verdict: StepVerdict | None = None
        self._verifier_state: bytes | None = None
        self._failure_result: RunResult | None = None
        self._result: RunResult | None = None

    # What can be asked at any time.

    @property
    def state(self) -> SessionState:
        """Where the episode is."""
        return self._state

    @property
    def sandbox(self) -> Sandbox | None:
        """The sandbox, from `start` to `close`."""
        return self._sandbox

    @property
    def acted(self) -> bool:
        """Whether an action of the agent may have run in the sandbox."""
        return self._acted

    @property
    def terminated(self) -> bool:
        """Whether the task's own rules, or a sandbox that the agent broke, ended the episode."""
        return self._terminated

    @property
    def truncated(self) -> bool:
        """Whether a limit, or a failure that is not the agent's, ended the episode."""
        return self._truncated

    @property
    def step_number(self) -> int:
        """The number of the last step, 0 before the first."""
        return self._step_number

    @property
    def trajectory(self) -> Trajectory:
        """Every (observation, action) pair so far, and the step rewards."""
        return Trajectory(
            steps=tuple(self._steps),
            final_observation=self._observation,
            step_rewards=tuple(self._rewards),
        )

    @property
    def step_verdict(self) -> StepVerdict | None:
        """The last output and exit code of the step verifier."""
        return self._step_verdict

    @property
    def failure_result(self) -> RunResult | None:
        """The result that a failed step fixed, if one did."""
        return self._failure_result

    # Start.

    async def start(self) -> Observation:
        """Make the sandbox, write the files, run the setup; the first observation.

        Raises:
            SetupError: a setup step failed. Nothing is left behind, nor for the errors below.
            SandboxError: no sandbox was to be had in time; the message names the phase.
            SessionStateError: it was started before.
        """
        async with self._lock:
            self._expect(SessionState.NEW)
            try:
                observation = await self._start_with_retries()
            except BaseException:
                self._state = SessionState.FAILED
                await self._stop_sandbox()
                raise
            self._state = SessionState.RUNNING
            self._started_at = time.monotonic()
            self._observation = observation
            return observation

    async def _start_with_retries(self) -> Observation:
        phase = ["creating the sandbox"]
        deadline = time.monotonic() + self._start_timeout_s
        pause_s = _FIRST_PAUSE_S
        for attempt in range(1, _START_TRIES + 1):
            try:
                return await self._try_to_start(phase, deadline)
            except _RETRYABLE as error:
                await self._stop_sandbox()
                _log.warning("session %s: %s failed: %s", self.id, phase[0], error)
                if attempt == _START_TRIES or time.monotonic() + pause_s > deadline:
                    raise type(error)(f"Start failed while {phase[0]}: {error}") from error
            await asyncio.sleep(pause_s)
            pause_s *= 4
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _try_to_start(self, phase: list[str], deadline: float) -> Observation:
        definition = self.definition
        phase[0] = "creating the sandbox"
        left = deadline - time.monotonic()
        try:
            async with asyncio.timeout(left):
                sandbox = await self._backend.start(SandboxSpec.of(definition))
        except TimeoutError as error:
            if isinstance(error, SandboxTimeoutError):
                raise
            raise SandboxTimeoutError(
                f"no sandbox within {self._start_timeout_s:g} s; is the machine overloaded?"
            ) from None
        self._sandbox = sandbox
        phase[0] = "writing the environment's files"
        for path, text in definition.files.items():
            try:
                await sandbox.write(path, text.encode("utf-8", "surrogateescape"))
            except (ActionError, SandboxWriteError) as error:
                raise SetupError(
                    f"Could not write the environment's file {path!r}: {error}"
                ) from error
        content = ""
        for name, source, run in (
            ("Setup script", definition.setup_script, sandbox.exec),
            ("Setup code", definition.setup_code, sandbox.code),
        ):
            if source:
                phase[0] = f"running the {name.lower()}"
                content = await self._set_up(name, source, run)
        return Observation(content=content)

    async def _set_up(
        self, name: str, source: str, run: Callable[[str, float], Awaitable[ExecResult]]
    ) -> str:
        timeout_s = self.definition.setup_timeout
        result = await run(source, timeout_s)
        content = observe.content_of(result, timeout_s, self._output_bytes)
        if result.timed_out:
            raise SetupError(f"{name} timed out after {timeout_s:g}s: {content[-_SETUP_TAIL:]}")
        if result.exit_code != 0:
            raise SetupError(
                f"{name} exited {result.exit_code}: {content[-_SETUP_TAIL:]}",
                exit_code=result.exit_code,
            )
        return content

    # Step.

    async def step(self, action: Action | dict[str, Any] | str) -> StepResult:
        """Apply one action: the new observation, the step's reward, and whether the episode is
        done.

        Raises:
            ActionError: the action was rejected; the episode goes on.
            SandboxError: the sandbox failed after the action may have run; the episode is over and
            `score()`
                returns `failure_result`.
            VerifierError: the step verifier failed by itself; likewise.
            SessionClosedError: the episode is over.
            SessionStateError: it has not started.
        """
        parsed = parse_action(action)
        async with self._lock:
            self._expect(SessionState.RUNNING)
            if parsed.action_type not in self.definition.allowed_actions:
                allowed = ", ".join(sorted(self.definition.allowed_actions))
                raise ActionError(
                    f"Action {parsed.action_type.value!r} not allowed here. Allowed: {allowed}"
                )
            before = self._observation
            if before is None:
                raise SessionStateError("The session has no observation.")
            try:
                return await self._step(before, parsed)
            except ActionError:
                raise
            except SandboxError as error:
                await self._fail(before, parsed, self._judge(error.kind, str(error)))
                raise
            except VerifierError:
                await self._stop_sandbox()
                raise
            except BaseException:
                # Cancelled or interrupted: nobody knows how far the action got.
                failure = self._judge(FailureKind.INTERRUPTED, "The step was interrupted.")
                await self._fail(before, parsed, failure)
                raise

    async def _step(self, before: Observation, action: Action) -> StepResult:
        sandbox = self._live_sandbox()
        self._step_number += 1
        last = (
            self.definition.max_steps is not None and self._step_number >= self.definition.max_steps
        )
        started = time.monotonic()
        try:
            content, metadata, output, done = await self._act(sandbox, action)
        except ActionError:
            if last:
                self._end(terminated=False)
            raise
        finally:
            self._agent_s += time.monotonic() - started
        reward = 0.0
        if self.definition.step_verifier_code:
            judgement = await run_step_verifier(
                sandbox,
                self.definition,
                step_number=self._step_number,
                output=output,
                state=self._verifier_state,
            )
            self._step_verdict = judgement.verdict
            if judgement.failure is not None:
                self._record_failure(before, action, judgement.failure)
                raise VerifierError(
                    f"Step verifier gave no verdict at step {self._step_number}: "
                    f"{judgement.failure.output}",
                    step=self._step_number,
                    exit_code=judgement.verdict.exit_code,
                )
            reward = judgement.verdict.reward
            if self.definition.verifier_feedback:
                self._verifier_state = judgement.state or self._verifier_state
                if judgement.verdict.feedback:
                    content = f"{content.rstrip()}\n{judgement.verdict.feedback}".lstrip("\n")
        observation = Observation(
            content=content, step=self._step_number, done=done or last, metadata=metadata
        )
        self._steps.append((before, action))
        self._rewards.append(reward)
        self._observation = observation
        if done or last:
            self._end(terminated=done)
        return StepResult(observation, reward, done or last)

    async def _act(
        self, sandbox: Sandbox, action: Action
    ) -> tuple[str, dict[str, Any] | None, bytes, bool]:
        """Do it: the observation's text and metadata, the raw output, and whether that ends the
        episode.
        """
        if action.action_type is ActionType.DONE:
            return "", None, b"", True
        if action.action_type is ActionType.WRITE_FILE:
            path = action.path or ""
            data = action.content.encode("utf-8", "surrogatepass")
            # A rejected write has changed nothing; a failed one follows from what the agent did
            # before, or now.
            acted_before, self._acted = self._acted, True
            try:
                await sandbox.write(path, data)
            except ActionError:
                self._acted = acted_before
                raise
            content = f"wrote {path}".encode("utf-8", "replace").decode()
            return content, None, content.encode(), False
        self._acted = True
        timeout_s = self.definition.timeout_per_step
        if action.action_type is ActionType.CODE:
            result = await sandbox.code(action.content, timeout_s)
        else:
            persistent = self.definition.persistent_shell
            result = await sandbox.exec(action.content, timeout_s, persistent=persistent)
        content = observe.content_of(result, timeout_s, self._output_bytes)
        output = result.stdout + result.stderr
        return content, observe.metadata_of(result), output, observe.says_done(result)

    # Score and close.

    async def score(self) -> RunResult:
        """Run the final verifier; the same result however often it is asked.

        Raises:
            SessionStateError: the episode has not started, or could not.
            SessionClosedError: it was closed.
        """
        async with self._lock:
            if self._result is not None and self._state is not SessionState.CLOSED:
                return self._result
            if self._state is SessionState.FAILED and self._failure_result is not None:
                self._result = self._failure_result
                return self._result
            self._expect(SessionState.RUNNING, SessionState.ENDED)
            try:
                result = await run_final_verifier(
                    self._live_sandbox(),
                    self.definition,
                    acted=self._acted,
                    agent_share=self._agent_share,
                    state=self._verifier_state,
                )
            except BaseException:
                self._failure_result = self._judge(
                    FailureKind.INTERRUPTED, "Scoring was interrupted."
                )
                self._state = SessionState.FAILED
                await self._stop_sandbox()
                raise
            if self._closing and not result.has_verdict:
                result = self._judge(
                    FailureKind.INTERRUPTED, "The session was closed while scoring."
                )
            self._result = result
            self._state = SessionState.SCORED
            return result

    async def close(self) -> None:
        """End the session and its sandbox. Idempotent, bounded, never raises for what the sandbox
        does.
        """
        if self._state is SessionState.CLOSED:
            return
        self._closing = True
        try:
            async with asyncio.timeout(limits.CLOSE_TIMEOUT_S / 2):
                await self._lock.acquire()
        except TimeoutError:
            # A step or verifier is running and may go on for long: it loses its sandbox.
            await self._stop_sandbox()
            await self._lock.acquire()
        try:
            await self._stop_sandbox()
            self._state = SessionState.CLOSED
        finally:
            self._lock.release()

    async def __aenter__(self) -> "Session":
        """Return the session; `start` is the caller's."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    # Inside.

    @property
    def _output_bytes(self) -> int:
        return self.definition.output_kb * limits.KIB

    def _live_sandbox(self) -> Sandbox:
        if self._sandbox is None:
            raise SandboxLostError("The session has no sandbox.")
        return self._sandbox

    def _expect(self, *states: SessionState) -> None:
        if self._state in states:
            return
        if self._state is SessionState.NEW:
            raise SessionStateError("The session has not started; call start() first.")
        if self._state is SessionState.RUNNING:
            raise SessionStateError("The session is already running: one session, one episode.")
        reason = "closed" if self._state is SessionState.CLOSED else "over"
        raise SessionClosedError(
            f"The session is {reason} (state {self._state.value}); "
            "open a new one for another episode."
        )

    def _judge(self, kind: FailureKind, message: str) -> RunResult:
        if self._closing and kind is FailureKind.LOST:
            kind = FailureKind.INTERRUPTED
        sandbox = self._sandbox
        result = judge_failure(
            kind, acted=self._acted, agent_share=self._agent_share(), message=message
        )
        isolated = sandbox is not None and sandbox.capabilities.isolated
        return result.model_copy(
            update={
                "sandbox_id": sandbox.id if sandbox else "",
                "isolation": sandbox.capabilities.backend if sandbox and isolated else "none",
            }
        )

    def _agent_share(self) -> float:
        """The part of the session's time so far that the agent's own actions took."""
        return self._agent_s / max(1e-9, time.monotonic() - self._started_at)

    def _record_failure(self, before: Observation, action: Action, failure: RunResult) -> None:
        self._steps.append((before, action))
        self._failure_result = failure
        self._state = SessionState.FAILED
        self._terminated = failure.has_verdict
        self._truncated = not failure.has_verdict

    async def _fail(self, before: Observation, action: Action, failure: RunResult) -> None:
        self._record_failure(before, action, failure)
        await self._stop_sandbox()

    def _end(self, *, terminated: bool) -> None:
        self._state = SessionState.ENDED
        self._terminated = terminated
        self._truncated = not terminated

    async def _stop_sandbox(self) -> None:
        if self._sandbox is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(self._sandbox.stop())
