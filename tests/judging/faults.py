"""A sandbox that cannot run its verifier: faults that no real backend shows on demand."""

from deepgym_gym.errors import SandboxError
from deepgym_gym.sandbox.base import Capabilities, ExecResult, VerifierOutcome, VerifyRequest


class FaultySandbox:
    """Raises `fault` when it is asked to verify; refuses everything else."""

    id = "faulty-1"
    work_dir = "/work"

    def __init__(self, fault: SandboxError, *, isolated: bool = True) -> None:
        self._fault = fault
        self.capabilities = Capabilities("docker", isolated)

    async def verify(self, request: VerifyRequest) -> VerifierOutcome:
        raise self._fault

    async def exec(
        self, command: str, timeout_s: float, *, persistent: bool = False, secret: bool = False
    ) -> ExecResult:
        raise NotImplementedError("this sandbox only fails to verify")

    async def code(self, source: str, timeout_s: float, *, secret: bool = False) -> ExecResult:
        raise NotImplementedError("this sandbox only fails to verify")

    async def write(self, path: str, data: bytes) -> None:
        raise NotImplementedError("this sandbox only fails to verify")

    async def read(self, path: str, limit_bytes: int) -> bytes:
        raise NotImplementedError("this sandbox only fails to verify")

    async def stop(self) -> None:
        pass
