"""`run` with a program as the agent, which may do anything."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import deepgym_gym
from tests.cli.command import COMMAND, LIMIT_S, cli, program


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


def test_rejected_write_uses_up_its_steps_number_for_the_program(
    broken_copy: Callable[..., Path], tmp_path: Path
) -> None:
    folder = broken_copy(setup__sh="ln -s /tmp link\n")
    write = {"action_type": "write_file", "path": "link/x", "content": ""}
    agent = program(
        tmp_path,
        "import json, sys\n"
        "sys.stdin.readline()\n"
        f"print({json.dumps(write)!r}, flush=True)\n"
        "told = json.loads(sys.stdin.readline())\n"
        "sys.stderr.write(f'step {told[\"step\"]}')\n"
        "print(json.dumps({'action_type': 'done'}), flush=True)\n",
    )

    done = cli("run", folder, "--agent", agent)

    assert "step 1" in done.stderr
    assert "[2] done" in done.stdout


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
