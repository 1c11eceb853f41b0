"""`SandboxEnv` as a Gymnasium environment: episodes, rewards, variants and its life."""

import copy
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from deepgym_gym.actions import Action, ActionType
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.env import SandboxEnv
from deepgym_gym.errors import (
    ActionError,
    DefinitionError,
    SessionClosedError,
    SessionStateError,
    SetupError,
)
from deepgym_gym.results import RunResult
from deepgym_gym.session import Session
from tests.gym.worlds import DONE, FINAL, HELLO, STEP, Variants, notes

Make = Callable[..., SandboxEnv]
KEYS = {
    "score", "passed", "has_verdict", "reward_valid", "error_type", "action_error", "result",
    "timed_out", "variant",
}  # fmt: skip


@pytest.fixture
def make() -> Iterator[Make]:
    """Make environments that are closed at the test's end."""
    made: list[SandboxEnv] = []

    def make_one(source: Any = None, **kwargs: Any) -> SandboxEnv:
        made.append(SandboxEnv(source or notes(), **{"backend": "namespace", **kwargs}))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


# An episode.


@pytest.mark.parametrize("backend", ["namespace", "local"])
@pytest.mark.parametrize(
    "done", [DONE, Action(action_type=ActionType.DONE), '{"action_type": "done"}'], ids=str
)
def test_episode_that_is_done_ends_with_the_score(make: Make, backend: str, done: Any) -> None:
    env = make(backend=backend)

    first, first_info = env.reset(seed=1)
    second = env.step(HELLO)
    last = env.step(done)

    assert first == {"task": "Write hello into notes.txt.", "content": "", "step": 0}
    assert first["step"].dtype == np.int64
    assert second[0]["content"] == "written\n"
    assert second[1:4] == (0.0, False, False)
    assert last[1:4] == (1.0, True, False)
    assert last[0]["step"] == 2
    assert (last[4]["score"], last[4]["passed"], last[4]["has_verdict"]) == (1.0, True, True)
    assert isinstance(last[4]["result"], RunResult)
    assert first_info["result"] is None
    assert all(o in env.observation_space for o in (first, second[0], last[0]))


def test_info_has_the_same_keys_and_types_throughout(make: Make) -> None:
    env = make(notes(step_verifier_code=STEP), rejected="observe")

    infos = [
        env.reset(seed=1)[1],
        env.step(HELLO)[4],
        env.step("nonsense")[4],
        env.step({"action_type": "bash", "content": "exit 3"})[4],
        env.step({"action_type": "write_file", "path": "a", "content": ""})[4],
        env.step(DONE)[4],
    ]

    assert [set(info) - KEYS for info in infos] == [
        set(), {"exit_code"}, set(), {"exit_code"}, set(), set(),
    ]  # fmt: skip
    assert all(set(info) >= KEYS for info in infos)
    assert infos[3]["exit_code"] == 3
    for key in KEYS - {"result", "error_type", "action_error"}:
        assert len({type(info[key]) for info in infos}) == 1, key


def test_info_of_equal_episodes_is_equal(make: Make) -> None:
    env = make(notes(step_verifier_code=STEP))

    def play() -> list[Any]:
        return [env.reset(seed=4), env.step(HELLO), env.step(DONE)]

    assert play() == play()


@pytest.mark.parametrize("signal", ["echo DONE", "echo '{\"done\": true}'"])
def test_done_that_is_printed_terminates(make: Make, signal: str) -> None:
    env = make()
    env.reset()

    _, reward, terminated, truncated, _ = env.step({"action_type": "bash", "content": signal})

    assert (reward, terminated, truncated) == (0.0, True, False)


def test_last_step_truncates_and_is_scored(make: Make) -> None:
    env = make(notes(max_steps=2))
    env.reset()
    env.step(HELLO)

    _, reward, terminated, truncated, info = env.step({"action_type": "bash", "content": "ls"})

    assert (reward, terminated, truncated) == (1.0, False, True)
    assert info["has_verdict"]


def test_time_out_is_said_and_the_episode_goes_on(make: Make) -> None:
    env = make(notes(timeout_per_step=0.5))
    env.reset()

    step = env.step({"action_type": "bash", "content": "echo begun; sleep 60"})

    assert "begun" in step[0]["content"]
    assert "timed out" in step[0]["content"]
    assert (step[2], step[3], step[4]["timed_out"], "exit_code" in step[4]) == (
        False, False, True, False,
    )  # fmt: skip


def test_largest_output_of_invalid_bytes_is_in_the_observation_space(make: Make) -> None:
    env = make(notes(output_kb=8))
    env.reset()

    source = "import os\nfor fd in 1, 2: os.write(fd, b'\\xff' * 60_000)"
    observation = env.step({"action_type": "code", "content": source})[0]

    assert observation in env.observation_space
    assert observation["content"].count("\N{REPLACEMENT CHARACTER}") == 2 * 8 * 1024


# Rewards.


