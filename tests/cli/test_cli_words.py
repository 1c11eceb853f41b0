"""Names, options, exit codes and messages of every command."""

import json

import pytest

import deepgym_gym
from deepgym_gym import list_environments
from tests.cli.command import cli


def test_list_names_every_environment() -> None:
    done = cli("list")

    assert done.returncode == 0
    for name in list_environments():
        assert f"deepgym/{name}-v0" in done.stdout


def test_list_as_json_is_json_alone() -> None:
    listed = json.loads(cli("list", "--json").stdout)

    assert [each["id"] for each in listed] == [f"deepgym/{name}-v0" for name in list_environments()]


def test_show_prints_the_task_of_the_variant() -> None:
    done = cli("show", "notes", "--variant", "3")

    assert done.returncode == 0
    for line in deepgym_gym.load_environment("notes", 3).task.splitlines():
        assert line in done.stdout


def test_show_as_json_hides_the_verifier() -> None:
    shown = json.loads(cli("show", "deepgym/notes-v0", "--json").stdout)

    assert shown["id"] == "deepgym/notes-v0"
    assert shown["allowed_actions"] == ["bash", "code", "done", "write_file"]
    assert not any("verifier" in key for key in shown)


@pytest.mark.parametrize("command", ["show", "run", "check", "demo"])
def test_unknown_environment_is_usage_with_the_next_command(command: str) -> None:
    done = cli(command, "notez")

    assert done.returncode == 2
    assert "did you mean 'notes'" in done.stderr
    assert "deepgym-gym list" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lst",), "No such command"),
        (("run", "notes", "--backend", "dokcer"), "dokcer"),
        (("run", "notes", "--variant", "-1"), "expected an integer from 0, got -1"),
        (("run", "notes", "--agent", ""), "--agent reference"),
        (("run", "notes", "--agent", "/no/such/program"), "cannot be started"),
        (("run", "notes", "--agent", "it's"), "quoted as for a shell"),
        (("check", "notes", "--variants", "0,x"), "0,3,9"),
        (("demo", "--episodes", "0"), "--episodes"),
    ],
)
def test_wrong_usage_is_exit_code_two(arguments: tuple[str, ...], said: str) -> None:
    done = cli(*arguments)

    assert done.returncode == 2
    assert said in done.stderr


def test_version_is_the_packages() -> None:
    assert cli("--version").stdout.strip() == deepgym_gym.__version__


def test_output_needs_no_unicode_terminal() -> None:
    done = cli("list", PYTHONIOENCODING="ascii", LC_ALL="C")

    assert done.returncode == 0
    assert done.stdout.isascii()
