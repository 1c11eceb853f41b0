"""Run every behaviour as an ordinary user: started as root, it reads its modules and then gives
root up for good.

`python -m tests.sandbox.as_user UID GID MODE`; prints one JSON object, behaviour -> "ok" or what
went wrong.
"""

import asyncio
import json
import os
import sys
import traceback

import deepgym_gym.sandbox.guest_sandbox
import deepgym_gym.sandbox.namespace.client  # noqa: F401
from deepgym_gym.sandbox import bundle, interpreter
from deepgym_gym.sandbox.base import SandboxSpec
from deepgym_gym.sandbox.namespace.backend import NamespaceBackend
from tests.sandbox.behaviours import BEHAVIOURS


async def main(mode: str) -> dict[str, str]:
    backend = NamespaceBackend(mode=mode)
    results = {}
    for name, behave in BEHAVIOURS.items():
        try:
            sandbox = await backend.start(SandboxSpec())
            try:
                await behave(sandbox)
            finally:
                await sandbox.stop()
            results[name] = "ok"
        except BaseException:
            results[name] = traceback.format_exc()
    await backend.aclose()
    return results


def drop(uid: int, gid: int) -> None:
    """Become somebody who can read neither this checkout nor this interpreter's folder, perhaps."""
    interpreter.choose()
    os.close(bundle.write_memory_file("namespace.warden", {}, warden=True))
    # Whatever is imported late must be imported now.
    asyncio.run(asyncio.to_thread(int))
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


if __name__ == "__main__":
    drop(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps(asyncio.run(main(sys.argv[3]))))
