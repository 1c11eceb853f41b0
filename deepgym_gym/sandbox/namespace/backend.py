"""`NamespaceBackend`: the isolated default on Linux, with no daemon and nothing to install."""

import asyncio
import contextlib
import dataclasses
import itertools
import resource
import socket
import uuid
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from deepgym_gym import limits
from deepgym_gym.errors import (
    ProviderError,
    SandboxError,
    SandboxLostError,
    SandboxTimeoutError,
    SandboxUnavailableError,
)
from deepgym_gym.sandbox import interpreter
from deepgym_gym.sandbox.base import (
    Capabilities,
    SandboxSpec,
    VerifierOutcome,
    VerifyRequest,
)
from deepgym_gym.sandbox.channel import GuestChannel, Reply
from deepgym_gym.sandbox.guest_sandbox import (
    GuestSandbox,
    expect_ready,
    verifier_outcome,
    verify_message,
)
from deepgym_gym.sandbox.namespace.client import WardenClient

_WORK = "/work"
# What of the host lies here is covered in every sandbox.
_OWN_OF_EACH = ["/tmp", "/dev", "/proc", "/run", "/home/dgagent", _WORK]  # noqa: S108


class NamespaceBackend:
    """Makes sandboxes of Linux namespaces through one warden process.

    Args:
        mode: how uids are mapped (see `identity`), None for the best that works.
        cgroups: whether to use cgroups where they can be written.
    """

    name = "namespace"

    def __init__(self, *, mode: str | None = None, cgroups: bool = True) -> None:
        self._mode = mode
        self._use_cgroups = cgroups
        self._lock = asyncio.Lock()
        self._warden: WardenClient | None = None
        self._touch_detection = "audit"
        self._live: set[NamespaceSandbox] = set()

    async def start(self, spec: SandboxSpec) -> "NamespaceSandbox":
        """Make a sandbox. Raises: see `Backend.start`."""
        if spec.image is not None:
            raise SandboxUnavailableError(
                f"The namespace backend cannot boot the image {spec.image!r} yet. "
                "Leave `image` out to use this machine's own system folders."
            )
        warden = await self._running_warden()
        _make_room_for_descriptors(len(self._live))
        sandbox = await self._start(warden, spec)
        self._live.add(sandbox)
        return sandbox

    async def _running_warden(self) -> WardenClient:
        # The lock keeps parallel first starts from making two wardens.
        async with self._lock:
            if self._warden is None or not self._warden.alive:
                warden = await WardenClient.start(self._config())
                try:
                    probe = await self._start(warden, SandboxSpec())
                    try:
                        await _assert_least_privilege(probe)
                        self._touch_detection = await probe.touch_detection()
                    finally:
                        await probe.stop()
                except BaseException:
                    await warden.aclose()
                    raise
                self._warden = warden
            return self._warden

    def _config(self) -> dict[str, Any]:
        python = interpreter.choose()
        binds = ["/usr"]
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        if python.prefix is not None:
            if _beneath(python.prefix, _OWN_OF_EACH):
                raise SandboxUnavailableError(
                    f"{interpreter.SYSTEM} is missing or too old, and this interpreter lies in "
                    f"{python.prefix}, where each sandbox has folders of its own. "
                    f"Install Python {'.'.join(map(str, interpreter.OLDEST))} or newer as "
                    f"{interpreter.SYSTEM}, or use one that lies elsewhere."
                )
            binds.append(python.prefix)
            path += f":{python.prefix}/bin"
        return {
            "mode": self._mode,
            "cgroups": self._use_cgroups,
            "binds": binds,
            "hidden": [folder for folder in _own_folders() if _beneath(folder, binds)],
            "interpreter": python.path,
            "path": path + ":/opt/deepgym/bin",
        }

    async def _start(self, warden: WardenClient, spec: SandboxSpec) -> "NamespaceSandbox":
        name = f"dg-{uuid.uuid4().hex[:12]}"
        ours, theirs = socket.socketpair()
        channel = await GuestChannel.over(ours, name)
        sandbox = NamespaceSandbox(
            name, channel, self, warden, _capabilities(warden.facts, self._touch_detection)
        )
        try:
            with theirs:
                request = {"op": "start", "name": name, "spec": _wire_spec(spec)}
                async with asyncio.timeout(limits.START_TIMEOUT_S):
                    await warden.ask(request, theirs.fileno())
            await expect_ready(channel, "The sandbox", limits.START_TIMEOUT_S)
        except TimeoutError:
            await sandbox.stop()
            raise SandboxTimeoutError(
                f"The warden started no sandbox within {limits.START_TIMEOUT_S:g} s."
            ) from None
        except BaseException:
            await sandbox.stop()
            raise
        return sandbox

    def forget(self, sandbox: "NamespaceSandbox") -> None:
        """A sandbox has ended."""
        self._live.discard(sandbox)

    async def aclose(self) -> None:
        """End the warden and with it every sandbox."""
        async with self._lock:
            warden, self._warden = self._warden, None
            if warden is not None:
                await warden.aclose()
            # Nothing is left for them to wait for.
            await asyncio.gather(*(sandbox.stop() for sandbox in list(self._live)))


