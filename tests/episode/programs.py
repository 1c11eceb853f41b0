"""Programs of their own, for what can only be seen from outside: forks, signals and exits."""

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
# More than any of them takes; one that hangs fails by name.
BOUND_S = 60.0


def run_program(source: str) -> "subprocess.CompletedProcess[str]":
    """Run Python source to its end; what it printed, and how it exited."""
    # A warning is an error, but the one on forking with threads, which is what some are about.
    options = ["-W", "error", "-W", "ignore::DeprecationWarning"]
    return subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(source)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
