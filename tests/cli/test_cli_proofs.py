"""`check`, `doctor` and `demo`: what proves an environment or a machine."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.command import ROOT, cli


def test_check_proves_an_environment() -> None:
    done = cli("check", "notes", "--variants", "0")

    assert done.returncode == 0
    assert "deepgym/notes-v0" in done.stdout
    assert "All rules hold" in done.stdout


def test_check_of_a_broken_environment_fails_and_names_the_rule(
    broken_copy: Callable[..., Path],
) -> None:
    folder = broken_copy(
        reference__py='"""Does nothing."""\n\n\ndef play(variant, observation):\n'
        '    yield {"action_type": "done"}\n'
    )

    text = cli("check", folder, "--variants", "0")
    reports = json.loads(cli("check", folder, "--variants", "0", "--json").stdout)

    assert text.returncode == 1
    assert "broken deepgym/mine-v0: reference scores 1 (variant 0)" in text.stdout
    assert reports[0]["ok"] is False


def test_doctor_shows_every_check_and_agrees_with_its_exit_code() -> None:
    text, checks = cli("doctor"), json.loads(cli("doctor", "--json").stdout)

    backend = next(each for each in checks if each["name"] == "namespace backend")
    assert text.returncode == (0 if backend["ok"] else 3)
    assert ("Isolated sandboxes work here." in text.stdout) is backend["ok"]
    for each in checks:
        assert each["name"] in text.stdout


def test_demo_plays_side_by_side_and_counts_what_it_played() -> None:
    done = cli("demo", "notes", "guess_number", "--episodes", "3", "--parallel", "4", "--json")

    played = json.loads(done.stdout)
    assert done.returncode == 0
    assert [row["environment"] for row in played["environments"]] == [
        "notes",
        "guess_number",
    ]
    for row in played["environments"]:
        assert row["episodes"] == row["verdicts"] == 3
        assert row["mean_score"] == 1.0
        assert row["steps"] >= 3
        assert row["steps_per_s"] > 0
        assert row["start_median_ms"] > 0
        assert row["step_median_ms"] > 0


def test_demo_shows_a_table_without_a_terminal() -> None:
    done = cli("demo", "notes", "--episodes", "2")

    assert done.returncode == 0
    for word in ("environment", "episodes", "mean score", "verdicts", "steps/s", "start", "step"):
        assert word in done.stdout
    assert "notes" in done.stdout


def test_demo_of_a_raising_reference_counts_it_as_a_fault(
    broken_copy: Callable[..., Path],
) -> None:
    folder = broken_copy(
        reference__py='"""Raises."""\n\n\ndef play(variant, observation):\n'
        '    yield {"action_type": "fly"}\n'
    )

    done = cli("demo", folder, "--episodes", "2", "--json")

    [row] = json.loads(done.stdout)["environments"]
    assert done.returncode == 1
    assert row["mean_score"] is None
    assert ["yielded a bad action" in fault for fault in row["faults"]] == [True, True]


def test_demo_of_a_failing_reference_says_so(broken_copy: Callable[..., Path]) -> None:
    folder = broken_copy(
        reference__py='"""Does nothing."""\n\n\ndef play(variant, observation):\n'
        '    yield {"action_type": "done"}\n'
    )

    done = cli("demo", folder, "--episodes", "1")

    assert done.returncode == 1
    assert "fault mine: variant 0" in done.stdout


def test_demo_without_a_sandbox_is_exit_code_three(broken_copy: Callable[..., Path]) -> None:
    toml = (ROOT / "registry" / "notes" / "v0" / "env.toml").read_text(encoding="utf-8")
    folder = broken_copy(env__toml=f'{toml}\nimage = "no-backend-here-boots-this"\n')

    done = cli("demo", folder, "--backend", "local")

    assert done.returncode == 3
    assert "deepgym-gym doctor" in done.stderr
