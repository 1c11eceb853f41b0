"""Whole episodes in real sandboxes, through both faces."""

import asyncio
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from deepgym_gym import (
    Action,
    ActionError,
    AsyncDeepGym,
    DeepGym,
    DefinitionError,
    MultiTurnEnvironment,
    Observation,
    loop,
    waiting,
)
from deepgym_gym.client import SyncSession
from deepgym_gym.errors import (
    SandboxError,
    SandboxExhaustedError,
    SandboxLostError,
    SandboxWriteError,
    SessionClosedError,
    SessionStateError,
    SetupError,
    VerifierError,
)
from deepgym_gym.playing import MAX_REJECTED
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.sandbox.local import LocalSandbox
from deepgym_gym.sandbox.namespace.backend import NamespaceSandbox
from deepgym_gym.session import SessionState
from tests.episode.programs import run_program

NOTES = (
    "import json, pathlib\n"
    'p = pathlib.Path("notes.txt")\n'
    'ok = p.is_file() and p.read_text().strip() == "hello"\n'
    'print(json.dumps({"score": float(ok), "passed": ok}))\n'
)

BOMB = """
import os, time
try:
    while os.fork():
        pass
    time.sleep(4000)
except OSError:
    pass
"""


def bash(command: str) -> dict[str, Any]:
    return {"action_type": "bash", "content": command}


def environment(**fields: Any) -> MultiTurnEnvironment:
    return MultiTurnEnvironment(**{"task": "-", "final_verifier_code": NOTES, **fields})


@pytest.fixture(params=["namespace", "local"])
def mode(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A backend; the test fails if it leaves a sandbox, or its folder, there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    name = str(request.param)
    yield name
    assert live(name) == set()
    assert list(tmp_path.iterdir()) == []


def live(name: str) -> set[Any]:
    """The sandboxes that a backend has not ended."""
    found = vars(get_backend(name))["_live"]
    assert isinstance(found, set)
    return found


def kill(session: SyncSession) -> None:
    """End a sandbox from outside, as a machine's own trouble would."""
    sandbox = session._session.sandbox
    if isinstance(sandbox, LocalSandbox):
        sandbox._process.kill()
        sandbox._process.wait()
    else:
        assert isinstance(sandbox, NamespaceSandbox)
        loop.run(_ended_by_the_warden(sandbox))


async def _ended_by_the_warden(sandbox: NamespaceSandbox) -> None:
    await sandbox._warden.ask({"op": "stop", "name": sandbox.id})


def test_the_documents_example_works_as_printed(mode: str) -> None:
    env = MultiTurnEnvironment(
        task="Write the word hello into notes.txt, then send done.",
        final_verifier_code=NOTES,
    )

    dg = DeepGym(mode=mode)
    with dg.session(env) as session:
        obs = session.start()
        assert obs.content == ""
        obs, reward, done = session.step(
            Action(action_type="bash", content="echo hello > notes.txt")  # type: ignore[arg-type]  # as printed
        )
        assert (obs.content, obs.metadata, reward, done) == ("", {"exit_code": 0}, 0.0, False)
        obs, reward, done = session.step(Action(action_type="done"))  # type: ignore[arg-type]  # as printed
        assert (obs.step, reward, done) == (2, 0.0, True)
        result = session.score()

    assert (result.score, result.passed, result.has_verdict) == (1.0, True, True)
    assert result.isolation == ("namespace" if mode == "namespace" else "none")
    assert session.state is SessionState.CLOSED


def test_mode_is_isolated_by_default_and_an_unknown_one_is_refused() -> None:
    assert get_backend("auto") is get_backend("namespace")
    assert repr(DeepGym()) == "DeepGym(mode='auto')"
    for opener in (DeepGym, AsyncDeepGym):
        with pytest.raises(DefinitionError, match="expected one of auto"):
            opener(mode="dcoker")


def test_run_episode_maps_observations_to_actions(mode: str) -> None:
    seen: list[Observation] = []
    actions: Iterator[dict[str, Any] | str] = iter(
        [bash("echo hello > notes.txt"), '{"action_type": "done"}']
    )

    def agent(observation: Observation) -> dict[str, Any] | str:
        seen.append(observation)
        return next(actions)

    trajectory, result = DeepGym(mode=mode).run_episode(environment(setup_script="echo hi"), agent)

    assert result.score == 1.0
    assert [observation.content for observation in seen] == ["hi\n", ""]
    assert [before for before, _ in trajectory.steps] == seen
    assert len(trajectory.step_rewards) == 2


def test_rejected_actions_come_back_to_the_agent(mode: str) -> None:
    seen: list[Observation] = []
    actions: Iterator[dict[str, Any] | str] = iter(
        [bash("true"), "no json", {"action_type": "done"}]
    )

    def agent(observation: Observation) -> dict[str, Any] | str:
        seen.append(observation)
        return next(actions)

    trajectory, result = DeepGym(mode=mode).run_episode(
        environment(allowed_actions=["done", "code"]), agent
    )

    assert [observation.content[:10] for observation in seen] == ["", "[rejected]", "[rejected]"]
    assert "'bash' not allowed here" in seen[1].content
    assert len(trajectory.steps) == 1
    assert result.has_verdict


def test_agent_whose_every_action_is_rejected_is_scored_as_it_is() -> None:
    calls = []

    def agent(observation: Observation) -> str:
        calls.append(observation)
        return "no json"

    _, result = DeepGym(mode="local").run_episode(environment(), agent)

    assert len(calls) == MAX_REJECTED
    assert (result.score, result.has_verdict) == (0.0, True)


def test_agent_that_raises_leaves_nothing_behind(mode: str) -> None:
    def agent(observation: Observation) -> str:
        raise KeyError("the agent's own fault")

    with pytest.raises(KeyError):
        DeepGym(mode=mode).run_episode(environment(), agent)


def test_episodes_run_side_by_side_on_the_callers_own_loop(mode: str) -> None:
    async def agent(observation: Observation) -> dict[str, Any]:
        await asyncio.sleep(0)
        if observation.step == 0:
            return bash("echo hello > notes.txt")
        return {"action_type": "done"}

    async def episodes() -> list[float]:
        opener = AsyncDeepGym(mode=mode)
        played = await asyncio.gather(*(opener.run_episode(environment(), agent) for _ in range(4)))
        return [result.score for _, result in played]

    assert asyncio.run(episodes()) == [1.0] * 4


def test_asynchronous_session_has_the_same_calls(mode: str) -> None:
    async def episode() -> None:
        async with AsyncDeepGym(mode=mode).session(environment()) as session:
            first = await session.start()
            observation, reward, done = await session.step(bash("echo hello | tee notes.txt"))
            result = await session.score()

            assert (first.step, observation.content, reward, done) == (0, "hello\n", 0.0, False)
            assert result.score == 1.0
            assert (session.step_number, session.acted) == (1, True)
            assert len(session.trajectory.steps) == 1
        assert session.state is SessionState.CLOSED

    asyncio.run(episode())


def test_synchronous_calls_work_inside_a_running_loop(mode: str) -> None:
    async def notebook() -> float:
        with DeepGym(mode=mode).session(environment()) as session:
            session.start()
            session.step(bash("echo hello > notes.txt"))
            return session.score().score

    assert asyncio.run(notebook()) == 1.0


def test_steps_from_many_threads_queue_up(mode: str) -> None:
    with DeepGym(mode=mode).session(environment(max_steps=None)) as session:
        session.start()

        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda n: session.step(bash(f"echo {n} >> log")), range(16)))

        assert sorted(result.observation.step for result in results) == list(range(1, 17))
        written = session.step(bash("sort -n log")).observation.content
        assert written.split() == [str(n) for n in range(16)]


