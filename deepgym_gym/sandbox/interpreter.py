"""Which Python runs the guest, `code` actions and verifiers, and what must be shown for it.

`/usr/bin/python3` where it is new enough: it lies in a system folder that every sandbox shows
anyway. Else the running interpreter, whose installation (pyenv, conda, uv: often in a home folder
that sandboxes never show) is then shown read-only by itself.
"""

import functools
import os
import subprocess
import sys
from typing import NamedTuple

SYSTEM = "/usr/bin/python3"
OLDEST = (3, 9)


class Interpreter(NamedTuple):
    """An interpreter and the folder outside the system's that has to be shown with it, if any."""

    path: str
    prefix: str | None


@functools.cache
def choose() -> Interpreter:
    """The interpreter of this machine's sandboxes."""
    if _version(SYSTEM) >= OLDEST:
        return Interpreter(SYSTEM, None)
    path = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    return Interpreter(
        path, None if path.startswith("/usr/") else os.path.realpath(sys.base_prefix)
    )


def _version(path: str) -> tuple[int, ...]:
    try:
        done = subprocess.run(  # noqa: S603
            [path, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True,
            timeout=20,
            check=True,
        )
        return tuple(int(word) for word in done.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return (0,)
