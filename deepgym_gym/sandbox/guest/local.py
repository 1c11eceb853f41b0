"""The guest as an ordinary child process in a temporary folder: no isolation at all, for trusted
agents only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from typing import Any

from deepgym_gym.sandbox.guest import syscalls, wire
from deepgym_gym.sandbox.guest.main import Guest, preload
from deepgym_gym.sandbox.guest.setting import Setting, User


def run(channel: int, config: dict[str, Any]) -> None:
    """Serve one owner, then remove the folder; the folder also goes when the owner is killed."""
    os.umask(0o022)
    # A Ctrl-C is for the owner, which then hangs up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    os.set_inheritable(channel, False)
    preload()
    base = ""
    try:
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        base = os.path.realpath(tempfile.mkdtemp(prefix="deepgym-local-", dir=config["temporary"]))
        folders = {name: os.path.join(base, name) for name in ("work", "home", "tmp", "private")}
        for folder in folders.values():
            os.mkdir(folder, 0o700)
        me = User(os.getuid(), os.getgid())
        setting = Setting(
            work=folders["work"],
            home=folders["home"],
            temporary=folders["tmp"],
            path=config["path"],
            agent=me,
            verifier=me,
            solver=me,
            first=False,
            private=folders["private"],
            memory_bytes=config["memory_bytes"],
            output_bytes=config["output_bytes"],
        )
        guest = Guest(channel, setting)
        wire.send(channel, {"ok": True, "ready": True, "work": folders["work"], "base": base})
    except BaseException as error:
        with contextlib.suppress(wire.ClosedChannel):
            wire.send(channel, {"ok": False, "error": f"{type(error).__name__}: {error}"})
        _remove(base)
        return
    try:
        guest.serve()
    finally:
        os.chdir("/")
        _remove(base)


def _remove(base: str) -> None:
    """Remove the folder, also where the agent has taken its own rights away."""
    if not base:
        return
    # Not by Python's own functions, which recurse: an agent may nest folders deeper than that goes.
    for command in (["chmod", "-R", "u+rwX", base], ["rm", "-rf", base]):
        with contextlib.suppress(OSError):
            subprocess.run(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )


def _leave(*_: object) -> None:
    raise SystemExit(0)