def test_step_verifier_reads_the_steps_output_and_number(mode: str) -> None:
    verifier = (
        "import os\n"
        "text = open(os.environ['STEP_OUTPUT_PATH']).read()\n"
        "print(len(text.split()) / 10 + int(os.environ['STEP_NUMBER']) / 100)\n"
    )
    with DeepGym(mode=mode).session(environment(step_verifier_code=verifier)) as session:
        session.start()

        assert session.step(bash("printf 'a b'; printf c >&2")).reward == pytest.approx(0.31)
        assert session.step({"action_type": "code", "content": "print('x')"}).reward == (
            pytest.approx(0.12)
        )
        assert session.step_verdict is not None
        assert session.step_verdict.exit_code == 0


@pytest.mark.parametrize(
    ("command", "ends"),
    [("echo DONE", True), ("echo '{\"done\": true}' >&2", True), ("echo not DONE yet", False)],
)
def test_output_that_says_done_terminates(mode: str, command: str, ends: bool) -> None:
    with DeepGym(mode=mode).session(environment()) as session:
        session.start()

        assert session.step(bash(command)).done is ends
        assert (session.terminated, session.truncated) == (ends, False)


def test_command_over_its_time_keeps_its_output_and_the_episode_goes_on(mode: str) -> None:
    with DeepGym(mode=mode).session(environment(timeout_per_step=0.5)) as session:
        session.start()

        observation, _, done = session.step(bash("echo begun; sleep 4000"))

        assert observation.content == "begun\n[timed out after 0.5s]"
        assert not done
        assert session.step(bash("echo after")).observation.content == "after\n"


