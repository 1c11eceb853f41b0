"""`run`: one episode, shown and judged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.command import ROOT, cli


def test_run_with_the_reference_passes() -> None:
    done = cli("run", "notes")

    assert done.returncode == 0
    assert "passed, score 1" in done.stdout


def test_run_with_the_idle_agent_is_a_failed_run() -> None:
    done = cli("run", "notes", "--agent", "idle")

    assert done.returncode == 1
    assert "not passed, score 0" in done.stdout


def test_run_as_json_holds_result_and_trajectory() -> None:
    done = cli("run", "notes", "--variant", "2", "--json")

    played: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 0
    assert played["environment"] == "deepgym/notes-v0"
    assert played["variant"] == 2
    assert played["result"]["score"] == 1.0
    assert played["result"]["has_verdict"] is True
    assert played["trajectory"]["steps"][-1][1]["action_type"] == "done"


def test_run_takes_an_environments_folder(broken_copy: Callable[..., Path]) -> None:
    done = cli("run", broken_copy())

    assert done.returncode == 0
    assert "deepgym/mine-v0" in done.stdout


def test_run_without_a_sandbox_is_exit_code_three(broken_copy: Callable[..., Path]) -> None:
    toml = (ROOT / "registry" / "notes" / "v0" / "env.toml").read_text(encoding="utf-8")
    folder = broken_copy(env__toml=f'{toml}\nimage = "no-backend-here-boots-this"\n')

    done = cli("run", folder, "--backend", "local")

    assert done.returncode == 3
    assert "no-backend-here-boots-this" in done.stderr
    assert "deepgym-gym doctor" in done.stderr


def test_failing_setup_is_one_message_with_the_next_command(
    broken_copy: Callable[..., Path],
) -> None:
    done = cli("run", broken_copy(setup__sh="echo no luck; exit 4"))

    assert done.returncode == 1
    assert "no luck" in done.stderr
    assert "deepgym-gym check" in done.stderr


def test_agents_cannot_drive_the_terminal(broken_copy: Callable[..., Path]) -> None:
    folder = broken_copy(setup__sh=r"printf 'clear \033[2J title \033]0;owned\007 end\n'")

    done = cli("run", folder, "--agent", "idle")

    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
    assert r"clear \x1b[2J title" in done.stdout
