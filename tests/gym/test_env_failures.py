"""What fails inside `env.step` is data: whose fault it was, and whether the reward may be used.

Source: reward contract, rules C1 to C9, E1 and E3, through Gymnasium.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from deepgym_gym.env import SandboxEnv
from deepgym_gym.errors import (
    ActionError,
    ProviderError,
    SandboxUnavailableError,
    SessionClosedError,
)
from deepgym_gym.playing import MAX_REJECTED
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.sandbox.base import Sandbox, SandboxSpec
from tests.gym.worlds import DONE, HELLO, kill_sandboxes, notes

Make = Callable[..., SandboxEnv]


def says(line: str) -> str:
    """A verifier that prints a line."""
    return f"print({line!r})"


# A step verifier that crashes before it has read anything, and one that crashes after.
UNTOUCHED = "raise RuntimeError('ours')"
TOUCHED = "import os; open(os.environ['STEP_OUTPUT_PATH']).read(); raise RuntimeError('theirs')"


@pytest.fixture
def make() -> Iterator[Make]:
    """Make environments that have been reset and are closed at the test's end."""
    made: list[SandboxEnv] = []

    def make_one(
        backend: str = "namespace",
        reward: str = "episode",
        rejected: str = "observe",
        **fields: Any,
    ) -> SandboxEnv:
        env = SandboxEnv(notes(**fields), backend=backend, reward=reward, rejected=rejected)
        made.append(env)
        env.reset(seed=0)
        return env

    yield make_one
    for env in made:
        env.close()


def summary(step: Any) -> tuple[Any, ...]:
    """reward, terminated, truncated, reward_valid, has_verdict, error_type"""
    info = step[4]
    return (*step[1:4], info["reward_valid"], info["has_verdict"], info["error_type"])


