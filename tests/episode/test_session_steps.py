"""What a step does to an episode: rules C1 to C12 and B4 to B6, with scripted faults."""

import json
from typing import Any

import pytest

from deepgym_gym.errors import (
    ActionError,
    ProviderError,
    SandboxError,
    SandboxExhaustedError,
    SandboxLostError,
    SandboxRetiredError,
    SandboxTimeoutError,
    SandboxWriteError,
    SessionClosedError,
    VerifierError,
)
from deepgym_gym.sandbox.base import ExecResult, VerifierOutcome
from deepgym_gym.session import Session, SessionState
from tests.episode.scripted import BASH, CODE, DONE, WRITE, environment, opened, run
from tests.fakes import BeyondScript, FakeBackend, FakeClock, FakeSandbox, Taking, judged, ran


def test_actions_reach_the_sandbox_with_their_time_limit_and_once_each() -> None:
    session, sandbox = opened(
        ran(b"one"), ran(b"two"), None, timeout_per_step=7.0, persistent_shell=True
    )

    async def episode() -> None:
        await session.start()
        for action in (BASH, CODE, WRITE, DONE):
            await session.step(action)

    run(episode())
    assert sandbox.calls == [
        ("exec", "make", 7.0, True),
        ("code", "pass", 7.0),
        ("write", "d/e.txt", b"text"),
    ]


def test_observations_count_steps_and_the_trajectory_pairs_them_with_actions() -> None:
    session, _ = opened(ran(b"one\n"), None)

    async def episode() -> None:
        first = await session.start()
        second, reward, done = await session.step(BASH)
        third, _, _ = await session.step(WRITE)
        last, _, over = await session.step(DONE)

        assert (first.content, first.step, first.done, first.metadata) == ("", 0, False, None)
        assert (second.content, second.step, second.done) == ("one\n", 1, False)
        assert (reward, done) == (0.0, False)
        assert second.metadata == {"exit_code": 0}
        assert (third.content, third.step, third.metadata) == ("wrote d/e.txt", 2, None)
        assert (last.content, last.step, last.done, over) == ("", 3, True, True)
        trajectory = session.trajectory
        assert [pair[0] for pair in trajectory.steps] == [first, second, third]
        assert [pair[1].action_type.value for pair in trajectory.steps] == [
            "bash",
            "write_file",
            "done",
        ]
        assert trajectory.final_observation == last
        assert trajectory.step_rewards == (0.0, 0.0, 0.0)

    run(episode())


def test_action_that_is_not_allowed_runs_nothing_and_uses_up_no_step() -> None:
    session, sandbox = opened(ran(), allowed_actions=["bash", "done"])

    async def episode() -> None:
        await session.start()

        with pytest.raises(ActionError, match="'code' not allowed here. Allowed: bash, done"):
            await session.step(CODE)

        assert session.state is SessionState.RUNNING
        assert (sandbox.calls, session.step_number, session.acted) == ([], 0, False)
        assert (await session.step(BASH)).observation.step == 1

    run(episode())


@pytest.mark.parametrize("bad", ["not json", {"action_type": "fly"}, 7, None, [BASH]])
def test_malformed_action_changes_nothing(bad: Any) -> None:
    session, sandbox = opened()

    async def episode() -> None:
        await session.start()

        with pytest.raises(ActionError):
            await session.step(bad)

        assert session.state is SessionState.RUNNING
        assert (sandbox.calls, session.step_number) == ([], 0)

    run(episode())


def test_rejected_write_uses_up_a_step_but_is_no_part_of_the_trajectory() -> None:
    session, _ = opened(ActionError("a folder is there"), None)

    async def episode() -> None:
        await session.start()

        with pytest.raises(ActionError, match="a folder is there"):
            await session.step(WRITE)

        assert (session.step_number, session.acted) == (1, False)
        assert session.trajectory.steps == ()
        assert (await session.step(WRITE)).observation.step == 2
        assert len(session.trajectory.steps) == 1

    run(episode())


def test_rejected_write_as_last_step_ends_the_episode_truncated() -> None:
    session, _ = opened(ActionError("a folder is there"), judged(), max_steps=1)

    async def episode() -> None:
        await session.start()

        with pytest.raises(ActionError):
            await session.step(WRITE)

        assert session.state is SessionState.ENDED
        assert (session.terminated, session.truncated) == (False, True)
        assert (await session.score()).score == 1.0

    run(episode())


def test_max_steps_truncates_and_the_episode_is_still_scored() -> None:
    session, _ = opened(ran(), ran(), judged(), max_steps=2)

    async def episode() -> None:
        await session.start()
        assert not (await session.step(BASH)).done
        observation, _, done = await session.step(BASH)

        assert done
        assert observation.done
        assert (session.terminated, session.truncated) == (False, True)
        with pytest.raises(SessionClosedError):
            await session.step(BASH)
        assert (await session.score()).has_verdict

    run(episode())


