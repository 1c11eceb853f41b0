"""The one event loop of a process: sandboxes, sessions and channels all live on it.

Synchronous callers wait for it, asynchronous ones await it from their own loop. It runs in a daemon
thread that is started when it is first needed, and until the process ends. A forked child starts
its own; nothing of the parent's is used there.
"""

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from deepgym_gym.limits import CLOSE_TIMEOUT_S
from deepgym_gym.sandbox.backends import close_backends

T = TypeVar("T")

# Seconds that the clean-up of cancelled coroutines gets: they end sandboxes, each within its bound.
_CLEAN_UP_S: Final = CLOSE_TIMEOUT_S + 1.0

# Protects `_loop`: two threads must not start two.
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
# The interpreter is going: every sandbox has been ended, and nothing must start any more.
_over = False
# Loops of the processes that this one was forked from. Collecting one would close its selector,
# which is still the parent's, too.
_inherited: list[asyncio.AbstractEventLoop] = []


def is_over() -> bool:
    """Whether the interpreter is going, and all sandboxes with it.

    What closes something that late (another `atexit` function, a destructor) has nothing to do.
    """
    return _over


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    if _loop is not None:
        return _loop
    with _lock:
        if _loop is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="deepgym-loop", daemon=True)
            try:
                thread.start()
            except BaseException:
                loop.close()
                raise
            _loop, _thread = loop, thread
        return _loop


def submit(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start a coroutine on the loop and return at once; cancelling the future cancels it.

    Raises:
        RuntimeError: the interpreter is going, see `is_over`, or has no thread left for the loop.
    """
    if _over:
        coroutine.close()
        raise RuntimeError("The interpreter is ending, and so have its sandboxes.")
    try:
        loop = _running_loop()
    except BaseException:
        coroutine.close()
        raise
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


def run(coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
    """Run a coroutine on the loop and wait for it, from any thread, inside a running loop too.

    A Ctrl-C, or the time-out, cancels it and waits for its clean-up.

    Args:
        coroutine: what to run.
        timeout_s: how many seconds it may take; None for as long as it takes.

    Raises:
        RuntimeError: called in the loop's own thread, which would wait for itself; await it
            instead.
        TimeoutError: it was not done within `timeout_s`.
    """
    if threading.current_thread() is _thread:
        coroutine.close()
        raise RuntimeError("run() was called in the event loop's own thread: await the coroutine.")
    future: Future[T] | None = None
    try:
        future = submit(coroutine)
        return future.result(timeout_s)
    except BaseException:
        # A Ctrl-C may come when the coroutine runs already and its future is not yet known here.
        if future is None or not future.done():
            _cancel(coroutine)
        raise


def _cancel(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Cancel a coroutine of the loop, and give it the time to end what it had started."""
    if _loop is None:
        return

    async def cancel() -> None:
        tasks = [task for task in asyncio.all_tasks() if task.get_coro() is coroutine]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT_S)
        else:
            # It was never started, or is over; closing it does nothing then.
            coroutine.close()

    with contextlib.suppress(BaseException):
        asyncio.run_coroutine_threadsafe(cancel(), _loop).result(_CLEAN_UP_S)


async def bridge(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine of this loop from whatever loop the caller runs on.

    Cancelling the caller cancels the coroutine.
    """
    if asyncio.get_running_loop() is _loop:
        return await coroutine
    return await asyncio.wrap_future(submit(coroutine))


def _at_exit() -> None:
    """End all sandboxes before the interpreter goes; what does not end in time, the warden ends.

    The loop runs on, so that a thread which still waits for it gets its answer.
    """
    global _over
    _over = True
    if _loop is None:
        return
    with contextlib.suppress(BaseException):
        asyncio.run_coroutine_threadsafe(close_backends(), _loop).result(_CLEAN_UP_S)


def _after_fork() -> None:
    global _lock, _loop, _thread, _over
    _lock = threading.Lock()
    if _loop is not None:
        _inherited.append(_loop)
    _loop = _thread = None
    _over = False


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
