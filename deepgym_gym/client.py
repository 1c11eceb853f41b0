"""`DeepGym` and `AsyncDeepGym`: sessions in two faces over the one engine."""

from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self

from deepgym_gym import loop
from deepgym_gym.actions import Observation
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import ActionError, SandboxError, VerifierError
from deepgym_gym.playing import (
    MAX_REJECTED,
    ActionLike,
    AsyncAgent,
    play_episode,
    rejected_observation,
)
from deepgym_gym.results import RunResult, StepResult, StepVerdict, Trajectory
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.session import Session, SessionState

Agent = Callable[[Observation], ActionLike]


class Episode(NamedTuple):
    """What `run_episode` returns; unpacks as `trajectory, result`."""

    trajectory: Trajectory
    result: RunResult


class _Face:
    """What both faces show of a session without waiting."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def id(self) -> str:
        """The session's unique id."""
        return self._session.id

    @property
    def state(self) -> SessionState:
        """Where the episode is."""
        return self._session.state

    @property
    def terminated(self) -> bool:
        """Whether the task's own rules, or a sandbox that the agent broke, ended the episode."""
        return self._session.terminated

    @property
    def truncated(self) -> bool:
        """Whether a limit, its caller, or a failure not the agent's ended the episode."""
        return self._session.truncated

    @property
    def acted(self) -> bool:
        """Whether an action of the agent may have run in the sandbox."""
        return self._session.acted

    @property
    def step_number(self) -> int:
        """The number of the last step, 0 before the first."""
        return self._session.step_number

    @property
    def trajectory(self) -> Trajectory:
        """Every (observation, action) pair so far, and the step rewards."""
        return self._session.trajectory

    @property
    def step_verdict(self) -> StepVerdict | None:
        """The last output and exit code of the step verifier."""
        return self._session.step_verdict

    @property
    def failure_result(self) -> RunResult | None:
        """The result that a failed step fixed, if one did."""
        return self._session.failure_result


class SyncSession(_Face):
    """A session whose calls wait. A context manager that closes it. Raises: as `Session`."""

    def start(self) -> Observation:
        """Make the sandbox and run the setup; the first observation."""
        return loop.run(self._session.start())

    def step(self, action: ActionLike) -> StepResult:
        """Apply one action; unpacks as `observation, reward, done`."""
        return loop.run(self._session.step(action))

    def score(self) -> RunResult:
        """Run the final verifier; the same result however often it is asked."""
        return loop.run(self._session.score())

    def close(self) -> None:
        """End the session and its sandbox; may be called twice, and from any thread."""
        if not loop.is_over():
            loop.run(self._session.close())

    def __enter__(self) -> Self:
        """Return the session; `start` is the caller's."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


class AsyncSession(_Face):
    """A session whose calls are awaited, from any event loop. Raises: as `Session`."""

    async def start(self) -> Observation:
        """Make the sandbox and run the setup; the first observation."""
        return await loop.bridge(self._session.start())

    async def step(self, action: ActionLike) -> StepResult:
        """Apply one action; unpacks as `observation, reward, done`."""
        return await loop.bridge(self._session.step(action))

    async def score(self) -> RunResult:
        """Run the final verifier; the same result however often it is asked."""
        return await loop.bridge(self._session.score())

    async def close(self) -> None:
        """End the session and its sandbox; may be called twice."""
        if not loop.is_over():
            await loop.bridge(self._session.close())

    async def __aenter__(self) -> Self:
        """Return the session; `start` is the caller's."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()


class _Opener:
    """What both clients are made of: the name of a backend that exists."""

    def __init__(self, mode: str = "auto") -> None:
        get_backend(mode)
        self.mode = mode

    def __repr__(self) -> str:
        """How it was made."""
        return f"{type(self).__name__}(mode={self.mode!r})"

    def _open(self, env: MultiTurnEnvironment) -> Session:
        return Session(env, get_backend(self.mode))


class DeepGym(_Opener):
    """Opens sessions.

    Args:
        mode: the backend: `auto` (isolated, the default), `namespace`, or `local` (not isolated).

    Raises:
        DefinitionError: no backend has that name.

    Example:
        >>> DeepGym(mode="auto")
        DeepGym(mode='auto')
    """

    def session(self, env: MultiTurnEnvironment) -> SyncSession:
        """Open a session for one episode; nothing is created before its `start`."""
        return SyncSession(self._open(env))

    def run_episode(self, env: MultiTurnEnvironment, agent: Agent) -> Episode:
        """Play one episode: `agent` maps each observation to the next action.

        A rejected action comes back to the agent as an observation. A step that fails ends the
        episode with the result which that failure fixed, and does not raise. Source: reward
        contract, rule C13.

        Raises:
            SandboxError: the episode could not start.
        """
        with self.session(env) as session:
            observation = session.start()
            rejected = 0
            while session.state is SessionState.RUNNING and rejected < MAX_REJECTED:
                action = agent(observation)
                try:
                    observation, _, _ = session.step(action)
                    rejected = 0
                except ActionError as error:
                    observation = rejected_observation(error, session.step_number)
                    rejected += 1
                except (SandboxError, VerifierError):
                    break
            result = session.score()
            return Episode(session.trajectory, result)


class AsyncDeepGym(_Opener):
    """`DeepGym`, awaited; works from any event loop. Args and Raises: as `DeepGym`."""

    def session(self, env: MultiTurnEnvironment) -> AsyncSession:
        """Open a session for one episode; nothing is created before its `start`."""
        return AsyncSession(self._open(env))

    async def run_episode(self, env: MultiTurnEnvironment, agent: AsyncAgent) -> Episode:
        """Play one episode; `agent` may be a function or a coroutine function. See
        `DeepGym.run_episode`.
        """
        async with self.session(env) as session:
            played = await play_episode(session, agent)
            return Episode(session.trajectory, played.result)
