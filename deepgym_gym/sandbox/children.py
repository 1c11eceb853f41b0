"""Waiting for child processes on the event loop, without threads: also while the interpreter shuts
down.
"""

import asyncio
import os
import subprocess


async def wait(process: "subprocess.Popen[bytes]", timeout_s: float) -> bool:
    """Wait until a child has ended, and reap it; False if it did not in time."""
    if process.poll() is not None:
        return True
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    fd = os.pidfd_open(process.pid)
    loop.add_reader(fd, ended.set)
    try:
        async with asyncio.timeout(timeout_s):
            await ended.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(fd)
        os.close(fd)
    process.wait()
    return True


async def end(process: "subprocess.Popen[bytes]", timeout_s: float) -> bool:
    """Wait until a child has ended by itself; kill it if it does not in time. False if it had to be
    killed.
    """
    if await wait(process, timeout_s):
        return True
    process.kill()
    await wait(process, timeout_s)
    return False
