"""Playing an episode: one loop around any session whose calls are awaited."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Protocol

from deepgym_gym.actions import Action, Observation
from deepgym_gym.errors import ActionError, SandboxError, VerifierError
from deepgym_gym.progress import SessionState
from deepgym_gym.results import RunResult, StepResult

ActionLike = Action | dict[str, Any] | str
AsyncAgent = Callable[[Observation], ActionLike | Awaitable[ActionLike]]

# An agent whose actions are rejected so often in a row is not going to act: its episode is scored
# as it is.
MAX_REJECTED = 20


class EpisodeSession(Protocol):
    """The part of a session that playing an episode needs."""

    @property
    def state(self) -> SessionState:
        """Where the episode is."""
        ...

    @property
    def step_number(self) -> int:
        """The number of the last step."""
        ...

    async def start(self) -> Observation:
        """Return the first observation."""
        ...

    async def step(self, action: ActionLike) -> StepResult:
        """Apply one action."""
        ...

    async def score(self) -> RunResult:
        """Judge the episode."""
        ...


class Play(NamedTuple):
    """One played episode: every observation, every step's reward and the result."""

    result: RunResult
    observations: tuple[Observation, ...]
    rewards: tuple[float, ...]


async def play_episode(session: EpisodeSession, agent: AsyncAgent) -> Play:
    """Play the agent to the end of the session's episode and score it.

    A rejected action comes back to the agent as an observation. A step that fails ends the episode
    with the result which that failure fixed, and does not raise. Source: reward contract, rule C13.

    Raises:
        SandboxError: the episode could not start.
    """
    observations = [await session.start()]
    rewards: list[float] = []
    rejected = 0
    while session.state is SessionState.RUNNING and rejected < MAX_REJECTED:
        answer = agent(observations[-1])
        action = await answer if inspect.isawaitable(answer) else answer
        try:
            observation, reward, _ = await session.step(action)
        except ActionError as error:
            observations.append(rejected_observation(error, session.step_number))
            rejected += 1
        except (SandboxError, VerifierError):
            break
        else:
            observations.append(observation)
            rewards.append(reward)
            rejected = 0
    return Play(await session.score(), tuple(observations), tuple(rewards))


def rejected_observation(why: ActionError | str, step: int) -> Observation:
    """Return what the agent is told of an action that was rejected."""
    return Observation(content=f"[rejected] {why}", step=step)
