"""Every shipped environment is registered with Gymnasium, by text alone."""

import json
import subprocess
import sys

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec

import deepgym_gym
from deepgym_gym.errors import DefinitionError
from deepgym_gym.registry import find_environment, list_environments, make_env, register_all


@pytest.mark.parametrize("name", list_environments())
def test_spec_survives_json_and_has_no_outer_step_limit(name: str) -> None:
    spec = gymnasium.spec(f"deepgym/{name}-v0")

    again = EnvSpec.from_json(spec.to_json())

    assert again == spec
    assert json.loads(spec.to_json())["kwargs"] == {"name": name, "version": 0}
    assert spec.max_episode_steps is None


def test_made_by_name_plays_the_example_of_the_readme() -> None:
    env = gymnasium.make("deepgym/notes-v0")

    try:
        observation, _ = env.reset(seed=7)
        env.step({"action_type": "bash", "content": "echo hello > notes.txt"})
        _, reward, terminated, truncated, info = env.step({"action_type": "done"})
    finally:
        env.close()

    assert "exactly one newline" in observation["task"]
    assert (reward, terminated, truncated, info["has_verdict"]) == (1.0, True, False, True)


def test_registering_again_changes_nothing() -> None:
    before = dict(gymnasium.registry)

    register_all()

    assert gymnasium.registry == before
    assert deepgym_gym.list_environments() == list_environments()


def test_registering_reads_no_environment_and_loads_no_pydantic() -> None:
    code = (
        "import sys, deepgym_gym\n"
        "loaded = {'pydantic', 'tomllib', 'deepgym_gym.registry.loading'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True)  # our own code


@pytest.mark.parametrize("name", list_environments())
def test_reward_mode_of_the_folder_is_the_default(name: str) -> None:
    wanted = "step" if name == "guess_number" else "episode"

    assert find_environment(name).reward == wanted


def test_unknown_environment_is_refused_before_anything_is_made() -> None:
    with pytest.raises(DefinitionError, match="No environment named 'nothing'"):
        make_env("nothing")