def test_any_bytes_become_text(mode: str) -> None:
    with DeepGym(mode=mode).session(environment(output_kb=1)) as session:
        session.start()

        odd = session.step(bash(r"printf '\xff\0\x1b[2J\u00e9'")).observation
        big = session.step(bash("head -c 5000 /dev/zero | tr '\\0' x; sleep 4000 &")).observation

        assert odd.content == "\ufffd\0\x1b[2J\xe9"
        assert json.loads(odd.model_dump_json())["content"] == odd.content
        assert big.content == "x" * 1024 + (
            "\n[3976 bytes of stdout dropped: the limit is 1024 bytes]"
            "\n[1 background process is running]"
        )


@pytest.mark.parametrize("obstacle", ["mkdir f", "ln -s /etc/passwd f", "mkfifo f"])
def test_write_that_the_agents_own_files_are_in_the_way_of_is_rejected(
    mode: str, obstacle: str
) -> None:
    write = {"action_type": "write_file", "path": "f", "content": "x"}
    with DeepGym(mode=mode).session(environment()) as session:
        session.start()
        session.step(bash(obstacle))

        with pytest.raises(ActionError):
            session.step(write)

        assert session.step(bash("rm -r f")).observation.step == 3
        assert session.step(write).observation.content == "wrote f"


@pytest.mark.parametrize("field", ["setup_script", "setup_code"])
def test_failing_setup_raises_and_leaves_nothing(mode: str, field: str) -> None:
    source = "echo bad >&2; exit 4" if field == "setup_script" else "print('bad'); exit(4)"
    with DeepGym(mode=mode).session(environment(**{field: source})) as session:
        with pytest.raises(SetupError, match="exited 4: bad") as raised:
            session.start()

        assert raised.value.exit_code == 4
        assert live(mode) == set()
        with pytest.raises(SessionStateError):
            session.score()


def test_setup_over_its_time_raises_and_leaves_nothing(mode: str) -> None:
    slow = environment(setup_script="echo begun; sleep 4000", setup_timeout=0.5)
    with (
        DeepGym(mode=mode).session(slow) as session,
        pytest.raises(SetupError, match=r"timed out after 0\.5s: begun"),
    ):
        session.start()


# Sandboxes that fail. Source: reward contract, rules C3, C5, C8, C9 and C13.


def test_sandbox_that_dies_before_the_agent_acted_has_no_verdict(mode: str) -> None:
    with DeepGym(mode=mode).session(environment()) as session:
        session.start()
        kill(session)

        with pytest.raises(SandboxLostError):
            session.step(bash("true"))

        result = session.score()
        assert (result.has_verdict, result.error_type) == (False, "sandbox_error")
        assert (session.acted, session.truncated) == (False, True)


def test_sandbox_that_dies_after_the_agent_acted_is_its_doing(mode: str) -> None:
    with DeepGym(mode=mode).session(environment()) as session:
        session.start()
        session.step(bash("true"))
        kill(session)

        with pytest.raises(SandboxLostError):
            session.step(bash("true"))

        result = session.score()
        assert (result.has_verdict, result.error_type) == (True, "policy_sandbox_failure")
        assert (session.terminated, session.failure_result) == (True, result)


def test_agent_that_uses_up_all_processes_is_judged() -> None:
    with DeepGym(mode="namespace").session(environment(pids=16)) as session:
        session.start()
        session.step({"action_type": "code", "content": BOMB})

        with pytest.raises(SandboxExhaustedError):
            session.step(bash("true"))

        assert session.score().error_type == "policy_sandbox_failure"


def test_agent_that_fills_the_disk_is_judged() -> None:
    with DeepGym(mode="namespace").session(environment(disk_mb=1)) as session:
        session.start()
        session.step(bash("head -c 4000000 /dev/zero > big; true"))

        with pytest.raises(SandboxWriteError):
            session.step({"action_type": "write_file", "path": "f", "content": "x" * 9000})

        assert session.score().error_type == "policy_sandbox_failure"
        assert len(session.trajectory.steps) == 2
        assert len(session.trajectory.step_rewards) == 1


@pytest.mark.parametrize("mode", ["local"], indirect=True)
def test_run_episode_returns_the_result_that_a_failed_step_fixed(mode: str) -> None:
    trajectory, result = DeepGym(mode=mode).run_episode(
        environment(), lambda _: bash("kill -9 $PPID")
    )

    assert (result.has_verdict, result.error_type) == (True, "policy_sandbox_failure")
    assert (len(trajectory.steps), trajectory.step_rewards) == (1, ())


