"""Scripted agents: an environment's reference and hacks, the idle one and a random one.

They speak the same language as any agent (an observation in, an action out), so
`DeepGym.run_episode`, the command line, `check` and the tests play them in the same way.
"""

import random
from collections.abc import Callable, Generator
from typing import Any, Protocol

from deepgym_gym.actions import Action, Observation, parse_action
from deepgym_gym.errors import ActionError, DefinitionError
from deepgym_gym.playing import ActionLike

Script = Generator[ActionLike, str, None]
DONE = Action(action_type="done")  # type: ignore[arg-type]  # pydantic turns the word into the enum


class Agent(Protocol):
    """Anything that maps an observation to the next action."""

    def __call__(self, observation: Observation) -> Action:
        """Return the next action."""
        ...


class Player:
    """One episode of a script: called with each observation, it gives the next action.

    After the script's last action it says `done`.

    Args:
        name: for messages, such as `reference` or `hack forge`.
        play: called with the first observation's text; what it returns yields actions and is sent
            the texts.

    Example:
        >>> actions = [{"action_type": "bash", "content": "ls"}]
        >>> player = Player("list", lambda text: iter_actions(actions))
        >>> [player(Observation(content="")).action_type.value for _ in range(2)]
        ['bash', 'done']
    """

    def __init__(self, name: str, play: Callable[[str], Script]) -> None:
        self.name = name
        self._play = play
        self._script: Script | None = None

    def __repr__(self) -> str:
        return f"Player({self.name!r})"

    def __call__(self, observation: Observation) -> Action:
        """Return the script's next action.

        Raises:
            DefinitionError: the script raised, or yielded something that is no action.
        """
        try:
            if self._script is None:
                self._script = self._play(observation.content)
                return parse_action(next(self._script))
            return parse_action(self._script.send(observation.content))
        except StopIteration:
            return DONE
        except ActionError as error:
            raise DefinitionError(f"{self.name} yielded a bad action: {error}") from None
        except Exception as error:
            raise DefinitionError(f"{self.name} raised {type(error).__name__}: {error}") from error


def idle() -> Player:
    """Return an agent that only says done."""
    return Player("idle", lambda text: iter_actions([]))


def random_player(seed: int, definition_task: str = "", steps: int = 6) -> Player:
    """Return an agent that acts at random with words of the task: what luck alone is worth."""
    rng = random.Random(f"random player:{seed}")  # noqa: S311  # no secret depends on it
    words = definition_task.split() or ["word"]

    def play(first: str) -> Script:
        seen = words + first.split()
        for _ in range(steps):
            word, other = rng.choice(seen)[:200], rng.choice(seen)[:200]
            # A name that no action can carry (absolute, upwards, a folder) becomes one that it can.
            name = word.strip("/.`,:;") or "file"
            path = name.replace("..", "_").replace("\0", "_")
            yield rng.choice(
                [
                    {
                        "action_type": "bash",
                        "content": rng.choice(["ls -la", "pwd", "env | head", "id"]),
                    },
                    {"action_type": "write_file", "path": path, "content": f"{other}\n"},
                    {"action_type": "code", "content": f"print({other!a})"},
                ]
            )

    return Player(f"random {seed}", play)


def iter_actions(actions: list[Any]) -> Script:
    """Play a list of actions without looking at what they did."""
    for action in actions:  # noqa: UP028  # a list's iterator cannot be sent the observations
        yield action
