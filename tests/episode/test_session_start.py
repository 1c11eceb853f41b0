"""Starting: retries, the phase in errors, and nothing left behind. Rules C10 and E3."""

import asyncio
import logging

import pytest

from deepgym_gym import waiting
from deepgym_gym.errors import (
    ActionError,
    DefinitionError,
    ProviderError,
    SandboxError,
    SandboxLostError,
    SandboxTimeoutError,
    SandboxUnavailableError,
    SandboxWriteError,
    SessionClosedError,
    SessionStateError,
    SetupError,
)
from deepgym_gym.sandbox.base import ExecResult, SandboxSpec
from deepgym_gym.session import Session, SessionState
from deepgym_gym.starting import TRIES
from tests.episode.scripted import environment, opened, run, waiting_for
from tests.fakes import FakeBackend, FakeSandbox, Hang, ran


def test_files_setup_script_and_setup_code_run_in_that_order() -> None:
    session, sandbox = opened(
        None,
        None,
        ran(b"from the script"),
        ran(b"from the code\n"),
        files={"a.txt": "A", "d/b.txt": "B\ud800"},
        setup_script="script",
        setup_code="code",
        setup_timeout=9.0,
        memory_mb=64,
    )

    observation = run(session.start())

    assert sandbox.calls == [
        ("write", "a.txt", b"A"),
        ("write", "d/b.txt", b"B\xed\xa0\x80"),
        ("exec", "script", 9.0, False),
        ("code", "code", 9.0),
    ]
    assert (observation.content, observation.step) == ("from the code\n", 0)
    assert session.state is SessionState.RUNNING
    assert session.acted is False


def test_setup_scripts_output_is_the_first_observation_without_setup_code() -> None:
    session, _ = opened(ran(b"out", b"err"), setup_script="script")

    assert run(session.start()).content == "out\nerr"


def test_backend_is_asked_for_what_the_definition_says() -> None:
    backend = FakeBackend(FakeSandbox())
    definition = environment(memory_mb=64, pids=10, output_kb=3)

    run(Session(definition, backend).start())

    assert backend.specs == [SandboxSpec(memory_mb=64, pids=10, output_bytes=3072)]


@pytest.mark.parametrize(
    ("answer", "message", "exit_code"),
    [
        (ran(b"bad\n", exit_code=4), "^Setup script exited 4: bad\n$", 4),
        (
            ExecResult(exit_code=None, timed_out=True, stdout=b"begun"),
            r"^Setup script timed out after 9s: begun\n\[timed out after 9s\]$",
            None,
        ),
    ],
)
def test_setup_step_that_fails_is_not_tried_again_and_leaves_nothing(
    answer: ExecResult, message: str, exit_code: int | None
) -> None:
    sandbox = FakeSandbox(answer)
    backend = FakeBackend(sandbox)
    session = Session(environment(setup_script="s", setup_code="c", setup_timeout=9), backend)

    with pytest.raises(SetupError, match=message) as raised:
        run(session.start())

    assert raised.value.exit_code == exit_code
    assert (len(backend.specs), backend.left) == (1, [])
    assert session.state is SessionState.FAILED
    assert session.sandbox is None


@pytest.mark.parametrize("error", [ActionError("in the way"), SandboxWriteError("disk full")])
def test_files_that_cannot_be_written_are_a_fault_of_the_definition(error: Exception) -> None:
    backend = FakeBackend(FakeSandbox(error))
    session = Session(environment(files={"a/b": "x"}), backend)

    with pytest.raises(SetupError, match="'a/b'"):
        run(session.start())

    assert backend.left == []


@pytest.mark.parametrize(
    "error", [ProviderError("x"), SandboxLostError("x"), SandboxUnavailableError("x")]
)
def test_start_that_fails_for_our_reason_is_tried_again(error: SandboxError) -> None:
    dying = FakeSandbox(SandboxLostError("died in setup"))
    backend = FakeBackend(error, dying, FakeSandbox(ran(b"ready")))
    session = Session(environment(setup_script="s"), backend)

    observation = run(session.start())

    assert observation.content == "ready"
    assert len(backend.specs) == 3
    assert dying.stops == 1
    assert backend.left == [session.sandbox]