def test_step_verifier_that_crashes_by_itself_ends_the_episode(mode: str) -> None:
    with DeepGym(mode=mode).session(environment(step_verifier_code="1 / 0")) as session:
        session.start()

        with pytest.raises(VerifierError, match="at step 1"):
            session.step(bash("true"))

        assert not session.score().has_verdict
        assert live(mode) == set()


# Ends from outside. Source: reward contract, rules C14 to C16.


def test_close_from_another_thread_ends_a_long_step(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.1)
    session = DeepGym(mode=mode).session(environment(timeout_per_step=3000))
    session.start()
    raised: list[SandboxError] = []

    def play() -> None:
        try:
            session.step(bash("sleep 4000"))
        except SandboxError as error:
            raised.append(error)

    step = threading.Thread(target=play)
    step.start()
    while not session.acted:
        loop.run(asyncio.sleep(0))

    session.close()

    step.join(30.0)
    assert len(raised) == 1
    assert session.state is SessionState.CLOSED
    assert session.failure_result is not None
    assert session.failure_result.error_type == "interrupted"
    with pytest.raises(SessionClosedError):
        session.step(bash("true"))


def test_cancelled_step_is_interrupted_and_its_sandbox_ended(mode: str) -> None:
    async def episode() -> None:
        async with AsyncDeepGym(mode=mode).session(environment()) as session:
            await session.start()
            step = asyncio.ensure_future(session.step(bash("sleep 4000")))
            while not session.acted:
                await asyncio.sleep(0)

            step.cancel()
            with pytest.raises(asyncio.CancelledError):
                await step

            result = await session.score()
            assert (result.has_verdict, result.error_type) == (False, "interrupted")
            assert live(mode) == set()

    asyncio.run(episode())


@pytest.mark.parametrize("moment", ["start", "step", "score"])
def test_ctrl_c_ends_the_sandbox_and_charges_nobody(mode: str, moment: str) -> None:
    slow = "import time, pathlib; pathlib.Path('x').exists(); time.sleep(4000)"
    program = run_program(f"""
        import os, signal, threading, time
        from deepgym_gym import DeepGym, MultiTurnEnvironment
        from deepgym_gym.sandbox.backends import get_backend

        moment = {moment!r}
        env = MultiTurnEnvironment(
            task="-",
            setup_script="sleep 4000" if moment == "start" else None,
            final_verifier_code={slow!r},
            timeout_per_step=3000,
        )
        backend = get_backend({mode!r})
        session = DeepGym({mode!r}).session(env)
        inner = session._session

        def interrupt():
            # The call holds the lock from its beginning to its end; a sandbox is live in each.
            while not (backend._live and inner._lock.locked()) or not armed:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        armed = []
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            with session:
                armed += [1] * (moment == "start")
                session.start()
                armed += [1] * (moment == "step")
                session.step({{"action_type": "bash", "content": "sleep 4000"}}) if armed else None
                armed += [1]
                session.score()
        except KeyboardInterrupt:
            fixed = session.failure_result
            print(session.state.value, fixed and fixed.error_type, len(backend._live))
    """)

    fixed = "None" if moment == "start" else "interrupted"
    assert program.stdout == f"closed {fixed} 0\n", program.stderr
    assert (program.returncode, program.stderr) == (0, "")


def test_forked_child_opens_its_own_session_and_leaves_its_parents_alone(mode: str) -> None:
    program = run_program(f"""
        import os
        from deepgym_gym import DeepGym, MultiTurnEnvironment
        from deepgym_gym.errors import SessionStateError

        def hello(session):
            return session.step({{"action_type": "bash", "content": "echo hello"}}).observation

        opener = DeepGym({mode!r})
        env = MultiTurnEnvironment(task="-")
        with opener.session(env) as session:
            session.start()
            child = os.fork()
            if child == 0:
                try:
                    hello(session)
                except SessionStateError:
                    session.close()
                    with opener.session(env) as own:
                        own.start()
                        os._exit(0 if hello(own).content == "hello\\n" else 2)
                os._exit(1)
            _, status = os.waitpid(child, 0)
            assert status == 0, status
            assert hello(session).content == "hello\\n"
    """)

    assert (program.returncode, program.stderr) == (0, "")


def test_many_short_episodes_leave_no_descriptor_thread_or_task(mode: str) -> None:
    def episode() -> None:
        with DeepGym(mode=mode).session(environment()) as session:
            session.start()
            session.step(bash("true"))
            session.score()

    async def tasks() -> int:
        return len(asyncio.all_tasks())

    episode()
    before = (len(os.listdir("/proc/self/fd")), threading.active_count(), loop.run(tasks()))

    for _ in range(10):
        episode()

    after = (len(os.listdir("/proc/self/fd")), threading.active_count(), loop.run(tasks()))
    assert after == before
