"""Stand-ins for what cannot be had on demand: a backend's faults, its capacity, and time.

They hold no behaviour of their own: each answers from a script, and raises `BeyondScript` when it
is asked for more than that. What a sandbox really does is tested with real ones.
"""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypeVar

from deepgym_gym.errors import SandboxLostError
from deepgym_gym.sandbox.base import (
    Capabilities,
    ExecResult,
    SandboxSpec,
    VerifierOutcome,
    VerifyRequest,
)

T = TypeVar("T")


class BeyondScript(AssertionError):
    """A fake was asked for something that its script does not hold."""


class FakeClock:
    """A clock that goes on only when it is told to. Seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Hang:
    """An answer that does not come by itself.

    It ends with `answer` when it is released, with `SandboxLostError` when its sandbox is stopped
    (unless it is `deaf`), and with a cancellation. `reached` is set once somebody waits.
    """

    def __init__(self, answer: object = None, *, deaf: bool = False) -> None:
        self.answer = answer
        self.deaf = deaf
        self.reached = asyncio.Event()
        self._released = asyncio.Event()
        self._cut = False

    def release(self) -> None:
        self._released.set()

    def cut(self) -> None:
        if not self.deaf:
            self._cut = True
            self._released.set()

    async def wait(self) -> object:
        self.reached.set()
        await self._released.wait()
        if self._cut:
            raise SandboxLostError("The sandbox was stopped.")
        return self.answer


@dataclass(frozen=True)
class Taking:
    """An answer that takes time on a fake clock."""

    seconds: float
    clock: FakeClock
    answer: object = None


@dataclass
class Script:
    """Answers in order. An exception is raised, `Hang` and `Taking` are waited for."""

    answers: deque[object]
    hanging: list[Hang] = field(default_factory=list)

    async def next(self, asked: str, kind: type[T]) -> T:
        if not self.answers:
            raise BeyondScript(f"The script has no answer to {asked}.")
        answer = self.answers.popleft()
        if isinstance(answer, Taking):
            answer.clock.advance(answer.seconds)
            answer = answer.answer
        if isinstance(answer, Hang):
            self.hanging.append(answer)
            answer = await answer.wait()
        if isinstance(answer, BaseException):
            raise answer
        if not isinstance(answer, kind):
            raise BeyondScript(f"The script's answer to {asked} is a {type(answer).__name__}.")
        return answer


class FakeSandbox:
    """A sandbox that answers from a script: `ExecResult`, None (a write) or `VerifierOutcome`.

    Args:
        answers: the script.
        stop: what `stop` meets: an exception, a `Hang`, or None.
        isolated: what its capabilities say.
    """

    def __init__(
        self, *answers: object, stop: BaseException | Hang | None = None, isolated: bool = True
    ) -> None:
        self.id = "fake-1"
        self.work_dir = "/work"
        self.capabilities = Capabilities("fake", isolated)
        self.calls: list[tuple[Any, ...]] = []
        self.stops = 0
        self._script = Script(deque(answers))
        self._stop = stop

    @property
    def used_up(self) -> bool:
        return not self._script.answers

    def will(self, *answers: object) -> None:
        """Add to the script."""
        self._script.answers.extend(answers)

    async def _answer(self, kind: type[T], *call: object) -> T:
        if self.stops:
            raise SandboxLostError("The sandbox was stopped.", may_have_run=False)
        self.calls.append(call)
        return await self._script.next(str(call[0]), kind)

    async def exec(
        self, command: str, timeout_s: float, *, persistent: bool = False, secret: bool = False
    ) -> ExecResult:
        return await self._answer(ExecResult, "exec", command, timeout_s, persistent)

    async def code(self, source: str, timeout_s: float, *, secret: bool = False) -> ExecResult:
        return await self._answer(ExecResult, "code", source, timeout_s)

    async def write(self, path: str, data: bytes) -> None:
        await self._answer(type(None), "write", path, data)

    async def read(self, path: str, limit_bytes: int) -> bytes:
        return await self._answer(bytes, "read", path, limit_bytes)

    async def verify(self, request: VerifyRequest) -> VerifierOutcome:
        return await self._answer(VerifierOutcome, "verify", request)

    async def stop(self) -> None:
        self.stops += 1
        for hang in self._script.hanging:
            hang.cut()
        if isinstance(self._stop, Hang):
            await self._stop.wait()
        elif self._stop is not None:
            raise self._stop


class FakeBackend:
    """A backend whose starts are scripted: a `FakeSandbox`, an exception, or a `Hang`."""

    name = "fake"

    def __init__(self, *starts: object) -> None:
        self.specs: list[SandboxSpec] = []
        self.made: list[FakeSandbox] = []
        self._script = Script(deque(starts))

    async def start(self, spec: SandboxSpec) -> FakeSandbox:
        self.specs.append(spec)
        sandbox = await self._script.next("start", FakeSandbox)
        self.made.append(sandbox)
        return sandbox

    async def aclose(self) -> None:
        for sandbox in self.made:
            await sandbox.stop()

    @property
    def left(self) -> list[FakeSandbox]:
        """The sandboxes that nobody stopped."""
        return [sandbox for sandbox in self.made if not sandbox.stops]


def ran(stdout: bytes = b"", stderr: bytes = b"", exit_code: int = 0) -> ExecResult:
    """A command that finished."""
    return ExecResult(exit_code=exit_code, stdout=stdout, stderr=stderr)


def judged(score: float = 1.0) -> VerifierOutcome:
    """A verifier that gave a verdict."""
    verdict = {"score": score, "passed": score == 1.0}
    return VerifierOutcome(exit_code=0, touched=True, stdout=json.dumps(verdict).encode())
