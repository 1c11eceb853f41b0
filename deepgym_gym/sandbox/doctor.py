"""What this machine can do, what is missing, and the exact remedy: behind `deepgym-gym doctor` and
every refusal.
"""

import asyncio
import contextlib
import os
import platform
import threading
from dataclasses import dataclass
from pathlib import Path

from deepgym_gym.errors import DeepGymError
from deepgym_gym.sandbox import interpreter
from deepgym_gym.sandbox.base import Capabilities, SandboxSpec, VerifyRequest

# mount_setattr, with which whole trees of mounts become read-only, came with this kernel.
OLDEST_KERNEL = (5, 12)
MACHINES = ("x86_64", "aarch64")
_TRIAL_S = 60.0


@dataclass(frozen=True, slots=True)
class Check:
    """One fact about this machine. `remedy` is what to type, empty where nothing is wrong."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def diagnose() -> list[Check]:
    """Look at everything the backends need, and try the isolated one for real."""
    checks = [_system(), _bash(), _interpreter(), _user_namespaces(), _user_ids()]
    checks.append(_namespace_backend(all(check.ok for check in checks[:3])))
    return checks


def remedy() -> str:
    """What to do about the first thing that is wrong, for an error message; empty if nothing is
    seen.
    """
    for check in (_system(), _bash(), _interpreter(), _user_namespaces()):
        if not check.ok:
            return f"{check.name}: {check.detail}. {check.remedy}"
    return ""


def _system() -> Check:
    name = "operating system"
    if platform.system() != "Linux":
        return Check(
            name,
            False,
            f"{platform.system()}; the namespace backend needs Linux",
            "Run on Linux (a virtual machine will do).",
        )
    release = platform.release()
    if platform.machine() not in MACHINES:
        detail = f"machine type {platform.machine()}; expected one of {', '.join(MACHINES)}"
        return Check(name, False, detail, "Run on an x86_64 or aarch64 machine.")
    numbers = tuple(int(word) for word in release.split("-")[0].split(".")[:2] if word.isdigit())
    if numbers < OLDEST_KERNEL:
        wanted = ".".join(map(str, OLDEST_KERNEL))
        detail = f"kernel {release}; {wanted} or newer is needed"
        return Check(name, False, detail, "Upgrade the kernel.")
    return Check(name, True, f"Linux {release}, {platform.machine()}")


def _bash() -> Check:
    for path in ("/bin/bash", "/usr/bin/bash"):
        if os.access(path, os.X_OK):
            return Check("bash", True, path)
    return Check("bash", False, "no /bin/bash", "Install it: apt-get install bash")


def _interpreter() -> Check:
    chosen = interpreter.choose()
    shown = f", with {chosen.prefix} shown read-only" if chosen.prefix else ""
    return Check("interpreter", True, f"{chosen.path}{shown}")


def _user_namespaces() -> Check:
    name = "user namespaces"
    switches = {
        "/proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=65536"),
        "/proc/sys/kernel/unprivileged_userns_clone": (
            "0",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    }
    root = os.geteuid() == 0
    for path, (bad, command) in switches.items():
        if _first_word(path) == bad:
            if root:
                return Check(name, True, f"switched off by {path}; root does without")
            detail = f"switched off by {path}={bad}"
            return Check(name, False, detail, f"Run as root: {command}  (or run this as root)")
    return Check(name, True, "allowed")


def _user_ids() -> Check:
    name = "separate users inside"
    if os.geteuid() == 0:
        return Check(name, True, "root maps a block of uids for each sandbox")
    if not Path("/usr/bin/newuidmap").exists():
        return Check(
            name,
            True,
            "one uid only: agent and verifier are told apart by namespaces alone",
            "For separate uids: apt-get install uidmap",
        )
    user = str(os.getuid())
    if not _has_range(user):
        return Check(
            name,
            True,
            "one uid only: no range for this user in /etc/subuid and /etc/subgid",
            f"For separate uids, as root: usermod --add-subuids 100000-165535 "
            f"--add-subgids 100000-165535 $(id -nu {user})",
        )
    return Check(name, True, "a block of subordinate uids for each sandbox")


def _has_range(user: str) -> bool:
    import pwd

    names = {user}
    with contextlib.suppress(KeyError):
        names.add(pwd.getpwuid(int(user)).pw_name)
    for path in ("/etc/subuid", "/etc/subgid"):
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except OSError:
            return False
        if not any(line.split(":")[0] in names for line in lines):
            return False
    return True


def _namespace_backend(possible: bool) -> Check:
    name = "namespace backend"
    if not possible:
        return Check(name, False, "not tried", "See the checks above.")
    # In a thread of its own: the caller may be inside a running event loop.
    outcome: list[Capabilities | BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(asyncio.wait_for(_trial(), _TRIAL_S)))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, name="deepgym-doctor")
    thread.start()
    thread.join()
    result = outcome[0]
    if isinstance(result, Capabilities):
        held = "; ".join(f"{what}: {how}" for what, how in result.enforced.items())
        return Check(name, True, f"works ({held})")
    advice = _container_advice()
    return Check(name, False, f"does not work: {result}", advice)


async def _trial() -> Capabilities:
    from deepgym_gym.sandbox.namespace.backend import NamespaceBackend

    backend = NamespaceBackend()
    try:
        sandbox = await backend.start(SandboxSpec())
        result = await sandbox.exec("echo works", 10.0)
        outcome = await sandbox.verify(
            VerifyRequest(code="open('/work/none', 'x')", timeout_s=10.0, final=True)
        )
        if result.stdout != b"works\n" or outcome.crash != "OSError" or not outcome.touched:
            raise DeepGymError(f"a trial gave {result} and {outcome}")
        return sandbox.capabilities
    finally:
        await backend.aclose()


def _container_advice() -> str:
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return (
            "This is a container whose runtime forbids namespaces: start it with "
            "`--security-opt seccomp=unconfined --security-opt systempaths=unconfined "
            "--security-opt apparmor=unconfined`, or run on the host."
        )
    return (
        "Look at the checks above; run as root, or allow user namespaces. "
        "`mode='local'` runs trusted agents without isolation."
    )


def _first_word(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError):
        return ""
