"""Getting an episode's sandbox ready: making it, writing its files, running its setup."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from deepgym_gym import limits, observe
from deepgym_gym.actions import Observation
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import (
    ActionError,
    SandboxError,
    SandboxTimeoutError,
    SandboxWriteError,
    SessionClosedError,
    SetupError,
)
from deepgym_gym.sandbox.base import Backend, ExecResult, Sandbox, SandboxSpec
from deepgym_gym.sandbox.guest_sandbox import FILE_TIMEOUT_S, to_bytes
from deepgym_gym.waiting import end_sandbox, within

_log = logging.getLogger(__name__)

TRIES: Final = 3
# Seconds before the second try; four times as many before the third.
_FIRST_PAUSE_S: Final = 0.05
# How many characters of a failed setup step's output go into its error: the end, where errors are.
_SETUP_TAIL: Final = 2000


class Start:
    """The start of one session, tried again where it failed for a reason that may pass.

    Args:
        definition: the environment.
        backend: what makes the sandbox.
        timeout_s: seconds in which a sandbox must have been had; no try begins later.
        session_id: for the log.
    """

    def __init__(
        self,
        definition: MultiTurnEnvironment,
        backend: Backend,
        *,
        timeout_s: float,
        session_id: str,
    ) -> None:
        self._definition = definition
        self._backend = backend
        self._timeout_s = timeout_s
        self._session_id = session_id
        self._phase = ""
        self._creating: asyncio.Timeout | None = None
        self._given_up = False
        self.sandbox: Sandbox | None = None

    async def run(self) -> Observation:
        """Get `sandbox` ready and return the first observation.

        Whatever it raises, no sandbox is left behind, and what went wrong first is not hidden by
        what went wrong while that was cleaned up.

        Raises:
            SetupError: a setup step exited non-zero or timed out: it would again.
            SandboxError: each try failed for a reason of ours; the message names the phase.
            SessionClosedError: `give_up` was called.
        """
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        try:
            return await self._tried(deadline)
        except BaseException:
            sandbox, self.sandbox = self.sandbox, None
            await end_sandbox(sandbox)
            raise

    async def give_up(self) -> None:
        """Let a running `run` fail, wherever it is."""
        self._given_up = True
        if self._creating is not None and not self._creating.expired():
            self._creating.reschedule(0.0)
        await end_sandbox(self.sandbox)

    async def _tried(self, deadline: float) -> Observation:
        # Source: reward contract, rule E3.
        pause_s = _FIRST_PAUSE_S
        attempt = 1
        while True:
            try:
                return await self._attempt(deadline)
            except SetupError:
                raise
            except SandboxError as error:
                if self._given_up:
                    raise SessionClosedError("The session was closed while it started.") from error
                late = asyncio.get_running_loop().time() + pause_s > deadline
                if attempt == TRIES or late:
                    raise type(error)(
                        f"Start failed while {self._phase} (try {attempt}): {error}",
                        sandbox_id=error.sandbox_id,
                        exit_code=error.exit_code,
                    ) from error
                _log.info(
                    "session %s: %s failed, trying again: %s", self._session_id, self._phase, error
                )
            sandbox, self.sandbox = self.sandbox, None
            await end_sandbox(sandbox)
            await asyncio.sleep(pause_s)
            pause_s *= 4
            attempt += 1

    async def _attempt(self, deadline: float) -> Observation:
        self._phase = "creating the sandbox"
        if not self._given_up:
            self.sandbox = await self._create(deadline)
        if self._given_up or self.sandbox is None:
            raise SessionClosedError("The session was closed while it started.")
        self._phase = "writing the environment's files"
        for path, text in self._definition.files.items():
            try:
                await within(FILE_TIMEOUT_S, self.sandbox.write(path, to_bytes(text)))
            except (ActionError, SandboxWriteError) as error:
                raise SetupError(
                    f"Could not write the environment's file {path!r}: {error}",
                    sandbox_id=self.sandbox.id,
                ) from error
        content = ""
        for name, source, run in (
            ("Setup script", self._definition.setup_script, self.sandbox.exec),
            ("Setup code", self._definition.setup_code, self.sandbox.code),
        ):
            if source:
                self._phase = f"running the {name.lower()}"
                content = await self._set_up(name, source, run)
        return Observation(content=content)

    async def _create(self, deadline: float) -> Sandbox:
        bound = self._creating = asyncio.timeout_at(deadline)
        try:
            async with bound:
                return await self._backend.start(SandboxSpec.of(self._definition))
        except TimeoutError as error:
            if isinstance(error, SandboxTimeoutError) or not bound.expired():
                raise
            raise SandboxTimeoutError(
                f"no sandbox within {self._timeout_s:g} s; is the machine overloaded?"
            ) from None
        finally:
            self._creating = None

    async def _set_up(
        self, name: str, source: str, run: Callable[..., Awaitable[ExecResult]]
    ) -> str:
        timeout_s = self._definition.setup_timeout
        result = await within(timeout_s, run(source, timeout_s, secret=True))
        limit_bytes = self._definition.output_kb * limits.KIB
        content = (await observe.observed(result, timeout_s, limit_bytes)).content
        if result.timed_out:
            raise SetupError(f"{name} timed out after {timeout_s:g}s: {content[-_SETUP_TAIL:]}")
        if result.exit_code != 0:
            raise SetupError(
                f"{name} exited {result.exit_code}: {content[-_SETUP_TAIL:]}",
                exit_code=result.exit_code,
            )
        return content
