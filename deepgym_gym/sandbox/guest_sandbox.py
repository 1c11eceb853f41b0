"""`GuestSandbox`: the verbs of `Sandbox` over a guest's channel, shared by every backend that runs
the guest.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

from deepgym_gym.errors import (
    ActionError,
    OutputLimitError,
    SandboxExhaustedError,
    SandboxLostError,
    SandboxTimeoutError,
    SandboxUnavailableError,
    SandboxWriteError,
)
from deepgym_gym.limits import (
    CLOSE_TIMEOUT_S,
    MIB,
    REPLY_GRACE_S,
    VERIFIER_MEMORY_MB,
    VERIFIER_STDERR_BYTES,
    VERIFIER_STDOUT_BYTES,
)
from deepgym_gym.sandbox.base import Capabilities, ExecResult, VerifierOutcome, VerifyRequest
from deepgym_gym.sandbox.channel import GuestChannel, Reply

_log = logging.getLogger(__name__)
# What a request that runs nothing of the agent's may take; a loaded machine is slow, never this
# slow.
FILE_TIMEOUT_S = 60.0


def to_bytes(text: str) -> bytes:
    """The bytes of an agent's text: undecodable bytes come back as they were, lone surrogates pass
    through.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def exec_result(facts: Mapping[str, Any], body: bytes) -> ExecResult:
    """The result that a reply to `exec` or `code` describes."""
    size = facts["stdout_bytes"]
    return ExecResult(
        exit_code=facts["exit_code"],
        signal=facts.get("signal"),
        timed_out=facts.get("timed_out", False),
        stdout=body[:size],
        stderr=body[size:],
        stdout_dropped=facts["stdout_dropped"],
        stderr_dropped=facts["stderr_dropped"],
        background=facts["background"],
        shell_restarted=facts.get("shell_restarted", False),
        duration_s=facts["duration_s"],
    )


def verify_message(request: VerifyRequest) -> tuple[dict[str, Any], bytes]:
    """The guest's `verify` request: header and body."""
    blobs = {"verifier.py": to_bytes(request.code)}
    variables = {}
    environment = {"STEP_NUMBER": str(request.step_number)} if request.step_number else {}
    if request.step_output is not None:
        blobs["step_output.txt"] = request.step_output
        variables["step_output.txt"] = "STEP_OUTPUT_PATH"
    if request.state is not None:
        blobs["state.json"] = request.state
        variables["state.json"] = "VERIFIER_STATE_PATH"
    header = {
        "op": "verify",
        "timeout_s": request.timeout_s,
        "blobs": [(name, len(data)) for name, data in blobs.items()],
        "variables": variables,
        # Reading the step's output is reading the agent's work; reading the verifier's own state is
        # not.
        "touching": ["step_output.txt"],
        "environment": environment,
        "memory_bytes": VERIFIER_MEMORY_MB * MIB,
        "stdout_limit": VERIFIER_STDOUT_BYTES,
        "stderr_limit": VERIFIER_STDERR_BYTES,
    }
    return header, b"".join(blobs.values())


def verifier_outcome(facts: Mapping[str, Any], body: bytes) -> VerifierOutcome:
    """The outcome that a reply to `verify` describes."""
    size = facts["stdout_bytes"]
    return VerifierOutcome(
        exit_code=facts["exit_code"],
        signal=facts.get("signal"),
        timed_out=facts.get("timed_out", False),
        crash=facts["crash"],
        touched=facts["touched"],
        launch_failed=facts["launch_failed"],
        stdout=body[:size],
        stderr=body[size:],
        duration_s=facts["duration_s"],
    )


