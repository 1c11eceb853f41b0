"""The background loop: from any thread, inside any loop, across forks, signals and exits."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from deepgym_gym import loop
from tests.episode.programs import run_program


async def where() -> tuple[asyncio.AbstractEventLoop, str]:
    return asyncio.get_running_loop(), threading.current_thread().name


def test_all_callers_share_one_loop_in_one_thread() -> None:
    with ThreadPoolExecutor(8) as pool:
        seen = set(pool.map(lambda _: loop.run(where()), range(100)))
    seen.add(loop.run(where()))

    assert len(seen) == 1
    [(_, name)] = seen
    assert name == "deepgym-loop"


def test_calls_from_threads_run_side_by_side() -> None:
    both = threading.Barrier(2)

    async def meet() -> None:
        await asyncio.to_thread(both.wait, 30.0)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: loop.run(meet()), range(2)))


def test_run_works_inside_a_running_loop_of_the_caller() -> None:
    async def notebook() -> bool:
        ours, _ = loop.run(where())
        return ours is not asyncio.get_running_loop()

    assert asyncio.run(notebook())


def test_run_in_the_loops_own_thread_is_refused_at_once() -> None:
    async def inside() -> None:
        with pytest.raises(RuntimeError, match="await the coroutine"):
            loop.run(where())

    loop.run(inside())


def test_errors_come_back_as_they_are() -> None:
    error = KeyError("x")

    async def fail() -> None:
        raise error

    with pytest.raises(KeyError) as raised:
        loop.run(fail())
    assert raised.value is error


def hanging(log: list[str]) -> Coroutine[Any, Any, None]:
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            # Clean-up that takes a while itself.
            await asyncio.sleep(0)
            log.append("cleaned up")

    return hang()


def test_timeout_cancels_and_waits_for_the_clean_up() -> None:
    log: list[str] = []

    with pytest.raises(TimeoutError):
        loop.run(hanging(log), timeout_s=0.01)

    assert log == ["cleaned up"]


def test_coroutines_own_timeout_is_no_timeout_of_run() -> None:
    async def fail() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        loop.run(fail(), timeout_s=30.0)


def test_cancelling_a_submitted_future_cancels_the_coroutine() -> None:
    log: list[str] = []
    begun = threading.Event()

    async def call() -> None:
        begun.set()
        await hanging(log)

    future = loop.submit(call())
    assert begun.wait(30.0)

    future.cancel()

    async def others() -> None:
        while not log:
            await asyncio.sleep(0)

    loop.run(others(), timeout_s=30.0)
    assert log == ["cleaned up"]


def test_bridge_awaits_from_another_loop_and_from_the_loop_itself() -> None:
    async def from_mine() -> tuple[asyncio.AbstractEventLoop, str]:
        return await loop.bridge(where())

    assert asyncio.run(from_mine()) == loop.run(where())
    assert loop.run(from_mine()) == loop.run(where())


def test_cancelling_the_awaiting_task_cancels_the_coroutine() -> None:
    log: list[str] = []
    begun = threading.Event()

    async def call() -> None:
        begun.set()
        await hanging(log)

    async def mine() -> None:
        task = asyncio.ensure_future(loop.bridge(call()))
        await asyncio.to_thread(begun.wait, 30.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(mine())

    async def others() -> None:
        while not log:
            await asyncio.sleep(0)

    loop.run(others(), timeout_s=30.0)


def test_forked_child_has_a_loop_of_its_own_and_the_parents_goes_on() -> None:
    program = run_program("""
        import asyncio, os, threading
        from deepgym_gym import loop

        async def where():
            return id(asyncio.get_running_loop()), threading.get_native_id()

        before = loop.run(where())
        child = os.fork()
        if child == 0:
            inside = loop.run(where())
            os._exit(0 if inside != before and loop.run(where()) == inside else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0
        assert loop.run(where()) == before
    """)

    assert (program.returncode, program.stderr) == (0, "")


def test_child_forked_while_the_loop_is_being_started_does_not_hang() -> None:
    program = run_program("""
        import asyncio, os
        from deepgym_gym import loop

        with loop._lock:
            child = os.fork()
            if child == 0:
                loop.run(asyncio.sleep(0))
                os._exit(0)
            _, status = os.waitpid(child, 0)
        assert status == 0
    """)

    assert (program.returncode, program.stderr) == (0, "")


def test_ctrl_c_cancels_waits_for_the_clean_up_and_is_raised() -> None:
    program = run_program("""
        import asyncio, os, signal
        from deepgym_gym import loop

        async def interrupted():
            try:
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                print("cleaned up", flush=True)

        try:
            loop.run(interrupted())
        except KeyboardInterrupt:
            print("raised", flush=True)
    """)

    assert (program.returncode, program.stdout) == (0, "cleaned up\nraised\n"), program.stderr


def test_work_after_the_exit_began_is_refused_and_closing_does_nothing() -> None:
    program = run_program("""
        import atexit
        late = []
        atexit.register(lambda: [call() for call in late])

        import asyncio
        from deepgym_gym import DeepGym, MultiTurnEnvironment, loop

        session = DeepGym(mode="local").session(MultiTurnEnvironment(task="-"))
        session.start()

        def refused():
            assert loop.is_over()
            try:
                loop.run(asyncio.sleep(0))
            except RuntimeError as error:
                print(error)

        late += [session.close, refused]
        assert not loop.is_over()
    """)

    assert (program.returncode, program.stderr) == (0, "")
    assert program.stdout == "The interpreter is ending, and so have its sandboxes.\n"


@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_exit_with_a_step_in_flight_is_quiet(backend: str) -> None:
    program = run_program(f"""
        import contextlib, threading, time
        from deepgym_gym import DeepGym, MultiTurnEnvironment
        from deepgym_gym.errors import SandboxError

        session = DeepGym(mode="{backend}").session(MultiTurnEnvironment(task="-"))
        session.start()

        def play():
            with contextlib.suppress(SandboxError):
                session.step({{"action_type": "bash", "content": "sleep 4000"}})

        threading.Thread(target=play, daemon=True).start()
        while session.step_number < 1:
            time.sleep(0)
    """)

    assert (program.returncode, program.stdout, program.stderr) == (0, "", "")
