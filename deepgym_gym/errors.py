"""Every error that this package raises on purpose, in one tree.

It is separate so that each floor can raise and catch the same classes without importing another
floor::

    DeepGymError
      DefinitionError (ValueError)        bad environment, variant, backend name or option
      ActionError (ValueError)            rejected action; the episode goes on
      SessionStateError (RuntimeError)    the caller broke the life cycle
        SessionClosedError                the session was closed
      CapacityError                       no free slot
      SandboxError                        the machine to act in failed; `kind` says how
        SandboxUnavailableError           the backend cannot run anything here
        SetupError                        a setup step of the environment failed
        SandboxTimeoutError (TimeoutError)  the sandbox did not answer in time
        SandboxLostError                  the sandbox died
        SandboxExhaustedError             no process could be started: pids or memory are used up
        SandboxWriteError                 a write failed: disk full or I/O error
        ProviderError                     provider, network or authentication failure
        SandboxRetiredError               the provider ended the sandbox's lifetime
        OutputLimitError                  a bounded read met more than its limit
      VerifierError                       the verifier itself failed

An outcome of an episode is data (`RunResult.error_type`); a broken call is an exception.
"""

from enum import StrEnum


class FailureKind(StrEnum):
    """How an episode's machinery failed; `deepgym_gym.verdict` decides from it whose fault that
    was.
    """

    LOST = "lost"
    EXHAUSTED = "exhausted"
    WRITE_FAILED = "write_failed"
    OUTPUT_BLOCKED = "output_blocked"
    PROVIDER = "provider"
    RETIRED = "retired"
    UNAVAILABLE = "unavailable"
    SETUP = "setup"
    INTERRUPTED = "interrupted"


class DeepGymError(Exception):
    """Root of all deliberate errors of this package."""


class DefinitionError(DeepGymError, ValueError):
    """An environment definition, name, variant, backend name or option is wrong."""


class ActionError(DeepGymError, ValueError):
    """The action was rejected before it could change anything; the episode goes on."""


class SessionStateError(DeepGymError, RuntimeError):
    """The call does not fit the session's state; the state is unchanged."""


class SessionClosedError(SessionStateError):
    """The session was closed, or its episode is over."""


class CapacityError(DeepGymError):
    """No slot is free; try again later."""


class SandboxError(DeepGymError):
    """The sandbox failed; `kind` tells the verdict table how, `sandbox_id` which one.

    `may_have_run` is False only where it is certain that nothing of the request ran.
    """

    kind = FailureKind.LOST

    def __init__(
        self,
        message: str,
        *,
        sandbox_id: str = "",
        exit_code: int | None = None,
        may_have_run: bool = True,
    ) -> None:
        super().__init__(message)
        self.sandbox_id = sandbox_id
        self.exit_code = exit_code
        self.may_have_run = may_have_run


class SandboxUnavailableError(SandboxError):
    """The backend cannot run anything on this machine; the message holds the remedy."""

    kind = FailureKind.UNAVAILABLE


class SetupError(SandboxError):
    """A setup step of the environment exited non-zero or timed out."""

    kind = FailureKind.SETUP


class SandboxTimeoutError(SandboxError, TimeoutError):
    """The sandbox did not answer within its deadline and was ended."""

    kind = FailureKind.LOST


class SandboxLostError(SandboxError):
    """The sandbox died: its supervisor is gone."""

    kind = FailureKind.LOST


class SandboxExhaustedError(SandboxError):
    """No new process could be started inside: its process or memory limit is used up."""

    kind = FailureKind.EXHAUSTED


class SandboxWriteError(SandboxError):
    """A write inside the sandbox failed: disk full or I/O error."""

    kind = FailureKind.WRITE_FAILED


class ProviderError(SandboxError):
    """A provider, network or authentication failure: never the agent's fault."""

    kind = FailureKind.PROVIDER


class SandboxRetiredError(SandboxError):
    """The provider ended the sandbox at the end of its lifetime."""

    kind = FailureKind.RETIRED


class OutputLimitError(SandboxError):
    """A bounded read met more bytes than its limit."""

    kind = FailureKind.OUTPUT_BLOCKED


class VerifierError(DeepGymError):
    """A step verifier could not run or failed by itself; the episode ends without a verdict."""

    def __init__(self, message: str, *, step: int = 0, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.step = step
        self.exit_code = exit_code