def test_done_at_the_last_step_is_a_termination() -> None:
    session, _ = opened(ran(b"DONE\n"), max_steps=1)

    async def episode() -> None:
        await session.start()
        await session.step(BASH)

    run(episode())
    assert (session.terminated, session.truncated) == (True, False)


def test_without_max_steps_an_episode_goes_on() -> None:
    session, _ = opened(*[ran() for _ in range(50)], max_steps=None)

    async def episode() -> None:
        await session.start()
        for _ in range(50):
            assert not (await session.step(BASH)).done

    run(episode())
    assert session.step_number == 50


def test_timed_out_command_keeps_its_output_and_is_still_rewarded() -> None:
    late = ExecResult(exit_code=None, timed_out=True, stdout=b"begun\n")
    session, _ = opened(late, judged(0.25), step_verifier_code="-", timeout_per_step=2)

    async def episode() -> None:
        await session.start()

        observation, reward, done = await session.step(BASH)

        assert observation.content == "begun\n[timed out after 2s]"
        assert observation.metadata == {"exit_code": None, "timed_out": True}
        assert (reward, done) == (0.25, False)

    run(episode())


@pytest.mark.parametrize("field", ["content", "path"])
def test_text_that_no_json_can_carry_is_rejected_and_the_episode_goes_on(field: str) -> None:
    session, sandbox = opened(None)

    async def episode() -> None:
        await session.start()

        with pytest.raises(ActionError, match=field):
            await session.step({**WRITE, field: "a\ud800b"})

        assert sandbox.calls == []
        await session.step(WRITE)
        assert json.loads(session.trajectory.model_dump_json())

    run(episode())


# Failures after the action may have run. Source: reward contract, rules C3 and C5 to C9.

NO_VERDICT = {"has_verdict": False, "terminated": False, "truncated": True}
JUDGED = {"has_verdict": True, "terminated": True, "truncated": False}


@pytest.mark.parametrize("acted", [False, True])
@pytest.mark.parametrize(
    ("action", "failure", "error_type", "outcome"),
    [
        (BASH, SandboxLostError("-"), "policy_sandbox_failure", JUDGED),
        (CODE, SandboxTimeoutError("-"), "policy_sandbox_failure", JUDGED),
        (WRITE, SandboxWriteError("-"), "policy_sandbox_failure", JUDGED),
        (BASH, ProviderError("-"), "sandbox_error", NO_VERDICT),
        (BASH, SandboxRetiredError("-"), "sandbox_error", NO_VERDICT),
    ],
)
def test_step_that_fails_ends_the_episode_with_a_fixed_result(
    action: dict[str, str],
    failure: SandboxError,
    error_type: str,
    outcome: dict[str, bool],
    acted: bool,
) -> None:
    clock = FakeClock()
    sandbox = FakeSandbox(*([ran()] if acted else []), failure)
    session = Session(environment(), FakeBackend(sandbox), clock=clock)

    async def episode() -> None:
        await session.start()
        clock.advance(10.0)
        if acted:
            await session.step(BASH)

        with pytest.raises(type(failure)) as raised:
            await session.step(action)

        assert raised.value is failure
        assert session.state is SessionState.FAILED
        fixed = session.failure_result
        assert fixed is not None
        assert {
            "has_verdict": fixed.has_verdict,
            "terminated": session.terminated,
            "truncated": session.truncated,
        } == outcome
        assert (fixed.score, fixed.error_type, fixed.sandbox_id) == (0.0, error_type, "fake-1")
        assert len(session.trajectory.steps) == len(session.trajectory.step_rewards) + 1
        # The verifier would be beyond the script.
        assert await session.score() is fixed
        assert await session.score() is fixed
        with pytest.raises(SessionClosedError):
            await session.step(BASH)

    run(episode())
    assert sandbox.stops


@pytest.mark.parametrize("acted", [False, True])
@pytest.mark.parametrize("kind", [SandboxLostError, SandboxExhaustedError])
def test_action_that_certainly_did_not_run_is_charged_only_to_an_agent_that_had_acted(
    kind: type[SandboxError], acted: bool
) -> None:
    session, _ = opened(*([ran()] if acted else []), kind("-", may_have_run=False))

    async def episode() -> None:
        await session.start()
        if acted:
            await session.step(BASH)

        with pytest.raises(kind):
            await session.step(BASH)

        assert session.acted is acted
        assert (await session.score()).has_verdict is acted

    run(episode())


@pytest.mark.parametrize(("busy_s", "judged_zero"), [(4.0, False), (5.0, True), (9.0, True)])
def test_retired_sandbox_is_charged_when_the_agents_actions_took_half_the_time(
    busy_s: float, judged_zero: bool
) -> None:
    clock = FakeClock()
    sandbox = FakeSandbox(Taking(busy_s, clock, ran()), SandboxRetiredError("its lifetime ended"))
    session = Session(environment(), FakeBackend(sandbox), clock=clock)

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        clock.advance(10.0 - busy_s)

        with pytest.raises(SandboxRetiredError):
            await session.step(BASH)

        assert (await session.score()).has_verdict is judged_zero

    run(episode())


