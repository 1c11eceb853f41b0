"""`run` with a person at the prompt."""

import json

from tests.cli.command import cli


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
