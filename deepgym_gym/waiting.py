"""The bounds on waiting for a sandbox, which hold whatever its backend does.

Backends have tighter deadlines of their own, and promise that `stop` is bounded and never raises.
An episode does not depend on that: these here end the waiting where a backend is broken.
"""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Final, TypeVar

from deepgym_gym import limits
from deepgym_gym.errors import SandboxTimeoutError
from deepgym_gym.sandbox.base import Sandbox

T = TypeVar("T")

_log = logging.getLogger(__name__)

# Seconds beyond an operation's own time limit: a verifier's box may have to be made first, which is
# a start, and both its beginning and its end take an answer.
SLACK_S: Final = limits.START_TIMEOUT_S + 2 * limits.REPLY_GRACE_S
# How many seconds closing waits for a running call to return, before it ends the sandbox under it
# and after.
PATIENCE_S: Final = limits.CLOSE_TIMEOUT_S / 2
# A backend's `stop` is given up after so many seconds: a little more than its own bound.
STOP_S: Final = 1.2 * limits.CLOSE_TIMEOUT_S


async def within(timeout_s: float, call: Awaitable[T]) -> T:
    """Await a call on a sandbox that may itself take `timeout_s`.

    Raises:
        SandboxTimeoutError: it took longer by more than `SLACK_S`; it was cancelled.
    """
    bound = asyncio.timeout(timeout_s + SLACK_S)
    try:
        async with bound:
            return await call
    except TimeoutError as error:
        if isinstance(error, SandboxTimeoutError) or not bound.expired():
            raise
        raise SandboxTimeoutError(
            f"The sandbox's backend gave no answer within {timeout_s + SLACK_S:g} s."
        ) from None


async def end_sandbox(sandbox: Sandbox | None) -> None:
    """End a sandbox; its own failures are logged and never raised.

    A caller that is cancelled meanwhile is told so after the sandbox has ended, for nobody else
    would end it.
    """
    if sandbox is None:
        return
    stopping = asyncio.ensure_future(_stopped(sandbox))
    cancelled = False
    while not stopping.done():
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _stopped(sandbox: Sandbox) -> None:
    try:
        async with asyncio.timeout(STOP_S):
            await sandbox.stop()
    except Exception:
        _log.exception("sandbox %s: ending it failed; its owner's exit will end it", sandbox.id)