class NamespaceSandbox(GuestSandbox):
    """One agent's box, and a fresh sibling box for each verifier."""

    def __init__(
        self,
        name: str,
        channel: GuestChannel,
        backend: NamespaceBackend,
        warden: WardenClient,
        capabilities: Capabilities,
    ) -> None:
        super().__init__(name, channel, _WORK, capabilities)
        self._backend = backend
        self._warden = warden
        self._oom_kills = 0
        self._runs = itertools.count(1)

    async def verify(self, request: VerifyRequest) -> VerifierOutcome:
        """Run a verifier in a box of its own. Raises: see `Sandbox.verify`."""
        (facts, body), seen = await self._verify(request)
        outcome = verifier_outcome(facts, body)
        return dataclasses.replace(outcome, touched=outcome.touched or bool(seen))

    async def ask(self, header: Mapping[str, Any], body: bytes = b"", *, timeout_s: float) -> Reply:
        """One request to the guest. Raises: as `GuestSandbox.ask`.

        Raises:
            ProviderError: the box was lost because the warden died, which no agent can bring about.
        """
        try:
            return await super().ask(header, body, timeout_s=timeout_s)
        except SandboxLostError as error:
            if await self._warden.has_ended():
                raise ProviderError(
                    "The warden, which holds all sandboxes, died; the next start makes a new one.",
                    sandbox_id=self.id,
                ) from error
            raise

    async def touch_detection(self) -> str:
        """By what means a verifier's touches are really seen here."""
        reply, seen = await self._verify(VerifyRequest(code="", timeout_s=30.0, final=False))
        return "audit+fanotify" if seen is not None else str(reply.facts["watched_by"])

    async def _verify(self, request: VerifyRequest) -> tuple[Reply, bool | None]:
        """Run it; the guest's reply, and what the warden's watch saw (None: it has none)."""
        grace = limits.REPLY_GRACE_S
        # Asked also where all goes on: a sandbox that has died is the agent's failure, and not one
        # to make the verifier's box.
        quiet = "keep" if request.keep_processes else ("kill" if request.final else "freeze")
        name = f"{self.id}/verifier-{next(self._runs)}"
        box = await _both(
            self._verifier_box(name, request.keep_processes),
            self.ask({"op": quiet}, timeout_s=grace),
        )
        try:
            header, body = verify_message(request)
            try:
                reply = await box.channel.ask(header, body, timeout_s=request.timeout_s + grace)
                return reply, await self._seen(name) if box.watched else None
            except SandboxUnavailableError:
                raise
            except SandboxError as error:
                # The verifier's box, not the agent's: never the agent's doing.
                raise SandboxUnavailableError(
                    f"The verifier's box was lost: {error}", sandbox_id=self.id
                ) from None
        finally:
            box.channel.close()
            if quiet == "freeze":
                await self.ask({"op": "thaw"}, timeout_s=grace)

    async def _seen(self, box: str) -> bool:
        reply = await self._warden.ask({"op": "watched", "name": self.id, "box": box})
        return bool(reply["touched"])

    async def _verifier_box(self, box: str, shared_network: bool) -> "VerifierBox":
        ours, theirs = socket.socketpair()
        channel = await GuestChannel.over(ours, box)
        request = {
            "op": "verifier",
            "name": self.id,
            "box": box,
            "shared_network": shared_network,
        }
        try:
            with theirs:
                async with asyncio.timeout(limits.START_TIMEOUT_S):
                    made = await self._warden.ask(request, theirs.fileno())
            await expect_ready(channel, "The verifier's box", limits.START_TIMEOUT_S)
        except TimeoutError:
            channel.close()
            raise SandboxUnavailableError("The warden made no box for the verifier.") from None
        except BaseException:
            channel.close()
            raise
        return VerifierBox(channel, made["watched"])

    async def _oom_killed(self) -> bool:
        reply = await self._warden.ask({"op": "oom", "name": self.id})
        kills = int(reply.get("oom_kills", 0))
        more, self._oom_kills = kills > self._oom_kills, kills
        return more

    async def _end(self) -> None:
        self._backend.forget(self)
        # A warden that is gone has taken its boxes with it.
        with contextlib.suppress(SandboxUnavailableError):
            await self._warden.ask({"op": "stop", "name": self.id})