@pytest.mark.parametrize(
    ("mode", "rewards"),
    [("episode", [0.1, 0.0, 1.0]), ("final", [0, 0, 1.0]), ("step", [0.1, 0, 0])],
)
def test_reward_mode_decides_which_verifier_counts(
    make: Make, mode: str, rewards: list[float]
) -> None:
    env = make(notes(step_verifier_code=STEP), reward=mode)
    env.reset()
    silent = {"action_type": "bash", "content": "true"}

    steps = [env.step(action) for action in (HELLO, silent, DONE)]

    assert [step[1] for step in steps] == pytest.approx(rewards)
    assert all(type(step[1]) is float for step in steps)
    assert all(step[4]["reward_valid"] for step in steps)
    assert steps[-1][4]["score"] == 1.0


@pytest.mark.parametrize(("mode", "valid"), [("episode", False), ("final", False), ("step", True)])
def test_episode_without_a_verdict_has_reward_zero_that_is_not_valid(
    make: Make, mode: str, valid: bool
) -> None:
    env = make(notes(step_verifier_code="print(0.1)", final_verifier_code=None), reward=mode)
    env.reset()

    _, reward, terminated, _, info = env.step(DONE)

    assert reward == (0.1 if valid else 0.0)
    assert terminated
    assert (info["reward_valid"], info["has_verdict"], info["error_type"]) == (
        valid, False, "no_verifier",
    )  # fmt: skip


# Variants.


@pytest.mark.parametrize(
    ("constructor", "options", "seed", "played"),
    [
        (None, {"variant": 3}, 7, 3),
        (None, {"variant": np.int64(3)}, 7, 3),
        (5, {"variant": 3}, 7, 3),
        (5, {}, 7, 5),
        (5, None, None, 5),
        (None, None, 7, 7),
        (None, {"variant": None}, 2**80, 2**80),
    ],
)
def test_options_then_constructor_then_seed_choose_the_variant(
    make: Make, constructor: int | None, options: dict[str, Any] | None, seed: int, played: int
) -> None:
    env = make(Variants(), variant=constructor)
    before = copy.deepcopy(options)

    observation, info = env.reset(seed=seed, options=options)

    assert observation["content"] == f"world {played}"
    assert observation["task"] == f"Variant {played}."
    assert options == before
    # Vector environments put it into an array of 64 bits.
    assert info.get("variant", played) == played
    assert ("variant" in info) == (played < 2**63)


def test_later_resets_draw_variants_that_the_seed_decides(make: Make) -> None:
    env = make(Variants())

    def draw() -> list[Any]:
        return [env.reset(seed=3)[1]["variant"], *(env.reset()[1]["variant"] for _ in range(2))]

    first = draw()

    assert first == draw()
    assert len(set(first)) == 3


@pytest.mark.parametrize(
    "options",
    [{"variants": 3}, {"variant": 3, 5: 1}, {"variant": -1}, {"variant": True}, {"variant": "3"},
     {"variant": 1.0}, {"variant": 666}, [3]],
    ids=str,
)  # fmt: skip
def test_wrong_options_are_refused_and_the_episode_goes_on(make: Make, options: Any) -> None:
    env = make(Variants())
    env.reset(seed=1)

    with pytest.raises(DefinitionError):
        env.reset(options=options)

    assert env.step(HELLO)[0]["content"] == "written\n"


@pytest.mark.parametrize("variant", [8, 9])
def test_variant_that_needs_other_spaces_is_refused_unless_it_is_the_only_one(
    make: Make, variant: int
) -> None:
    shared, alone = make(Variants()), make(Variants(), variant=variant)

    with pytest.raises(DefinitionError, match=f"Variant {variant} needs other spaces"):
        shared.reset(seed=variant)

    assert alone.reset()[0]["content"] == ""


