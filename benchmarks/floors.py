"""What the kernel itself needs, measured in the same run: every figure is told as a ratio to one of
these.
"""

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


@dataclass(frozen=True)
class Sample:
    """Durations of one operation, in milliseconds."""

    name: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def p99(self) -> float:
        ordered = sorted(self.values)
        return ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]


class Stopwatch:
    """Collects durations by name, so that operations can be measured in turn rather than one after
    the other.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = {}

    def add(self, name: str, started_ns: int) -> None:
        self._values.setdefault(name, []).append((time.perf_counter_ns() - started_ns) / 1e6)

    def time(self, name: str, call: Callable[[], object]) -> None:
        started = time.perf_counter_ns()
        call()
        self.add(name, started)

    def samples(self) -> dict[str, Sample]:
        return {name: Sample(name, tuple(values)) for name, values in self._values.items()}


def spawn_and_wait(*command: str) -> None:
    """posix_spawn a program with its output thrown away, and wait for it."""
    null = os.open("/dev/null", os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    pid = os.posix_spawn(command[0], command, {"PATH": "/usr/bin:/bin"}, file_actions=actions)
    os.waitpid(pid, 0)
    os.close(null)


def bash() -> None:
    """B: `bash -c true`."""
    spawn_and_wait("/bin/bash", "-c", "true")


def cold_python() -> None:
    """P: a cold interpreter that imports what a small verifier imports."""
    spawn_and_wait(PYTHON, "-I", "-c", "import json, pathlib")


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory_kib = int(file.readline().split()[1])
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": f"{os.cpu_count()} x {models[0] if models else platform.machine()}",
        "memory": f"{memory_kib / 2**20:.0f} GiB",
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sandbox python": PYTHON,
        "user": "root" if os.geteuid() == 0 else "ordinary",
        "load": " ".join(f"{value:.1f}" for value in os.getloadavg()),
        **{name: version(name) for name in ("gymnasium", "deepgym-gym", "pydantic")},
    }
