"""Every Python block of the documents runs as printed, and each example runs to its end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deepgym_gym import list_environments

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "ARCHITECTURE.md")


def python_blocks() -> list[tuple[str, str]]:
    """Each ```python block with the name of its document and its line."""
    blocks = []
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        for found in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, found.start()) + 1
            blocks.append((f"{name}:{line}", found[1]))
    return blocks


def run_python(*arguments: str, cwd: Path) -> str:
    # As a user would: a fresh interpreter in some folder, warnings shown as errors.
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("block", [pytest.param(code, id=where) for where, code in python_blocks()])
def test_document_block_runs_as_printed(block: str, tmp_path: Path) -> None:
    run_python("-c", block, cwd=tmp_path)


def test_readme_has_blocks_to_run() -> None:
    assert sum(where.startswith("README.md") for where, _ in python_blocks()) >= 3


def test_readme_has_a_row_for_every_environment() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `([a-z_]+)` \| \S", readme, re.MULTILINE) == list_environments()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_link_to_a_file_leads_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")

    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", text)
    missing = [link for link in links if not (ROOT / link).exists()]

    assert missing == []


@pytest.mark.parametrize(
    ("example", "printed"),
    [
        ("own_environment.py", "score: 1.0"),
        ("side_by_side.py", "16 of 16 judged, mean score 1"),
    ],
)
def test_example_runs_and_says_what_it_promises(example: str, printed: str, tmp_path: Path) -> None:
    output = run_python(str(ROOT / "examples" / example), cwd=tmp_path)

    assert printed in output


def test_example_agent_plays_through_the_command_line(tmp_path: Path) -> None:
    agent = f"{sys.executable} {ROOT / 'examples' / 'json_agent.py'}"

    output = run_python("-m", "deepgym_gym", "run", "notes", "--agent", agent, cwd=tmp_path)

    assert "passed, score 1" in output


def test_every_example_is_run_by_a_test() -> None:
    here = Path(__file__).read_text(encoding="utf-8")

    assert [path.name for path in (ROOT / "examples").glob("*.py") if path.name not in here] == []
