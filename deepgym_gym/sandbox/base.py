"""The seam between an episode and the machine it runs on: `Sandbox` and `Backend`.

Everything above this floor speaks only these protocols; everything below them (guest, warden,
containers) is an implementation. Text is bytes here: it becomes text at the session's edge, with
replacement characters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from deepgym_gym import limits
from deepgym_gym.definition import MultiTurnEnvironment


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What a sandbox is asked to be; the same meaning on each backend. Sizes in MiB."""

    memory_mb: int = limits.MEMORY_MB
    pids: int = limits.PIDS
    cpus: float = limits.CPUS
    disk_mb: int = limits.DISK_MB
    shm_mb: int = limits.SHM_MB
    output_bytes: int = limits.OUTPUT_KB * limits.KIB
    image: str | None = None

    @classmethod
    def of(cls, definition: MultiTurnEnvironment) -> "SandboxSpec":
        """Take the limits of an environment's definition."""
        return cls(
            memory_mb=definition.memory_mb,
            pids=definition.pids,
            cpus=definition.cpus,
            disk_mb=definition.disk_mb,
            shm_mb=definition.shm_mb,
            output_bytes=definition.output_kb * limits.KIB,
            image=definition.image,
        )


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this sandbox really enforces, and how; shown by `doctor` and stored with results.

    `enforced` maps a limit or a wall ("memory", "pids", "seccomp", "touch_detection", ...) to the
    mechanism that holds it ("cgroup", "rlimit", "audit+fanotify", ...). What is not in it is not
    enforced.
    """

    backend: str
    isolated: bool
    enforced: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How one command ended.

    `exit_code` is None where it timed out. A command killed by a signal has `signal` and, as in a
    shell, `exit_code` 128 + signal. `stdout` and `stderr` hold the first bytes up to the sandbox's
    `output_bytes` each; `*_dropped` count what came after them. `background` counts processes of
    the agent that are still running.
    """

    exit_code: int | None
    signal: int | None = None
    timed_out: bool = False
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    background: int = 0
    shell_restarted: bool = False
    oom_killed: bool = False
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """One run of a verifier.

    `final` kills the agent's processes first (unless `keep_processes`); otherwise they are frozen
    for as long as the verifier runs. With `step_output`, the verifier finds it in the file that
    `STEP_OUTPUT_PATH` names and `step_number` (from 1) in `STEP_NUMBER`. With `state`, it finds
    that in the file that `VERIFIER_STATE_PATH` names: read-only for the verifier, out of the
    agent's reach.
    """

    code: str
    timeout_s: float
    final: bool
    keep_processes: bool = False
    step_output: bytes | None = None
    step_number: int = 0
    state: bytes | None = None


@dataclass(frozen=True, slots=True)
class VerifierOutcome:
    """What a verifier's process did; `deepgym_gym.verdict` makes a result of it.

    `crash` is the class name of an uncaught exception (None if there was none; SystemExit is none).
    `touched`: it opened a file (also when that failed), listed a folder or started a program in or
    on the work folder, read the step's output, or started the agent's code. `launch_failed`: the
    agent's code could not be started for a reason of ours. `output_lost`: its output could not be
    read back whole.
    """

    exit_code: int | None
    signal: int | None = None
    timed_out: bool = False
    crash: str | None = None
    touched: bool = False
    launch_failed: bool = False
    output_lost: bool = False
    stdout: bytes = b""
    stderr: bytes = b""
    duration_s: float = 0.0


class Sandbox(Protocol):
    """One machine for one episode. Calls do not overlap: the session queues them.

    Every verb may raise `SandboxLostError` (the sandbox died), `SandboxTimeoutError` (no answer by
    its deadline plus a grace; the sandbox is ended) and `ProviderError` (hosted backends).
    """

    @property
    def id(self) -> str:
        """A unique name, for logs and results."""
        ...

    @property
    def work_dir(self) -> str:
        """The agent's work directory, as the agent sees it."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What is enforced here, and how."""
        ...

    async def exec(
        self, command: str, timeout_s: float, *, persistent: bool = False, secret: bool = False
    ) -> ExecResult:
        """Run `command` under bash as the agent, stdin empty; `persistent` in the one lasting
        shell. The text of a `secret` one (a setup, before the agent acts) stays in no memory that
        the agent could read later.

        Raises:
            SandboxExhaustedError: no process could be started.
        """
        ...

    async def code(self, source: str, timeout_s: float, *, secret: bool = False) -> ExecResult:
        """Run Python `source` as the agent's `__main__`, stdin empty; `secret` as for `exec`.

        Raises:
            SandboxExhaustedError: no process could be started.
        """
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Write a regular file beneath the work directory as the agent, following no link.

        Raises:
            ActionError: the path leads outside, or the agent's own files are in the way.
            SandboxWriteError: disk full or I/O error.
        """
        ...

    async def read(self, path: str, limit_bytes: int) -> bytes:
        """Read a regular file beneath the work directory, following no link.

        Raises:
            ActionError: no such regular file.
            OutputLimitError: it holds more than `limit_bytes`.
        """
        ...

    async def verify(self, request: VerifyRequest) -> VerifierOutcome:
        """Run a verifier on the work directory, out of the agent's reach.

        Raises:
            SandboxUnavailableError: the verifier's box could not be made, which is not the agent's
            doing.
        """
        ...

    async def stop(self) -> None:
        """End every process and free everything: idempotent, bounded, and never raising."""
        ...


class Backend(Protocol):
    """A place that makes sandboxes: one object per process and kind, cheap until `start`."""

    @property
    def name(self) -> str:
        """The word that selects it: `namespace`, `local`, ..."""
        ...

    async def start(self, spec: SandboxSpec) -> Sandbox:
        """Make a sandbox that is ready for its first command.

        Raises:
            SandboxUnavailableError: the backend cannot run here; the message holds the remedy.
            SandboxTimeoutError: it was not ready in time.
            ProviderError: a provider failed.
        """
        ...

    async def aclose(self) -> None:
        """Stop all of its sandboxes and what it keeps running. Idempotent."""
        ...
