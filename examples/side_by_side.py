"""Many episodes at once from one asyncio program: each has a sandbox of its own.

Run it with ``python examples/side_by_side.py``.
"""

import asyncio

from deepgym_gym import Action, ActionType, AsyncDeepGym, Observation, load_environment

EPISODES = 16


def agent(observation: Observation) -> Action:
    """Write the word of variant 0, then say done."""
    if observation.step == 0:
        return Action(action_type=ActionType.BASH, content="echo hello > notes.txt")
    return Action(action_type=ActionType.DONE)


async def main() -> None:
    """Run the episodes and print their mean score."""
    client = AsyncDeepGym()
    environment = load_environment("notes", variant=0)
    episodes = await asyncio.gather(
        *(client.run_episode(environment, agent) for _ in range(EPISODES))
    )
    # An episode without a verdict says nothing about the agent: leave it out, never count it as 0.
    scores = [result.score for _, result in episodes if result.has_verdict]
    print(f"{len(scores)} of {EPISODES} judged, mean score {sum(scores) / len(scores):g}")


if __name__ == "__main__":
    asyncio.run(main())