# Rejected actions: C1, C2.


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"action_type": "code", "content": "print(1)"}, "'code' not allowed here. Allowed: bash"),
        ({"action_type": "fly"}, "'write_file' or 'done', got 'fly'"),
        ({"action_type": [1] * 10**5}, "got [1, 1, 1"),
        ({"action_type": "write_file", "content": ""}, 'e.g. {"action_type": "write_file", '),
        ({"action_type": "bash", "kontent": "ls"}, "kontent"),
        ({"action_type": "bash", "content": "a\0b"}, "NUL"),
        ({"action_type": "bash", "content": "\ud800"}, "Bad action: content"),
        ({"action_type": "write_file", "path": "../x", "content": ""}, "relative path"),
        ({"action_type": "write_file", "path": "folder", "content": ""}, "folder"),
        ({"action_type": "write_file", "path": "link/x", "content": ""}, "link"),
        ("", "Invalid JSON"),
        ("ls -la", "Invalid JSON"),
        ("[" * 100_000, "Invalid JSON"),
        ('"\ud800', "Bad action"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_rejected_action_is_told_and_the_episode_goes_on(
    make: Make, action: Any, reason: str
) -> None:
    env = make(allowed_actions=["bash", "write_file", "done"])
    env.step({"action_type": "bash", "content": "mkdir folder; ln -s /tmp link"})

    step = env.step(action)

    assert summary(step) == (0.0, False, False, True, False, None)
    assert step[4]["action_error"] is not None
    assert reason in step[4]["action_error"]
    assert step[0]["content"] == f"[rejected] {step[4]['action_error']}"
    assert step[0] in env.observation_space
    after = env.step(HELLO)
    assert after[0]["content"] == "written\n"
    assert after[4]["action_error"] is None
    assert env.step(DONE)[1] == 1.0


@pytest.mark.parametrize(
    "action",
    [
        {"action_type": "code", "content": "open('ran', 'w')"},
        {"action_type": "fly"},
        {"action_type": "write_file", "path": "../x", "content": ""},
        {"action_type": "write_file", "path": "folder", "content": ""},
        "nonsense",
        7,
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_rejected_action_raises_by_default_and_the_episode_goes_on(make: Make, action: Any) -> None:
    env = make(rejected="raise", allowed_actions=["bash", "write_file", "done"])
    env.step({"action_type": "bash", "content": "mkdir folder"})

    with pytest.raises(ActionError):
        env.step(action)

    assert env.step({"action_type": "bash", "content": "ls"})[0]["content"] == "folder\n"
    env.step(HELLO)
    assert env.step(DONE)[1:3] == (1.0, True)


def test_rejected_write_that_uses_up_the_last_step_ends_the_episode(make: Make) -> None:
    env = make(rejected="raise", max_steps=2)
    env.step({"action_type": "bash", "content": "mkdir folder; echo hello > notes.txt"})

    step = env.step({"action_type": "write_file", "path": "folder", "content": ""})

    assert summary(step) == (1.0, False, True, True, True, None)


def test_rejection_that_quotes_megabytes_is_cut(make: Make) -> None:
    env = make()

    step = env.step({"x" * 5_000_000: 1, "y\ud800": 2})

    assert step[0] in env.observation_space
    assert len(step[0]["content"]) < 10_000


def test_agent_that_never_acts_is_truncated_and_scored(make: Make) -> None:
    env = make(max_steps=None)
    env.step(HELLO)

    steps = [env.step("nonsense") for _ in range(MAX_REJECTED)]

    assert not any(step[2] or step[3] for step in steps[:-1])
    assert summary(steps[-1]) == (1.0, False, True, True, True, None)
    assert steps[-1][0]["content"].startswith("[rejected]")
    with pytest.raises(SessionClosedError):
        env.step(DONE)


def test_usable_action_in_between_forgives_rejected_ones(make: Make) -> None:
    env = make(max_steps=None)

    for _ in range(2):
        for _ in range(MAX_REJECTED - 1):
            assert not env.step("nonsense")[3]
        env.step(HELLO)

    assert not env.step("nonsense")[3]


def test_rejected_write_can_be_the_last_step(make: Make) -> None:
    env = make(max_steps=2)
    env.step({"action_type": "bash", "content": "mkdir folder; echo hello > notes.txt"})

    step = env.step({"action_type": "write_file", "path": "folder", "content": ""})

    assert summary(step) == (1.0, False, True, True, True, None)
    assert "folder" in step[4]["action_error"]


# Failures after the action may have run: C3, C5, C8, B4 to B6.


def test_full_disk_is_the_agents_doing(make: Make) -> None:
    env = make(disk_mb=1)
    env.step({"action_type": "bash", "content": "head -c 2000000 /dev/zero > full; true"})

    step = env.step({"action_type": "write_file", "path": "more", "content": "x" * 100_000})

    assert summary(step) == (0.0, True, False, True, True, "policy_sandbox_failure")
    assert step[0]["content"] == "[the episode ended: policy_sandbox_failure]"
    assert (step[4]["score"], step[4]["passed"]) == (0.0, False)
    with pytest.raises(SessionClosedError):
        env.step(DONE)


def test_agent_that_kills_its_supervisor_gets_a_judged_zero(make: Make) -> None:
    env = make(backend="local")

    step = env.step({"action_type": "bash", "content": "kill -9 $PPID"})

    assert summary(step) == (0.0, True, False, True, True, "policy_sandbox_failure")


def test_sandbox_that_dies_after_the_agent_acted_is_judged_zero(make: Make) -> None:
    env = make()
    env.step(HELLO)
    kill_sandboxes()

    step = env.step(HELLO)

    assert summary(step) == (0.0, True, False, True, True, "policy_sandbox_failure")


@pytest.mark.parametrize("reward", ["episode", "final"])
def test_sandbox_that_dies_before_the_agent_acted_is_masked(make: Make, reward: str) -> None:
    env = make(reward=reward)
    kill_sandboxes()

    step = env.step(DONE)

    assert summary(step) == (0.0, False, True, False, False, "sandbox_error")


def test_reset_after_a_failure_begins_a_sound_episode(make: Make) -> None:
    env = make()
    kill_sandboxes()
    env.step(HELLO)

    env.reset()

    assert env.step(HELLO)[0]["content"] == "written\n"
    assert env.step(DONE)[1] == 1.0


@pytest.mark.parametrize("reward", ["episode", "final", "step"])
def test_step_verifier_that_fails_by_itself_is_masked(make: Make, reward: str) -> None:
    env = make(step_verifier_code=UNTOUCHED, reward=reward)

    step = env.step(HELLO)

    assert summary(step) == (0.0, False, True, False, False, "verifier_error")
    assert step[0]["content"] == "[the episode ended: verifier_error]"


def test_step_verifier_that_the_agent_broke_gives_zero_and_the_episode_goes_on(make: Make) -> None:
    env = make(step_verifier_code=TOUCHED)

    first = env.step(HELLO)
    rejected = env.step("nonsense")
    last = env.step(DONE)

    assert summary(first) == (0.0, False, False, True, False, "solution_error")
    assert rejected[4]["error_type"] is None
    assert last[1:4] == (1.0, True, False)


# The final verifier: A1 to A18, as far as `env.step` has a say in them.


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise RuntimeError", (0.0, True, False, False, False, "runtime_error")),
        ("open('x').read()", (0.0, True, False, True, True, "solution_error")),
        (says('{"score": 7, "passed": true}'), (0.0, True, False, False, False, "invalid_score")),
        ("import time; time.sleep(60)", (0.0, True, False, False, False, "timeout")),
        (says('{"score": 0.25, "passed": false}'), (0.25, True, False, True, True, None)),
        (None, (0.0, True, False, False, False, "no_verifier")),
    ],
)  # fmt: skip
def test_final_verifier_decides_the_reward_or_masks_it(
    make: Make, code: str | None, expected: tuple[Any, ...]
) -> None:
    env = make(final_verifier_code=code, verifier_timeout=1)

    assert summary(env.step(DONE)) == expected


def test_step_reward_is_not_given_where_the_episode_has_no_verdict(make: Make) -> None:
    env = make(step_verifier_code="print(0.5)", final_verifier_code="raise RuntimeError")

    assert env.step(DONE)[1] == 0.0


# Starts: E3, and faults that no backend shows on demand.


class Moody:
    """A backend that fails `failures` times, then starts real sandboxes."""

    name = "moody"

    def __init__(self, failures: int, error: Exception) -> None:
        self.failures, self.error, self.tries = failures, error, 0

    async def start(self, spec: SandboxSpec) -> Sandbox:
        self.tries += 1
        if self.tries <= self.failures:
            raise self.error
        return await get_backend("namespace").start(spec)

    async def aclose(self) -> None:
        pass


def test_start_that_fails_once_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Moody(1, ProviderError("the network blinked"))
    monkeypatch.setattr("deepgym_gym.env.get_backend", lambda name: backend)
    env = SandboxEnv(notes())

    try:
        env.reset()
        assert env.step(DONE)[2]
    finally:
        env.close()
    assert backend.tries == 2


def test_start_that_always_fails_names_the_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Moody(99, SandboxUnavailableError("no rights; remedy: ask"))
    monkeypatch.setattr("deepgym_gym.env.get_backend", lambda name: backend)
    env = SandboxEnv(notes())

    with pytest.raises(SandboxUnavailableError, match=r"creating the sandbox.*remedy: ask"):
        env.reset()

    assert env.session is None
