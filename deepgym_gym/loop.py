"""The one event loop of a process: sandboxes, sessions and channels all live on it.

Synchronous callers wait for it, asynchronous ones await it from their own loop. It runs in a daemon
thread that is started when it is first needed. A forked child starts its own; nothing of the
parent's is used there.
"""

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from deepgym_gym.limits import CLOSE_TIMEOUT_S
from deepgym_gym.sandbox.backends import close_backends

T = TypeVar("T")

# Protects `_loop`: two threads must not start two.
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
# The interpreter is going: every sandbox was ended, and nothing would answer any more.
_over = False


def is_over() -> bool:
    """Whether the loop has ended with its interpreter, and all sandboxes with it.

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
            _thread = threading.Thread(target=loop.run_forever, name="deepgym-loop", daemon=True)
            _thread.start()
            _loop = loop
        return _loop


def submit(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start a coroutine on the loop and return at once; cancelling the future cancels it.

    Raises:
        RuntimeError: the interpreter is going, see `is_over`.
    """
    if _over:
        coroutine.close()
        raise RuntimeError("The interpreter is ending, and so have its sandboxes.")
    return asyncio.run_coroutine_threadsafe(coroutine, _running_loop())


def run(coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
    """Run a coroutine on the loop and wait for it, from any thread.

    A Ctrl-C, or the time-out, cancels it and waits for its clean-up.

    Raises:
        RuntimeError: called in the loop's own thread, which would wait for itself; await it
        instead.
        TimeoutError: it was not done within `timeout_s`.
    """
    if threading.current_thread() is _thread:
        coroutine.close()
        raise RuntimeError("run() was called in the event loop's own thread: await the coroutine.")
    future = submit(coroutine)
    try:
        return future.result(timeout_s)
    except BaseException:
        if not future.done():
            future.cancel()
            _wait_for_clean_up()
        raise


def _wait_for_clean_up() -> None:
    """Give cancelled coroutines the time to end what they had started."""
    if _loop is None:
        return

    async def others() -> None:
        cancelled = [task for task in asyncio.all_tasks() if task.cancelling()]
        await asyncio.wait(cancelled, timeout=CLOSE_TIMEOUT_S) if cancelled else None

    with contextlib.suppress(BaseException):
        asyncio.run_coroutine_threadsafe(others(), _loop).result(CLOSE_TIMEOUT_S + 1.0)


async def bridge(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine of this loop from whatever loop the caller runs on."""
    if asyncio.get_running_loop() is _loop:
        return await coroutine
    return await asyncio.wrap_future(submit(coroutine))


def _at_exit() -> None:
    """End all sandboxes before the interpreter goes; what does not end in time, the warden ends."""
    global _over
    if _loop is None:
        return
    _over = True
    with contextlib.suppress(BaseException):
        asyncio.run_coroutine_threadsafe(close_backends(), _loop).result(CLOSE_TIMEOUT_S + 1.0)
    _loop.call_soon_threadsafe(_loop.stop)
    if _thread is not None:
        _thread.join(1.0)


def _after_fork() -> None:
    global _lock, _loop, _thread
    _lock = threading.Lock()
    _loop = _thread = None


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
