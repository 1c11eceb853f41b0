"""Playing shipped environments in real sandboxes, from a list of actions."""

from typing import Any

from deepgym_gym import loop
from deepgym_gym.playing import Play, play_episode
from deepgym_gym.registry import load_environment
from deepgym_gym.registry.players import Player, iter_actions
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.session import Session


def play(name: str, variant: int, *actions: str | dict[str, Any], backend: str = "auto") -> Play:
    """Play a variant of an environment; each action is a dict, or the text of a bash command."""
    listed = [
        {"action_type": "bash", "content": action} if isinstance(action, str) else action
        for action in actions
    ]
    return play_player(name, variant, Player("test", lambda text: iter_actions(listed)), backend)


def play_player(name: str, variant: int, player: Player, backend: str = "auto") -> Play:
    """Play a variant of an environment with a scripted agent."""
    definition = load_environment(name, variant)

    async def episode() -> Play:
        async with Session(definition, get_backend(backend)) as session:
            return await play_episode(session, player)

    return loop.run(episode())