# Arguments.


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"backend": "moon"}, "Unknown backend"),
        ({"render_mode": "human"}, "render_mode: expected None or one of ansi, rgb_array"),
        ({"reward": "all"}, "reward: expected one of episode, final, step"),
        ({"variant": -1}, "variant: expected an integer"),
        ({"source": "notes"}, r"Write make_env\(name\)"),
    ],
)
def test_wrong_argument_is_refused_at_once(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        SandboxEnv(**{"source": notes(), **kwargs})


def test_making_one_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepgym_gym.sandbox.backends._CLASSES", {})

    env = SandboxEnv(notes(), backend="auto")

    assert env.session is None
    env.close()


# Its life.


@pytest.mark.parametrize("closed", [False, True])
def test_nothing_works_before_reset(make: Make, closed: bool) -> None:
    env = make(render_mode="ansi")
    if closed:
        env.reset()
        env.close()

    for call in (lambda: env.step(DONE), env.render):
        with pytest.raises(ResetNeeded):
            call()


def test_step_after_the_end_is_refused_and_reset_begins_anew(make: Make) -> None:
    env = make()
    env.reset()
    env.step(HELLO)
    env.step(DONE)

    with pytest.raises(SessionClosedError, match=r"call reset\(\)"):
        env.step(DONE)

    env.reset()
    assert env.step(DONE)[1] == 0.0


@pytest.mark.parametrize("action", [None, 3, b"{}", ["bash"], math.nan])
def test_action_of_a_type_that_is_no_agents_words_raises(make: Make, action: Any) -> None:
    env = make()
    env.reset()

    with pytest.raises(ActionError, match="expected an Action, a dict or its JSON text"):
        env.step(action)

    assert env.step(HELLO)[0]["step"] == 1


def test_reset_gives_the_old_sandbox_back(make: Make) -> None:
    env = make()
    env.reset()
    env.step({"action_type": "bash", "content": "touch left"})
    old = env.session

    env.reset()

    assert old is not None
    assert old.state == "closed"
    assert env.step({"action_type": "bash", "content": "ls"})[0]["content"] == ""


def test_reset_whose_setup_fails_says_so_and_leaves_nothing(make: Make) -> None:
    env = make(notes(setup_script="echo broken; exit 4"))

    with pytest.raises(SetupError, match="broken"):
        env.reset()

    assert env.session is None
    with pytest.raises(ResetNeeded):
        env.step(DONE)
    env.close()


def test_close_twice_and_from_another_thread_is_harmless(make: Make) -> None:
    env = make()
    env.reset()

    thread = threading.Thread(target=env.close)
    thread.start()
    thread.join(30)
    env.close()

    assert env.session is None


def test_close_during_a_step_ends_it_without_a_verdict(make: Make) -> None:
    env = make()
    env.reset()
    env.step(HELLO)
    steps: list[Any] = []

    def act() -> None:
        steps.append(env.step({"action_type": "bash", "content": "echo in > step; sleep 60"}))

    thread = threading.Thread(target=act)
    thread.start()
    session = env.session
    assert session is not None
    wait_for_step(session)
    env.close()
    thread.join(30)

    (step,) = steps
    assert step[1:4] == (0.0, False, True)
    assert (step[4]["reward_valid"], step[4]["error_type"]) == (False, "interrupted")


def wait_for_step(session: Session) -> None:
    """Wait until the second step has begun."""
    deadline = time.monotonic() + 30
    while session.step_number < 2:
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # that is what is tested
def test_forked_child_leaves_its_parents_episode_alone(make: Make) -> None:
    env = make()
    env.reset()
    env.step(HELLO)

    child = os.fork()
    if child == 0:
        code = 1
        try:
            with pytest.raises(SessionStateError):
                env.step(HELLO)
            env.close()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)

    assert status == 0
    assert env.step(DONE)[1] == 1.0


@pytest.mark.parametrize("started", [False, True])
def test_copy_and_pickle_are_fresh_environments(make: Make, started: bool) -> None:
    env = make(Variants(), reward="final", variant=3)
    if started:
        env.reset()

    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301  # our own bytes

    for other in copies:
        assert other.session is None
        assert other.observation_space == env.observation_space
        assert other.action_space == env.action_space
        with pytest.raises(ResetNeeded):
            other.step(DONE)
        try:
            assert other.reset()[0]["content"] == "world 3"
        finally:
            other.close()


def test_definition_is_no_copy_and_never_changed(make: Make) -> None:
    definition = MultiTurnEnvironment(task="Say done.", final_verifier_code=FINAL)
    dumped = definition.model_dump()
    action = {"action_type": "write_file", "path": "notes.txt", "content": "hello"}
    env = make(definition)
    env.reset(seed=0)

    env.step(action)
    env.step(DONE)

    assert definition.model_dump() == dumped
    assert action == {"action_type": "write_file", "path": "notes.txt", "content": "hello"}


# Pictures.


def test_ansi_shows_what_happened_and_none_of_the_agents_codes(make: Make) -> None:
    env = make(render_mode="ansi", rejected="observe")
    env.reset()
    env.step({"action_type": "bash", "content": "printf '\\033[31mred\\n'"})
    env.step("nonsense")
    env.step(DONE)

    shown = env.render()

    assert isinstance(shown, str)
    assert "\x1b" not in shown
    assert "^[[31mred\n? nonsense\n[rejected] Bad action" in shown
    assert shown.endswith("done\n[score 0]\n")


def test_rgb_array_is_a_picture_of_one_size(make: Make) -> None:
    env = make(render_mode="rgb_array")
    env.reset()
    first = env.render()
    env.step({"action_type": "bash", "content": "seq 200"})
    second = env.render()

    assert isinstance(first, np.ndarray)
    assert isinstance(second, np.ndarray)
    assert first.shape == second.shape
    assert (first.dtype, first.shape[2]) == (np.dtype(np.uint8), 3)
    assert not np.array_equal(first, second)


def test_render_without_a_mode_warns(make: Make) -> None:
    env = make()
    env.reset()

    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_close_after_the_interpreters_exit_began_does_not_wait_for_ever() -> None:
    # Registered before the package, so that it runs after the package's own end.
    code = (
        "import atexit\n"
        "made = []\n"
        "atexit.register(lambda: (made[0].close(), print('closed')))\n"
        "import deepgym_gym, gymnasium\n"
        "made.append(gymnasium.make('deepgym/notes-v0'))\n"
        "made[0].reset(seed=1)\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert (ended.stdout, ended.stderr) == ("closed\n", "")
