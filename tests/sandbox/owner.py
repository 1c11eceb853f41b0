"""A process that owns sandboxes and is killed by `test_ownership.py` in the middle of what
`argv[1]` names.
"""

import asyncio
import sys

from deepgym_gym.sandbox.base import Backend, Sandbox, SandboxSpec, VerifyRequest
from deepgym_gym.sandbox.local import LocalBackend
from deepgym_gym.sandbox.namespace.backend import NamespaceBackend


def say(word: str) -> None:
    print(word, flush=True)


async def starting(backend: Backend) -> None:
    say("now")
    while True:
        await backend.start(SandboxSpec())


async def stepping(backend: Backend) -> None:
    sandbox = await _with_background(backend)
    say("now")
    await sandbox.exec("setsid sleep 4000 & sleep 4000", 4000.0)


async def scoring(backend: Backend) -> None:
    sandbox = await _with_background(backend)
    say("now")
    await sandbox.verify(
        VerifyRequest(
            code="import subprocess\nsubprocess.run(['sleep', '4000'])",
            timeout_s=4000.0,
            final=False,
        )
    )


async def closing(backend: Backend) -> None:
    say("now")
    while True:
        sandbox = await _with_background(backend)
        await sandbox.stop()


async def idling(backend: Backend) -> None:
    await _with_background(backend)
    say("now")
    await asyncio.Event().wait()


async def _with_background(backend: Backend) -> Sandbox:
    sandbox = await backend.start(SandboxSpec())
    await sandbox.exec("setsid sleep 4000 & sleep 4000 &", 30.0)
    return sandbox


if __name__ == "__main__":
    moment = {f.__name__: f for f in (starting, stepping, scoring, closing, idling)}[sys.argv[1]]
    chosen: Backend = LocalBackend() if sys.argv[2] == "local" else NamespaceBackend()
    asyncio.run(moment(chosen))
