"""`LocalBackend`: the guest as a plain child process. Not isolated; never a fallback, only on
request by name.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Sequence

from deepgym_gym import limits
from deepgym_gym.errors import SandboxUnavailableError
from deepgym_gym.sandbox import bundle, children, interpreter
from deepgym_gym.sandbox.base import Capabilities, SandboxSpec
from deepgym_gym.sandbox.channel import GuestChannel
from deepgym_gym.sandbox.guest_sandbox import GuestSandbox, expect_ready

_CAPABILITIES = Capabilities(
    "local", False, {"output": "cut while read", "touch_detection": "audit hook"}
)


class LocalBackend:
    """Runs agents on this machine, as this user, in a temporary folder each."""

    name = "local"

    def __init__(self) -> None:
        self._live: set[LocalSandbox] = set()

    async def start(self, spec: SandboxSpec) -> "LocalSandbox":
        """Make a sandbox. Raises: see `Backend.start`."""
        if spec.image is not None:
            raise SandboxUnavailableError(
                f"The local backend cannot boot the image {spec.image!r}: it has no isolation. "
                "Leave `image` out or choose an isolated backend."
            )
        name = f"local-{uuid.uuid4().hex[:12]}"
        ours, theirs = socket.socketpair()
        channel = await GuestChannel.over(ours, name)
        config = {
            "temporary": temporary_folder(),
            "path": os.environ.get("PATH", os.defpath),
            "memory_bytes": spec.memory_mb * limits.MIB,
            "output_bytes": spec.output_bytes,
        }
        python = interpreter.choose().path
        memory = bundle.write_memory_file("guest.local", config, warden=False)
        try:
            with theirs:
                command = bundle.command(python, memory, theirs.fileno())
                process = _spawn(command, (memory, theirs.fileno()))
        except OSError as error:
            channel.close()
            raise SandboxUnavailableError(f"The local guest could not start: {error}.") from None
        finally:
            os.close(memory)
        sandbox = LocalSandbox(name, channel, self, process)
        try:
            await sandbox.wait_ready()
        except BaseException:
            await sandbox.stop()
            raise
        self._live.add(sandbox)
        return sandbox

    def forget(self, sandbox: "LocalSandbox") -> None:
        """A sandbox has ended."""
        self._live.discard(sandbox)

    async def aclose(self) -> None:
        """End every sandbox."""
        await asyncio.gather(*(sandbox.stop() for sandbox in list(self._live)))


class LocalSandbox(GuestSandbox):
    """One child process and its temporary folder."""

    def __init__(
        self,
        name: str,
        channel: GuestChannel,
        backend: LocalBackend,
        process: "subprocess.Popen[bytes]",
    ) -> None:
        super().__init__(name, channel, "", _CAPABILITIES)
        self._backend = backend
        self._process = process
        self._base = ""

    async def wait_ready(self) -> None:
        """Wait for the guest's first frame, which names its folders."""
        facts = await expect_ready(self._channel, "The local guest", limits.START_TIMEOUT_S)
        self._work_dir, self._base = facts["work"], facts["base"]

    async def _end(self) -> None:
        self._backend.forget(self)
        await children.end(self._process, limits.CLOSE_TIMEOUT_S - 1.0)
        # The guest removes it, unless it was killed: by that, or by the agent.
        if self._base and os.path.exists(self._base):
            with contextlib.suppress(RecursionError):
                shutil.rmtree(self._base, ignore_errors=True)


def temporary_folder() -> str:
    """Where temporary folders go, by the variables that Python's `tempfile` knows.

    That one writes a file to try the folder, which stays if the process is killed just then.
    """
    for name in ("TMPDIR", "TEMP", "TMP"):
        folder = os.environ.get(name)
        if folder and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return os.path.abspath(folder)
    return "/tmp"  # noqa: S108  # the guest makes a private folder below it


def _spawn(command: Sequence[str], fds: tuple[int, ...]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603
        command,
        env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
        start_new_session=True,
    )