def _make_room_for_descriptors(live: int) -> None:
    """Each sandbox holds a descriptor, each verifier another; the usual soft limit of 1024 is soon
    reached.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 2 * live + 256 > soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class VerifierBox(NamedTuple):
    """A box that waits for its verifier; `watched` is whether the warden watches its work mount."""

    channel: GuestChannel
    watched: bool


async def _both(
    box: Coroutine[Any, Any, VerifierBox], quiet: Coroutine[Any, Any, object]
) -> VerifierBox:
    """Await both; if one fails, close what the other made."""
    making = asyncio.ensure_future(box)
    quieting = asyncio.ensure_future(quiet)
    try:
        await asyncio.wait((making, quieting))
    finally:
        for task in (making, quieting):
            if not task.done():
                task.cancel()
    made = making.exception() is None
    # The agent's sandbox decides, also where the verifier's box failed together with it.
    failure = quieting.exception() or making.exception()
    if failure is not None:
        if made:
            making.result().channel.close()
        raise failure
    return making.result()


def _wire_spec(spec: SandboxSpec) -> dict[str, Any]:
    return {
        "memory_mb": spec.memory_mb,
        "pids": spec.pids,
        "disk_mb": spec.disk_mb,
        "shm_mb": spec.shm_mb,
        "tmp_mb": limits.TMP_MB,
        "output_bytes": spec.output_bytes,
        "nofile": limits.NOFILE,
    }


def _capabilities(facts: Mapping[str, Any], touch_detection: str) -> Capabilities:
    enforced = {
        "root": "pivot_root, read-only",
        "network": "own namespace, loopback only",
        "processes": "own pid namespace, hidepid",
        "users": facts["mode"],
        "privileges": "no capabilities, no-new-privileges",
        "syscalls": "seccomp deny-list",
        "memory": f"{facts['memory']}",
        "pids": f"{facts['pids']}",
        "disk": "tmpfs size and inodes",
        "verifier": "sibling box, read-only view",
        "touch_detection": touch_detection,
    }
    return Capabilities("namespace", True, enforced)


def _own_folders() -> list[str]:
    """This package's folders, which hold verifiers and answers: sandboxes never show them."""
    package = Path(limits.__file__).parent
    folders = {package, package.resolve()}
    folders |= {(package / name).resolve() for name in ("registry", "wrappers", "server")}
    return sorted(str(folder) for folder in folders)


def _beneath(folder: str, binds: list[str]) -> bool:
    return any(folder == bind or folder.startswith(bind + "/") for bind in binds)


async def _assert_least_privilege(sandbox: NamespaceSandbox) -> None:
    """Look, once per warden, at what a program of the agent really holds.

    Raises:
        SandboxUnavailableError: it holds a capability, could gain privileges, or is not filtered.
    """
    result = await sandbox.exec(
        'while read -r line; do echo "$line"; done </proc/self/status', 30.0
    )
    lines = result.stdout.decode("utf-8", "replace").splitlines()
    status = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    wrong = [f"{name}={status.get(name)}" for name in sets if int(status.get(name, "1"), 16) != 0]
    wrong += [
        f"{name}={status.get(name)}"
        for name, wanted in (("NoNewPrivs", "1"), ("Seccomp", "2"))
        if status.get(name) != wanted
    ]
    if wrong:
        raise SandboxUnavailableError(
            "A program in a new sandbox holds more privilege than none "
            f"({', '.join(wrong)}); refusing to run agents. Run `deepgym-gym doctor`."
        )
