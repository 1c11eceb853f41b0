"""`scripts/dev.sh` on machines that lack something."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout without a virtual environment, and a folder `bin` that comes first on PATH."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "scripts" / "dev.sh", tmp_path / "scripts")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # An ordinary user: as root the script would install what is missing.
    program(tmp_path, "id", "echo 1000")
    return tmp_path


def program(checkout: Path, name: str, body: str) -> None:
    path = checkout / "bin" / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def dev(checkout: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    path = f"{checkout / 'bin'}:/usr/bin:/bin"
    return subprocess.run(
        ["/bin/bash", checkout / "scripts" / "dev.sh", *arguments],
        env={"PATH": path, **env},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_no_new_enough_python_is_said_with_the_remedy(checkout: Path) -> None:
    program(checkout, "python3.9", "exit 1")

    done = dev(checkout, "venv", PYTHON="python3.9")

    assert done.returncode == 1
    assert "no Python 3.11 or newer found (looked for python3.9)" in done.stderr
    assert "apt-get install" in done.stderr


def test_python_without_venv_module_is_said_with_the_remedy(checkout: Path) -> None:
    # Runs and is new enough, but has neither ensurepip nor pip, as on a bare Debian.
    body = 'case "$*" in *ensurepip*|*pip*) exit 1;; *print*) echo 3.12;; esac'
    program(checkout, "pythonless", body)

    done = dev(checkout, "venv", PYTHON="pythonless")

    assert done.returncode == 1
    assert "sudo apt-get install python3.12-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_unknown_command_shows_the_usage(checkout: Path) -> None:
    done = dev(checkout, "tset")

    assert done.returncode == 2
    assert "scripts/dev.sh test" in done.stdout