def test_retirement_under_the_final_verifier_follows_the_same_rule() -> None:
    clock = FakeClock()
    sandbox = FakeSandbox(Taking(9.0, clock, ran()), SandboxRetiredError("its lifetime ended"))
    session = Session(environment(), FakeBackend(sandbox), clock=clock)

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        clock.advance(1.0)

        assert (await session.score()).error_type == "policy_sandbox_failure"

    run(episode())


def test_fault_in_a_backend_is_raised_as_it_is_and_never_charged() -> None:
    session, sandbox = opened(ran(), KeyError("/host/path"))

    async def episode() -> None:
        await session.start()
        await session.step(BASH)

        with pytest.raises(KeyError):
            await session.step(BASH)

        result = await session.score()
        assert (result.has_verdict, result.error_type) == (False, "sandbox_error")
        assert "/host/path" not in result.output

    run(episode())
    assert sandbox.stops


def test_no_action_is_ever_tried_again() -> None:
    session, sandbox = opened(SandboxLostError("-"), ran())

    async def episode() -> None:
        await session.start()
        with pytest.raises(SandboxLostError):
            await session.step(BASH)

    run(episode())
    assert len(sandbox.calls) == 1


# Step verifiers. Source: reward contract, rules B1 to B6.

CRASH = VerifierOutcome(exit_code=1, crash="ValueError")
LATE = VerifierOutcome(exit_code=None, timed_out=True, touched=True)


def test_step_verifier_gets_the_number_and_the_output_and_its_reward_counts() -> None:
    session, sandbox = opened(
        ran(b"out", b"err"),
        judged(0.25),
        None,
        judged(0.5),
        step_verifier_code="code",
        verifier_timeout=3.0,
    )

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        await session.step(WRITE)

    run(episode())
    requests = [call[1] for call in sandbox.calls if call[0] == "verify"]
    assert [request.step_number for request in requests] == [1, 2]
    assert [request.step_output for request in requests] == [b"out\nerr", b"wrote d/e.txt"]
    assert [(r.code, r.timeout_s, r.final) for r in requests] == [("code", 3.0, False)] * 2
    assert session.trajectory.step_rewards == (0.25, 0.5)
    assert session.trajectory.total_reward == 0.75
    assert session.step_verdict is not None
    assert (session.step_verdict.reward, session.step_verdict.exit_code) == (0.5, 0)


def test_done_is_rewarded_too() -> None:
    session, _ = opened(judged(0.5), step_verifier_code="-")

    async def episode() -> None:
        await session.start()

        assert (await session.step(DONE)).reward == 0.5

    run(episode())
    assert (session.state, session.acted) == (SessionState.ENDED, False)


def test_step_verifier_that_is_late_after_reading_is_worth_zero_and_play_goes_on() -> None:
    session, _ = opened(ran(), LATE, ran(), judged(), step_verifier_code="-")

    async def episode() -> None:
        await session.start()

        assert (await session.step(BASH)).reward == 0.0
        assert session.step_verdict is not None
        assert session.step_verdict.error_type == "solution_timeout"
        assert (await session.step(BASH)).reward == 1.0

    run(episode())


def test_step_verifier_that_fails_by_itself_ends_the_episode_without_a_verdict() -> None:
    session, sandbox = opened(ran(), judged(), ran(), CRASH, step_verifier_code="-")

    async def episode() -> None:
        await session.start()
        await session.step(BASH)

        with pytest.raises(VerifierError, match="at step 2") as raised:
            await session.step(BASH)

        assert (raised.value.step, raised.value.exit_code) == (2, 1)
        assert session.state is SessionState.FAILED
        assert (session.terminated, session.truncated) == (False, True)
        assert len(session.trajectory.steps) == 2
        assert session.trajectory.step_rewards == (1.0,)
        result = await session.score()
        assert result is session.failure_result
        assert (result.has_verdict, result.error_type) == (False, "verifier_error")

    run(episode())
    assert sandbox.stops


def test_sandbox_that_dies_under_the_step_verifier_is_the_agents_doing() -> None:
    session, _ = opened(ran(), SandboxLostError("-"), step_verifier_code="-")

    async def episode() -> None:
        await session.start()

        with pytest.raises(SandboxLostError):
            await session.step(BASH)

        assert (await session.score()).error_type == "policy_sandbox_failure"

    run(episode())


def test_a_fake_that_is_asked_too_much_says_so() -> None:
    session, _ = opened()

    async def episode() -> None:
        await session.start()
        with pytest.raises(BeyondScript):
            await session.step(BASH)

    run(episode())
