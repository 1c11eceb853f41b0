"""Scoring: once, from the right states, and never by a verifier after a failed step. Rule A20."""

import asyncio

import pytest

from deepgym_gym import waiting
from deepgym_gym.errors import (
    SandboxLostError,
    SandboxUnavailableError,
    SessionClosedError,
    SessionStateError,
)
from deepgym_gym.sandbox.base import VerifierOutcome
from deepgym_gym.session import SessionState
from tests.episode.scripted import BASH, DONE, opened, run
from tests.fakes import Hang, judged, ran


def test_score_twice_gives_the_same_result_of_one_run() -> None:
    session, sandbox = opened(ran(), judged(0.5))

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        await session.step(DONE)

        first = await session.score()
        again = await session.score()

        assert again is first
        assert (first.score, first.has_verdict, first.sandbox_id) == (0.5, True, "fake-1")

    run(episode())
    assert [call[0] for call in sandbox.calls] == ["exec", "verify"]
    assert (session.state, session.terminated) == (SessionState.SCORED, True)


def test_final_verifier_gets_what_the_definition_says() -> None:
    session, sandbox = opened(
        judged(), final_verifier_code="code", timeout_per_step=4, keep_processes=True
    )

    async def episode() -> None:
        await session.start()
        await session.score()

    run(episode())
    [(_, request)] = sandbox.calls
    assert (request.code, request.timeout_s, request.final) == ("code", 4, True)
    assert (request.keep_processes, request.step_output) == (True, None)


def test_scoring_a_running_episode_ends_it_truncated() -> None:
    session, _ = opened(ran(), judged())

    async def episode() -> None:
        await session.start()
        await session.step(BASH)

        assert (await session.score()).score == 1.0

        assert session.state is SessionState.SCORED
        assert (session.terminated, session.truncated) == (False, True)
        with pytest.raises(SessionClosedError):
            await session.step(BASH)

    run(episode())


def test_score_before_start_and_after_close_raises_and_changes_nothing() -> None:
    session, sandbox = opened()

    async def episode() -> None:
        with pytest.raises(SessionStateError, match="call start"):
            await session.score()
        assert session.state is SessionState.NEW

        await session.start()
        await session.close()
        with pytest.raises(SessionClosedError):
            await session.score()

    run(episode())
    assert (session.state, sandbox.calls) == (SessionState.CLOSED, [])


def test_environment_without_final_verifier_has_no_verdict() -> None:
    session, _ = opened(final_verifier_code=None)

    async def episode() -> None:
        await session.start()
        await session.step(DONE)

        result = await session.score()

        assert (result.has_verdict, result.error_type) == (False, "no_verifier")

    run(episode())


@pytest.mark.parametrize("acted", [False, True])
def test_sandbox_that_dies_under_the_final_verifier(acted: bool) -> None:
    session, _ = opened(*([ran()] if acted else []), SandboxLostError("-"))

    async def episode() -> None:
        await session.start()
        if acted:
            await session.step(BASH)

        result = await session.score()

        assert result.has_verdict is acted
        assert await session.score() is result

    run(episode())


def test_verifier_whose_box_cannot_be_made_is_not_charged() -> None:
    session, _ = opened(ran(), SandboxUnavailableError("no box"))

    async def episode() -> None:
        await session.start()
        await session.step(BASH)

        assert not (await session.score()).has_verdict

    run(episode())


def test_backend_that_never_answers_a_verifier_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SLACK_S", 0.0)
    session, _ = opened(Hang(deaf=True), timeout_per_step=0.01)

    async def episode() -> None:
        await session.start()

        result = await session.score()

        assert (result.has_verdict, result.error_type) == (False, "sandbox_error")
        assert "gave no answer" in result.output

    run(episode())


def test_interrupted_scoring_is_no_verdict_and_is_not_tried_again() -> None:
    hang = Hang(VerifierOutcome(exit_code=0))
    session, sandbox = opened(ran(), hang)

    async def episode() -> None:
        await session.start()
        await session.step(BASH)
        scoring = asyncio.ensure_future(session.score())
        await hang.reached.wait()

        scoring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scoring

        result = await session.score()
        assert (result.has_verdict, result.error_type) == (False, "interrupted")
        assert session.failure_result is result
        assert session.state is SessionState.FAILED

    run(episode())
    assert sandbox.stops
