"""A dying warden closes its descriptors, and with them its boxes, before it can be reaped."""

import asyncio
import socket
import subprocess
import sys

from deepgym_gym.sandbox.namespace.client import WardenClient

# Closes what its owner watches, and ends when it is let.
DYING = "import os, sys; os.close(1); sys.stdin.read()"


def test_a_warden_that_is_dying_is_told_from_one_that_lives() -> None:
    async def ask_while_it_dies() -> bool:
        with subprocess.Popen(
            [sys.executable, "-c", DYING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.read) == b""
            ours, theirs = socket.socketpair()
            with ours, theirs:
                asked = asyncio.ensure_future(WardenClient(ours, process).has_ended())
                await asyncio.sleep(0)
                assert process.poll() is None
                process.stdin.close()
                return await asked

    assert asyncio.run(ask_while_it_dies())


def test_a_warden_that_lives_has_not_ended() -> None:
    async def ask() -> bool:
        with subprocess.Popen([sys.executable, "-c", DYING], stdin=subprocess.PIPE) as process:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                return await WardenClient(ours, process).has_ended()

    assert not asyncio.run(ask())