def test_start_that_keeps_failing_raises_the_last_error_and_names_the_phase() -> None:
    sandboxes = [FakeSandbox(SandboxLostError(f"died {n}")) for n in range(TRIES)]
    backend = FakeBackend(*sandboxes)
    session = Session(environment(setup_code="c"), backend)

    with pytest.raises(SandboxLostError, match=r"while running the setup code \(try 3\): died 2"):
        run(session.start())

    assert backend.left == []
    assert session.state is SessionState.FAILED


def test_no_try_begins_after_the_start_deadline() -> None:
    backend = FakeBackend(ProviderError("no network", sandbox_id="box"), FakeSandbox())
    session = Session(environment(), backend, start_timeout_s=0.0)

    with pytest.raises(ProviderError, match="while creating the sandbox.* no network") as raised:
        run(session.start())

    assert raised.value.sandbox_id == "box"
    assert len(backend.specs) == 1


def test_backend_that_never_answers_is_given_up_at_the_deadline() -> None:
    hang = Hang()
    session = Session(environment(), FakeBackend(hang), start_timeout_s=0.01)

    with pytest.raises(SandboxTimeoutError, match=r"creating the sandbox.* within 0\.01 s"):
        run(session.start())

    assert hang.reached.is_set()


def test_sandbox_that_never_answers_its_setup_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SLACK_S", 0.0)
    sandboxes = [FakeSandbox(Hang(deaf=True)) for _ in range(TRIES)]
    backend = FakeBackend(*sandboxes)
    session = Session(environment(setup_script="s", setup_timeout=0.01), backend)

    with pytest.raises(SandboxTimeoutError, match="running the setup script"):
        run(session.start())

    assert backend.left == []


def test_first_error_is_not_masked_by_a_stop_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    sandbox = FakeSandbox(ran(b"bad", exit_code=3), stop=OSError("stop failed"))
    session = Session(environment(setup_script="s"), FakeBackend(sandbox))

    with caplog.at_level(logging.ERROR), pytest.raises(SetupError, match="exited 3"):
        run(session.start())

    assert "fake-1" in caplog.text


def test_cancelled_start_leaves_nothing() -> None:
    hang = Hang()
    sandbox = FakeSandbox(hang)
    session = Session(environment(setup_script="s"), FakeBackend(sandbox))

    async def episode() -> None:
        starting = asyncio.ensure_future(session.start())
        await hang.reached.wait()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    run(episode())
    assert sandbox.stops == 1
    assert session.state is SessionState.FAILED


@pytest.mark.parametrize("phase", ["creating", "setting up"])
def test_close_ends_a_start_that_does_not_return(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.01)
    hang = Hang()
    sandbox = FakeSandbox(hang)
    backend = FakeBackend(hang if phase == "creating" else sandbox, FakeSandbox())
    session = Session(environment(setup_script="s"), backend)

    async def episode() -> None:
        starting = asyncio.ensure_future(session.start())
        await hang.reached.wait()

        await session.close()

        with pytest.raises(SessionClosedError):
            await starting

    run(episode())
    assert session.state is SessionState.CLOSED
    # Nor was another one made.
    assert len(backend.specs) == 1
    assert backend.left == []


def test_close_between_two_tries_makes_no_other_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.01)
    backend = FakeBackend(ProviderError("no network"), FakeSandbox())
    session = Session(environment(), backend)

    async def episode() -> None:
        starting = await waiting_for(session.start())

        await session.close()

        with pytest.raises(SessionClosedError):
            await starting

    run(episode())
    assert (len(backend.specs), session.state) == (1, SessionState.CLOSED)


def test_calls_that_do_not_fit_a_failed_start_raise() -> None:
    session, _ = opened(ran(exit_code=1), setup_script="s")

    async def episode() -> None:
        with pytest.raises(SetupError):
            await session.start()

        for call in (session.start, session.score):
            with pytest.raises(SessionStateError):
                await call()
        assert session.failure_result is None

    run(episode())


def test_starting_twice_changes_nothing() -> None:
    session, _ = opened()

    async def episode() -> None:
        first = await waiting_for(session.start())
        with pytest.raises(SessionStateError, match="already running"):
            await session.start()
        await first

    run(episode())
    assert session.state is SessionState.RUNNING


def test_what_is_no_definition_is_refused_before_anything_is_made() -> None:
    with pytest.raises(DefinitionError, match="got str"):
        Session("notes", FakeBackend())  # type: ignore[arg-type]  # what a caller may do wrong