class GuestSandbox:
    """A sandbox whose supervisor is the guest; subclasses say how it is verified and ended."""

    def __init__(
        self, sandbox_id: str, channel: GuestChannel, work_dir: str, capabilities: Capabilities
    ) -> None:
        self._id = sandbox_id
        self._channel = channel
        self._work_dir = work_dir
        self._capabilities = capabilities
        self._stopping: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        """A unique name."""
        return self._id

    @property
    def work_dir(self) -> str:
        """The agent's work directory, as the agent sees it."""
        return self._work_dir

    @property
    def capabilities(self) -> Capabilities:
        """What is enforced, and how."""
        return self._capabilities

    async def exec(
        self, command: str, timeout_s: float, *, persistent: bool = False, secret: bool = False
    ) -> ExecResult:
        """Run `command` under bash as the agent. Raises: see `Sandbox.exec`."""
        header = {"op": "exec", "timeout_s": timeout_s, "persistent": persistent, "secret": secret}
        return await self._run(header, to_bytes(command), timeout_s)

    async def code(self, source: str, timeout_s: float, *, secret: bool = False) -> ExecResult:
        """Run Python `source` as the agent. Raises: see `Sandbox.code`."""
        header = {"op": "code", "timeout_s": timeout_s, "secret": secret}
        return await self._run(header, to_bytes(source), timeout_s)

    async def _run(self, header: dict[str, Any], body: bytes, timeout_s: float) -> ExecResult:
        facts, data = await self.ask(header, body, timeout_s=timeout_s + REPLY_GRACE_S)
        if "exhausted" in facts:
            raise SandboxExhaustedError(
                f"No process could be started in the sandbox: {facts['exhausted']}.",
                sandbox_id=self._id,
                may_have_run=False,
            )
        result = exec_result(facts, data)
        if result.signal == 9 and await self._oom_killed():
            result = dataclasses.replace(result, oom_killed=True)
        return result

    async def write(self, path: str, data: bytes) -> None:
        """Write a file beneath the work directory as the agent. Raises: see `Sandbox.write`."""
        facts, _ = await self.ask({"op": "write", "path": path}, data, timeout_s=FILE_TIMEOUT_S)
        if "blocked" in facts:
            raise ActionError(f"write_file refused: {facts['blocked']}.")
        if "disk" in facts:
            raise SandboxWriteError(
                f"The sandbox could not write {facts['disk']}.", sandbox_id=self._id
            )

    async def read(self, path: str, limit_bytes: int) -> bytes:
        """Read a file beneath the work directory. Raises: see `Sandbox.read`."""
        header = {"op": "read", "path": path, "limit": limit_bytes}
        facts, data = await self.ask(header, timeout_s=FILE_TIMEOUT_S)
        if "blocked" in facts:
            raise ActionError(f"read refused: {facts['blocked']}.")
        if "overflow" in facts:
            raise OutputLimitError(str(facts["overflow"]), sandbox_id=self._id)
        return data

    async def verify(self, request: VerifyRequest) -> VerifierOutcome:
        """Run a verifier beside the agent, in the same guest. Raises: see `Sandbox.verify`."""
        if request.final and not request.keep_processes:
            await self.ask({"op": "kill"}, timeout_s=REPLY_GRACE_S)
        header, body = verify_message(request)
        facts, data = await self.ask(header, body, timeout_s=request.timeout_s + REPLY_GRACE_S)
        return verifier_outcome(facts, data)

    async def stop(self) -> None:
        """End everything. Idempotent, never raises, bounded by `CLOSE_TIMEOUT_S`."""
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._stop_bounded())
        await asyncio.shield(self._stopping)

    async def _stop_bounded(self) -> None:
        self._channel.close()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._end()
        except Exception:
            _log.exception("sandbox %s: ending it failed; its owner's exit will end it", self._id)

    async def ask(self, header: Mapping[str, Any], body: bytes = b"", *, timeout_s: float) -> Reply:
        """One request to the guest; a sandbox that is late is ended.

        Raises:
            SandboxTimeoutError: no reply in time.
            SandboxLostError: it died, or was stopped.
        """
        if self._stopping is not None:
            raise SandboxLostError(
                "The sandbox was stopped.", sandbox_id=self._id, may_have_run=False
            )
        try:
            return await self._channel.ask(header, body, timeout_s=timeout_s)
        except SandboxTimeoutError:
            await self.stop()
            raise
        except asyncio.CancelledError:
            # The reply will come when nobody waits for it, so the channel is of no more use.
            self._channel.close()
            raise

    async def _oom_killed(self) -> bool:
        """Whether the kernel killed something for memory since this was last asked."""
        return False

    async def _end(self) -> None:
        """Wait until nothing of the sandbox is left."""


async def expect_ready(channel: GuestChannel, what: str, timeout_s: float) -> Mapping[str, Any]:
    """Wait for a new guest's first frame and return what it says.

    Raises:
        SandboxUnavailableError: it says that it could not set itself up, or died before it could.
        SandboxTimeoutError: it said nothing in time.
    """
    try:
        facts, _ = await channel.receive(timeout_s)
    except SandboxLostError as error:
        raise SandboxUnavailableError(
            f"{what} died while it started ({error}). Run `deepgym-gym doctor`."
        ) from None
    if not facts.get("ok"):
        raise SandboxUnavailableError(
            f"{what} could not be set up: {facts.get('error')}. Run `deepgym-gym doctor`."
        )
    return facts
