"""Sessions over scripted sandboxes, for the faults that no real one has on demand."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.session import Session
from tests.fakes import FakeBackend, FakeSandbox

T = TypeVar("T")

BASH = {"action_type": "bash", "content": "make"}
CODE = {"action_type": "code", "content": "pass"}
WRITE = {"action_type": "write_file", "path": "d/e.txt", "content": "text"}
DONE = {"action_type": "done"}


def environment(**fields: Any) -> MultiTurnEnvironment:
    return MultiTurnEnvironment(**{"task": "-", "final_verifier_code": "-", **fields})


def opened(*answers: object, **fields: Any) -> tuple[Session, FakeSandbox]:
    """A session that has not started, and the sandbox that it will get."""
    sandbox = FakeSandbox(*answers)
    return Session(environment(**fields), FakeBackend(sandbox)), sandbox


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


async def waiting_for(call: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
    """Start a call and let it go as far as it gets without anything else happening."""
    task = asyncio.ensure_future(call)
    for _ in range(10):
        await asyncio.sleep(0)
    return task
