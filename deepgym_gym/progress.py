"""What an episode has come to: its state, its trajectory and its result.

Pure bookkeeping without a sandbox, separate from `session`, which does what is recorded here.
"""

import uuid
from enum import StrEnum

from deepgym_gym.actions import Action, Observation
from deepgym_gym.errors import SessionClosedError, SessionStateError
from deepgym_gym.results import RunResult, StepVerdict, Trajectory


class SessionState(StrEnum):
    """Where an episode is. See ARCHITECTURE.md, "The episode"."""

    NEW = "new"
    RUNNING = "running"
    ENDED = "ended"
    SCORED = "scored"
    FAILED = "failed"
    CLOSED = "closed"


class Progress:
    """The record of one episode. It may be read at any time and from any thread."""

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex
        self._state = SessionState.NEW
        # Set for good when closing begins: calls that were queued by then are refused.
        self._closing = False
        self._acted = False
        self._terminated = False
        self._truncated = False
        self._step_number = 0
        self._observation: Observation | None = None
        self._steps: list[tuple[Observation, Action]] = []
        self._rewards: list[float] = []
        self._step_verdict: StepVerdict | None = None
        self._failure_result: RunResult | None = None
        self._result: RunResult | None = None

    @property
    def state(self) -> SessionState:
        """Where the episode is."""
        return self._state

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
        """Whether a limit, its caller, or a failure not the agent's ended the episode."""
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
        """The result that a failed step, or an interrupted scoring, fixed; None if there was
        none.
        """
        return self._failure_result

    # The guard, and the ways from state to state.

    def _expect(self, *states: SessionState) -> None:
        if self._state is SessionState.CLOSED or self._closing:
            raise SessionClosedError("The session is closed; open a new one for another episode.")
        if self._state in states:
            return
        if self._state is SessionState.NEW:
            raise SessionStateError("The session has not started; call start() first.")
        if self._state is SessionState.RUNNING:
            raise SessionStateError("The session is already running: one session, one episode.")
        raise SessionClosedError(
            f"The session is not running: its episode is over (state {self._state.value}). "
            "Open a new session for another one."
        )

    def _move(self, state: SessionState) -> None:
        # A call that close() did not wait for changes nothing any more.
        if self._state is not SessionState.CLOSED:
            self._state = state

    def _begin(self, observation: Observation) -> None:
        self._observation = observation
        self._move(SessionState.RUNNING)

    def _advance(self, action: Action, observation: Observation, reward: float) -> None:
        self._steps.append((self._before(), action))
        self._rewards.append(reward)
        self._observation = observation

    def _end(self, *, terminated: bool) -> None:
        self._terminated = terminated
        self._truncated = not terminated
        self._move(SessionState.ENDED)

    def _fail(self, action: Action, failure: RunResult) -> None:
        """A step failed after its action may have run: it stays, without a reward."""
        self._steps.append((self._before(), action))
        self._fix(failure)

    def _fix(self, failure: RunResult) -> None:
        self._failure_result = failure
        self._terminated = failure.has_verdict
        self._truncated = not failure.has_verdict
        self._move(SessionState.FAILED)

    def _settle(self, result: RunResult) -> None:
        if self._state is SessionState.RUNNING:
            # Its caller ended the episode, which is no rule of the task.
            self._truncated = True
        self._result = result
        self._move(SessionState.SCORED)

    def _before(self) -> Observation:
        if self._observation is None:
            raise SessionStateError("The session has not started; call start() first.")
        return self._observation
