"""The package under Gymnasium's own tools: its checker, its wrappers, its vector environments."""

import json
import pickle
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordVectorStatistics

import deepgym_gym
from deepgym_gym.errors import DefinitionError
from tests.gym.worlds import DONE, HELLO, kill_sandboxes

INLINE = "deepgym-tests/inline-v0"
NOTES = "deepgym_gym:deepgym/notes-v0"
# Python's warning of forking beside threads: how workers are started is Gymnasium's choice.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(autouse=True)
def inline() -> Iterator[None]:
    gymnasium.register(id=INLINE, entry_point="tests.gym.worlds:make_notes")
    yield
    del gymnasium.registry[INLINE]


@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_checker_passes_for_an_environment_of_ones_own(backend: str) -> None:
    check_env(gymnasium.make(INLINE, backend=backend).unwrapped)


@pytest.mark.parametrize("name", deepgym_gym.list_environments())
def test_checker_passes_for_each_registered_id(name: str) -> None:
    check_env(gymnasium.make(f"deepgym/{name}-v0").unwrapped)


@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_made_environment_plays_without_a_warning(render_mode: str | None) -> None:
    env = gymnasium.make(NOTES, render_mode=render_mode)

    try:
        env.reset(seed=7)
        for _ in range(3):
            env.action_space.seed(1)
            env.step(env.action_space.sample())
            if render_mode:
                assert env.render() is not None
    finally:
        env.close()


def test_made_environment_plays_on_after_a_first_reset_that_failed() -> None:
    env = gymnasium.make(NOTES)

    try:
        with pytest.raises(DefinitionError, match="varient"):
            env.reset(options={"varient": 3})
        env.reset(seed=7)
        for _ in range(2):
            *_, info = env.step({"action_type": "bash", "content": "true"})
            assert info["exit_code"] == 0
    finally:
        env.close()


def test_spec_of_a_made_environment_survives_json_and_pickling() -> None:
    env = gymnasium.make(NOTES, backend="local", variant=3, reward="final")
    spec = env.spec
    env.close()
    assert spec is not None

    specs = [
        EnvSpec.from_json(spec.to_json()),
        pickle.loads(pickle.dumps(spec)),  # noqa: S301  # our own bytes
    ]

    assert json.loads(spec.to_json())["kwargs"]["backend"] == "local"
    for again in specs:
        other = again.make()
        try:
            assert other.reset()[1]["variant"] == 3
        finally:
            other.close()


def test_statistics_are_recorded() -> None:
    env = RecordEpisodeStatistics(gymnasium.make(INLINE))

    try:
        env.reset(seed=0)
        env.step(HELLO)
        info = env.step(DONE)[4]
    finally:
        env.close()

    assert (info["episode"]["r"], info["episode"]["l"]) == (pytest.approx(1.1), 2)


# Vector environments, with their default arguments.


def made(mode: str) -> VectorEnv[Any, Any, Any]:
    return gymnasium.make_vec(INLINE, num_envs=2, vectorization_mode=mode)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_episodes_run_side_by_side(mode: str) -> None:
    env = gymnasium.make_vec(INLINE, num_envs=2, vectorization_mode=mode, rejected="observe")

    try:
        observations, infos = env.reset(seed=7)
        first = env.step((HELLO, {"action_type": "bash", "content": "printf 'é 🙂\\n\\0'"}))
        second = env.step((DONE, '{"action_type": "bash", "content": "exit 3"}'))
        third = env.step((HELLO, "nonsense"))
    finally:
        env.close()

    assert observations in env.observation_space
    assert infos["variant"].tolist() == [7, 8]
    assert first[0]["content"] == ("written\n", "é 🙂\n\0")
    assert second[1].tolist() == [1.0, 0.0]
    assert second[2].tolist() == [True, False]
    assert second[4]["score"].tolist() == [1.0, 0.0]
    assert second[4]["has_verdict"].tolist() == [True, False]
    assert second[4]["result"][0].passed
    assert second[4]["exit_code"][1] == 3
    # The next step begins the finished one's next episode.
    assert third[0]["step"].tolist() == [0, 2]
    assert third[4]["action_error"][1].startswith("Bad action")
    assert observations["content"] == ("", "")


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_sampled_batches_are_taken(mode: str) -> None:
    env = made(mode)
    env.action_space.seed(3)

    try:
        env.reset(seed=0)
        for _ in range(4):
            actions = env.action_space.sample()
            assert actions in env.action_space
            observations = env.step(actions)[0]
            assert observations in env.observation_space
    finally:
        env.close()


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_options_choose_the_variant_and_are_not_changed(kind: type[Any]) -> None:
    env = kind([lambda: gymnasium.make(NOTES)] * 2)
    options = {"variant": 3}

    try:
        _, infos = env.reset(options=options)
    finally:
        env.close()

    assert infos["variant"].tolist() == [3, 3]
    assert options == {"variant": 3}


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_workers_that_share_no_memory_image_are_served(context: str) -> None:
    env = AsyncVectorEnv(
        [lambda: gymnasium.make("deepgym_gym:deepgym/notes-v0")] * 2, context=context
    )

    try:
        env.reset(seed=0)
        observations = env.step((HELLO, {"action_type": "bash", "content": "echo é"}))[0]
    finally:
        env.close()

    assert observations["content"] == ("written\n", "é\n")


def test_observations_that_are_not_copied_change_with_the_episode() -> None:
    env = AsyncVectorEnv([lambda: gymnasium.make(NOTES)] * 2, copy=False)

    try:
        observations, _ = env.reset(seed=0)
        before = tuple(observations["content"])
        env.step((HELLO, DONE))
        after = tuple(observations["content"])
    finally:
        env.close()

    assert (before, after) == (("", ""), ("written\n", ""))


def test_sandbox_that_dies_is_masked_and_its_neighbours_go_on() -> None:
    env = SyncVectorEnv([lambda: gymnasium.make(INLINE)] * 2, autoreset_mode=AutoresetMode.DISABLED)

    try:
        env.reset(seed=0)
        env.step((HELLO, HELLO))
        kill_sandboxes()
        _, rewards, terminations, _, infos = env.step((HELLO, DONE))
        observations, _ = env.reset(options={"reset_mask": np.array([True, True])})
        after = env.step((HELLO, HELLO))
    finally:
        env.close()

    assert rewards.tolist() == [0.0, 0.0]
    assert terminations.tolist() == [True, True]
    assert infos["error_type"].tolist() == ["policy_sandbox_failure"] * 2
    assert observations["step"].tolist() == [0, 0]
    assert after[0]["content"] == ("written\n", "written\n")


def test_vector_statistics_are_recorded() -> None:
    env = RecordVectorStatistics(made("sync"))

    try:
        env.reset(seed=0)
        env.step((HELLO, HELLO))
        infos = env.step((DONE, HELLO))[4]
    finally:
        env.close()

    assert infos["episode"]["r"][0] == pytest.approx(1.1)
    assert infos["episode"]["l"][0] == 2
