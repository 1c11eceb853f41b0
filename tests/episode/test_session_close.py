"""Closing, queueing and interruption: rules C14 to C16."""

import asyncio
import os
from typing import Any

import pytest

from deepgym_gym import waiting
from deepgym_gym.errors import SandboxLostError, SessionClosedError, SessionStateError
from deepgym_gym.session import Session, SessionState
from tests.episode.scripted import BASH, CODE, environment, opened, run, waiting_for
from tests.fakes import FakeBackend, FakeSandbox, Hang, judged, ran


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waits 10 ms for a running call, and as long for the sandbox."""
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.01)
    monkeypatch.setattr(waiting, "STOP_S", 0.01)


def test_calls_queue_up_in_order() -> None:
    hang = Hang(ran(b"first"))
    session, sandbox = opened(hang, ran(b"second"), judged())

    async def episode() -> None:
        await session.start()
        first = await waiting_for(session.step(BASH))
        second = await waiting_for(session.step(CODE))
        scoring = await waiting_for(session.score())
        assert [call[0] for call in sandbox.calls] == ["exec"]

        hang.release()

        assert (await scoring).score == 1.0
        assert (await first).observation.step == 1
        assert (await second).observation.step == 2

    run(episode())
    assert [call[0] for call in sandbox.calls] == ["exec", "code", "verify"]


def test_close_before_start_and_twice() -> None:
    session, sandbox = opened()

    async def episode() -> None:
        await session.close()
        await session.close()

        with pytest.raises(SessionClosedError):
            await session.start()

    run(episode())
    assert (session.state, sandbox.stops) == (SessionState.CLOSED, 0)


def test_every_call_after_close_raises_and_changes_nothing() -> None:
    session, sandbox = opened(ran())

    async def episode() -> None:
        async with session:
            await session.start()
            await session.step(BASH)
        before = session.trajectory

        for call in (session.start(), session.step(BASH), session.score()):
            with pytest.raises(SessionClosedError):
                await call

        assert session.trajectory == before

    run(episode())
    assert (session.state, sandbox.stops) == (SessionState.CLOSED, 1)


def test_session_closes_also_when_its_block_fails() -> None:
    session, sandbox = opened()

    async def episode() -> None:
        async with session:
            await session.start()
            raise KeyError

    with pytest.raises(KeyError):
        run(episode())
    assert sandbox.stops == 1


def test_close_waits_for_a_running_step_and_refuses_what_is_queued() -> None:
    hang = Hang(ran(b"finished"))
    session, sandbox = opened(hang)

    async def episode() -> None:
        await session.start()
        step = await waiting_for(session.step(BASH))
        queued = await waiting_for(session.step(CODE))
        closing = await waiting_for(session.close())
        assert not closing.done()
        assert sandbox.stops == 0

        hang.release()
        await closing

        assert (await step).observation.content == "finished"
        with pytest.raises(SessionClosedError):
            await queued

    run(episode())
    assert [call[0] for call in sandbox.calls] == ["exec"]
    assert sandbox.stops
    assert session.state is SessionState.CLOSED


@pytest.mark.usefixtures("impatient")
def test_close_ends_the_sandbox_under_a_step_that_takes_too_long_and_charges_nobody() -> None:
    session, sandbox = opened(ran(), Hang())

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        step = await waiting_for(session.step(BASH))

        await session.close()

        assert session.state is SessionState.CLOSED
        with pytest.raises(SandboxLostError):
            await step
        assert session.failure_result is not None
        assert session.failure_result.error_type == "interrupted"
        assert len(session.trajectory.steps) == 2

    run(episode())
    assert sandbox.stops


@pytest.mark.usefixtures("impatient")
def test_close_under_a_verifier_gives_no_verdict() -> None:
    session, _ = opened(ran(), Hang())

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        scoring = await waiting_for(session.score())

        await session.close()

        result = await scoring
        assert (result.has_verdict, result.error_type) == (False, "interrupted")
        assert session.state is SessionState.CLOSED

    run(episode())


@pytest.mark.usefixtures("impatient")
def test_close_leaves_a_call_that_nothing_can_end() -> None:
    hang = Hang(ran(b"DONE"), deaf=True)
    session, sandbox = opened(hang)

    async def episode() -> None:
        await session.start()
        step = await waiting_for(session.step(BASH))

        await session.close()

        assert (session.state, step.done()) == (SessionState.CLOSED, False)
        hang.release()
        await step
        assert session.state is SessionState.CLOSED

    run(episode())
    assert sandbox.stops


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("stop", [OSError("stop failed"), "hang"])
def test_close_returns_although_the_sandbox_does_not_stop(stop: OSError | str) -> None:
    sandbox = FakeSandbox(stop=stop if isinstance(stop, OSError) else Hang(deaf=True))
    session = Session(environment(), FakeBackend(sandbox))

    async def episode() -> None:
        await session.start()
        await session.close()
        await session.close()

    run(episode())
    assert session.state is SessionState.CLOSED


def test_concurrent_closes_end_the_sandbox_once() -> None:
    session, sandbox = opened()

    async def episode() -> None:
        await session.start()
        await asyncio.gather(*(session.close() for _ in range(5)))

    run(episode())
    assert sandbox.stops == 1


def test_cancelled_close_goes_on() -> None:
    stop = Hang()
    sandbox = FakeSandbox(stop=stop)
    session = Session(environment(), FakeBackend(sandbox))

    async def episode() -> None:
        await session.start()
        closing = asyncio.ensure_future(session.close())
        await stop.reached.wait()
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing

        stop.release()
        await session.close()

        assert session.state is SessionState.CLOSED

    run(episode())


def test_cancelled_step_ends_the_episode_interrupted() -> None:
    hang = Hang()
    session, sandbox = opened(ran(), hang)

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        step = asyncio.ensure_future(session.step(BASH))
        await hang.reached.wait()

        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step

        assert session.state is SessionState.FAILED
        assert (session.terminated, session.truncated) == (False, True)
        result = await session.score()
        assert (result.has_verdict, result.error_type) == (False, "interrupted")
        assert len(session.trajectory.steps) == 2
        assert session.trajectory.step_rewards == (0.0,)

    run(episode())
    assert sandbox.stops


def test_cancelled_while_queued_changes_nothing() -> None:
    hang = Hang(ran())
    session, sandbox = opened(hang)

    async def episode() -> None:
        await session.start()
        step = await waiting_for(session.step(BASH))
        queued = await waiting_for(session.step(CODE))

        queued.cancel()
        hang.release()
        await step

        with pytest.raises(asyncio.CancelledError):
            await queued
        assert (session.state, session.step_number) == (SessionState.RUNNING, 1)

    run(episode())
    assert len(sandbox.calls) == 1


def test_caller_that_is_cancelled_again_still_ends_the_sandbox_first() -> None:
    hang, stop = Hang(), Hang(deaf=True)
    sandbox = FakeSandbox(hang, stop=stop)
    session = Session(environment(), FakeBackend(sandbox))

    async def episode() -> None:
        await session.start()
        step = asyncio.ensure_future(session.step(BASH))
        await hang.reached.wait()
        step.cancel()
        await stop.reached.wait()
        step.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        assert not step.done()

        stop.release()
        with pytest.raises(asyncio.CancelledError):
            await step

    run(episode())


def test_forked_child_cannot_touch_its_parents_session(monkeypatch: pytest.MonkeyPatch) -> None:
    session, sandbox = opened()

    async def episode() -> None:
        await session.start()
        # As seen from a child.
        monkeypatch.setattr(os, "getpid", lambda: -1)
        calls: list[Any] = [session.step(BASH), session.score(), session.start()]
        for call in calls:
            with pytest.raises(SessionStateError, match="process"):
                await call
        await session.close()

    run(episode())
    assert (session.state, sandbox.stops, sandbox.calls) == (SessionState.RUNNING, 0, [])
