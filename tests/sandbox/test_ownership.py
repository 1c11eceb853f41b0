"""Whatever kills the owner, and whenever: within five seconds no process, mount, cgroup or folder
is left.
"""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOUND_S = 5.0


def processes() -> dict[int, int]:
    """pid -> parent of every process that is no zombie."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in "ZX":
                parents[int(name)] = int(fields[1])
    return parents


def below(pid: int) -> set[int]:
    parents = processes()
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def traces(pids: set[int]) -> list[str]:
    """What is left of an owner's processes: live ones, and cgroups and folders named after them."""
    alive = processes()
    left = [f"process {pid}" for pid in pids if pid in alive]
    for base in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").glob("*")):
        left += [
            str(path)
            for path in base.glob("deepgym-*")
            if int(path.name.rpartition("-")[2]) in pids
        ]
    return left


def start_owner(
    moment: str, backend: str, folder: Path, module: str = "tests.sandbox.owner"
) -> "subprocess.Popen[bytes]":
    """Start the module as a process whose temporary folder is `folder`; wait for its word."""
    owner = subprocess.Popen(
        [sys.executable, "-m", module, moment, backend],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert owner.stdout is not None
    with owner.stdout as lines:
        assert lines.readline() == b"now\n"
    return owner


def wait_until_nothing_is_left(pids: set[int], folder: Path) -> None:
    end = time.monotonic() + BOUND_S
    while left := traces(pids) + [str(path) for path in folder.iterdir()]:
        assert time.monotonic() < end, left
        select.select([], [], [], 0.02)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", ["starting", "stepping", "scoring", "closing", "idling"])
@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_killed_owner_leaves_nothing(
    backend: str, moment: str, number: signal.Signals, tmp_path: Path
) -> None:
    mounts = Path("/proc/self/mountinfo").read_text()
    owner = start_owner(moment, backend, tmp_path)
    pids = below(owner.pid)

    owner.send_signal(number)
    # Before the wait, since a Ctrl-C is answered by an orderly end, in which children may still be
    # made.
    pids |= below(owner.pid)
    owner.wait(30)

    wait_until_nothing_is_left(pids, tmp_path)
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_killed_warden_takes_its_boxes_with_it(tmp_path: Path) -> None:
    owner = start_owner("stepping", "namespace", tmp_path)
    parents = processes()
    wardens = {pid for pid, parent in parents.items() if parent == owner.pid}
    pids = below(owner.pid)

    for warden in wardens:
        os.kill(warden, signal.SIGKILL)
    owner.wait(30)

    # Its cgroups stay until the next warden starts, which removes them.
    end = time.monotonic() + BOUND_S
    while alive := pids & set(processes()):
        assert time.monotonic() < end, alive
        select.select([], [], [], 0.02)
    successor = start_owner("idling", "namespace", tmp_path)
    assert traces(pids) == []
    successor.kill()
    successor.wait(30)
