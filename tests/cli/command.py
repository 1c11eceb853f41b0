"""Running the command line as its users do: real processes."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "deepgym_gym")
# No command of a test needs longer, on the slowest machine.
LIMIT_S = 120
# Of what makes output colourful on CI services.
PLAIN = {
    name: value
    for name, value in os.environ.items()
    if name not in ("FORCE_COLOR", "GITHUB_ACTIONS")
}


def cli(*arguments: str | Path, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal; no outcome may show a traceback."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        env={**PLAIN, "COLUMNS": "200", **env},
        input=stdin,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def program(tmp_path: Path, body: str) -> str:
    path = tmp_path / "agent.py"
    path.write_text(body, encoding="utf-8")
    return f"{sys.executable} {path}"
