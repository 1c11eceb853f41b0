"""The command line as its users meet it: real processes, sandboxes, exit codes and messages."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deepgym_gym
from deepgym_gym import list_environments

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


@pytest.fixture
def broken_copy(tmp_path: Path) -> Callable[..., Path]:
    """Copy the folder of `notes` and add to, or replace, some of its files."""

    def make(**files: str) -> Path:
        folder = tmp_path / "mine" / "v0"
        shutil.copytree(ROOT / "registry" / "notes" / "v0", folder)
        for name, text in files.items():
            path = folder / name.replace("__", ".")
            path.write_text(text, encoding="utf-8")
        return folder

    return make


def program(tmp_path: Path, body: str) -> str:
    path = tmp_path / "agent.py"
    path.write_text(body, encoding="utf-8")
    return f"{sys.executable} {path}"


# -- words, options, names


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


# -- run


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


def test_demo_without_a_sandbox_is_exit_code_three(broken_copy: Callable[..., Path]) -> None:
    toml = (ROOT / "registry" / "notes" / "v0" / "env.toml").read_text(encoding="utf-8")
    folder = broken_copy(env__toml=f'{toml}\nimage = "no-backend-here-boots-this"\n')

    done = cli("demo", folder, "--backend", "local")

    assert done.returncode == 3
    assert "deepgym-gym doctor" in done.stderr


def test_agents_cannot_drive_the_terminal(broken_copy: Callable[..., Path]) -> None:
    folder = broken_copy(setup__sh=r"printf 'clear \033[2J title \033]0;owned\007 end\n'")

    done = cli("run", folder, "--agent", "idle")

    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
    assert r"clear \x1b[2J title" in done.stdout


# -- run with a program


def test_program_is_fed_observations_and_answers_actions(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        "import json, sys\n"
        "seen = []\n"
        "for line in sys.stdin:\n"
        "    seen.append(json.loads(line))\n"
        "    if seen[-1]['done']:\n"
        "        break\n"
        "    action = [{'action_type': 'bash', 'content': 'echo hello > notes.txt; echo ok'},\n"
        "              {'action_type': 'done'}][len(seen) - 1]\n"
        "    print(json.dumps(action), flush=True)\n"
        f"open({str(tmp_path / 'seen')!r}, 'w').write(json.dumps(seen))\n",
    )

    done = cli("run", "notes", "--agent", agent)

    seen = json.loads((tmp_path / "seen").read_text(encoding="utf-8"))
    assert done.returncode == 0
    assert [each["step"] for each in seen] == [0, 1, 2]
    assert [each["done"] for each in seen] == [False, False, True]
    assert [each["reward"] for each in seen] == [None, 0.0, 0.0]
    assert seen[1]["content"] == "ok\n"
    assert seen[0]["task"] == deepgym_gym.load_environment("notes").task
    assert seen[0]["allowed_actions"] == ["bash", "code", "done", "write_file"]


def test_rejected_action_is_told_to_the_program_which_goes_on(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        "import json, sys\n"
        "print('this is no JSON', flush=True)\n"
        "first, second = sys.stdin.readline(), json.loads(sys.stdin.readline())\n"
        "sys.stderr.write('told: ' + second['content'])\n"
        "print(json.dumps({'action_type': 'done'}), flush=True)\n",
    )

    done = cli("run", "notes", "--agent", agent)

    assert done.returncode == 1
    assert "told: [rejected] Bad action" in done.stderr
    assert "not passed" in done.stdout


def test_rejected_write_as_last_step_ends_the_episode_with_its_score(
    broken_copy: Callable[..., Path], tmp_path: Path
) -> None:
    folder = broken_copy(setup__sh="ln -s /tmp link\n")
    toml = folder / "env.toml"
    toml.write_text(toml.read_text().replace("max_steps = 6", "max_steps = 1"))
    write = {"action_type": "write_file", "path": "link/x", "content": ""}
    agent = program(
        tmp_path,
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    if not json.loads(line)['done']: print({json.dumps(write)!r}, flush=True)\n",
    )

    done = cli("run", folder, "--agent", agent)

    assert "rejected: write_file refused" in done.stdout
    assert "not passed" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import sys; sys.exit(7)", "exited with code 7"),
        (
            "import sys\nwhile True: sys.stdin.readline(); print('nonsense', flush=True)",
            "no usable",
        ),
        ("import time; time.sleep(600)", "no action within 0.5 s"),
    ],
    ids=["crash", "nonsense", "late"],
)
def test_failing_program_is_an_error_and_no_verdict(body: str, said: str, tmp_path: Path) -> None:
    agent = program(tmp_path, body)

    done = cli(
        "run", "notes", "--agent", agent, "--agent-timeout", "0.5" if "time" in body else "60"
    )

    assert done.returncode == 1
    assert said in done.stderr
    assert "score" not in done.stdout
    assert "verdict" not in done.stdout


def test_program_that_floods_stdout_while_it_should_read_does_not_hang(tmp_path: Path) -> None:
    # Far more than a pipe holds, in both directions at once.
    agent = program(
        tmp_path,
        "import json, sys\n"
        "print(json.dumps({'action_type': 'bash', 'content': ': ' + 'x' * 500000 +"
        " '; head -c 900000 /dev/zero | tr \"\\\\0\" y'}), flush=True)\n"
        "sys.stdin.readline()\n"
        "line = sys.stdin.readline()\n"
        "sys.stderr.write('content of %d' % len(json.loads(line)['content']))\n"
        "print(json.dumps({'action_type': 'done'}), flush=True)\n",
    )

    done = cli("run", "notes", "--agent", agent)

    assert "content of 900000" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_ends_the_program_too(number: signal.Signals, code: int, tmp_path: Path) -> None:
    # Opening a FIFO waits for the other side: when the test has it, the agent is at work.
    ready, alive = tmp_path / "ready", tmp_path / "alive"
    os.mkfifo(ready)
    os.mkfifo(alive)
    agent = program(
        tmp_path,
        f"import signal\nopen({str(ready)!r}, 'w').close()\n"
        f"kept = open({str(alive)!r}, 'w')\nsignal.pause()\n",
    )
    with subprocess.Popen(
        [*COMMAND, "run", "notes", "--agent", agent],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        ready.read_text(encoding="utf-8")
        with alive.open(encoding="utf-8") as held_by_agent:
            running.send_signal(number)
            output, _ = running.communicate(timeout=LIMIT_S)
            # Ends when the agent's own end of it is closed, which is when it is dead.
            rest = held_by_agent.read()

    assert running.returncode == code
    assert "Traceback" not in output
    assert rest == ""


# -- run with a person


def test_person_plays_by_typing() -> None:
    typed = (
        ":help\n:task\n\n:nonsense\npwd\n:code print(6 * 7)\n:write notes.txt\nhello\n.\n:done\n"
    )

    done = cli("run", "notes", "--agent", "human", stdin=typed)

    assert done.returncode == 0
    assert "No such command: :nonsense" in done.stdout
    assert "[1/6] bash>" in done.stdout
    assert "/work" in done.stdout
    assert "42" in done.stdout
    assert "passed, score 1" in done.stdout


def test_end_of_input_ends_the_episode_with_its_score() -> None:
    done = cli("run", "notes", "--agent", "human", stdin="echo hello > notes.txt\n")

    assert done.returncode == 0
    assert "passed, score 1" in done.stdout


def test_person_is_told_of_a_rejected_action_and_goes_on() -> None:
    typed = ":write /etc/passwd\nx\n.\n:code\nopen('notes.txt', 'w').write('hello')\n"

    done = cli("run", "notes", "--agent", "human", stdin=typed)

    assert done.returncode == 0
    assert "rejected: Bad action" in done.stdout
    assert "[1/6] code>" in done.stdout


def test_several_lines_make_one_action() -> None:
    typed = ":multi\ncat > notes.txt <<END\nhello\nEND\n..\n.\n"

    done = cli("run", "notes", "--agent", "human", "--json", stdin=typed)

    action = json.loads(done.stdout)["trajectory"]["steps"][0][1]
    assert action["content"] == "cat > notes.txt <<END\nhello\nEND\n.\n"


# -- check, doctor, demo


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
