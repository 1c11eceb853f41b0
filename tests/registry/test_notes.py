"""The scores of `notes`: exact plays, near misses and their shares, hostile work folders."""

import pytest

from tests.registry.playing import play

HELLO = "echo hello > notes.txt"


@pytest.mark.parametrize("variant", [0, 7])
def test_example_of_the_documents_scores_one(variant: int) -> None:
    result = play("notes", variant, HELLO).result

    assert (result.score, result.passed) == (1.0, True)
    assert result.reward_components == {"text": 0.6, "newline": 0.2, "tidy": 0.2}


@pytest.mark.parametrize("backend", ["namespace", "local"])
@pytest.mark.parametrize(
    ("variant", "command", "score"),
    [
        # Variant 0 does not mind the newline, variant 7 wants exactly one.
        (0, "printf hello > notes.txt", 1.0),
        (0, "printf 'hello\\n\\n' > notes.txt", 1.0),
        (7, "printf hello > notes.txt", 0.8),
        (7, "printf 'hello\\n\\n' > notes.txt", 0.8),
        (7, "echo hello > notes.txt; touch other", 0.8),
        (7, "printf hello > notes.txt; mkdir other", 0.6),
        (0, "echo hello > notes.txt; touch a b", 0.8),
        (0, "echo hello > notes.txt; touch a b c", 0.0),
        (0, "echo hello > notes.txt; mkdir d; touch d/1 d/2 d/3 d/4 d/5", 0.8),
        (0, "echo Hello > notes.txt", 0.0),
        (0, "echo ' hello' > notes.txt", 0.0),
        (0, "echo 'hello world' > notes.txt", 0.0),
        (0, "echo hello > note.txt", 0.0),
        (0, "echo hello > NOTES.TXT", 0.0),
        (0, "touch notes.txt", 0.0),
        # Hidden names of the home folder lie outside the work folder.
        (0, "echo hello > notes.txt; echo x > ~/.hidden; echo y > /tmp/y", 1.0),
        (0, "echo hello > notes.txt; touch .hidden", 0.8),
        (4, "mkdir -p deep/er; printf '日本語のメモ' > deep/er/notes.md", 1.0),
        (4, "mkdir -p deep/er; printf '日本語のメモ' > deep/er/notes.md; touch deep/x", 0.8),
        (4, "printf '日本語のメモ' > notes.md", 0.0),
        (4, "mkdir -p deep/er; printf '日本語のメモ' | iconv -t utf-16 > deep/er/notes.md", 0.0),
    ],
)
def test_play_scores_its_share(backend: str, variant: int, command: str, score: float) -> None:
    result = play("notes", variant, command, backend=backend).result

    assert result.has_verdict
    assert result.score == score
    assert result.passed == (score == 1.0)


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo notes.txt",
        "mkdir notes.txt && echo hello > notes.txt/hello",
        "ln -s /etc/hostname notes.txt",
        "ln -s /dev/zero notes.txt",
        "echo hello > /tmp/x; ln -s /tmp/x notes.txt",
        "echo hello > x; ln -s x notes.txt",
        "ln -s notes.txt notes.txt",
        "head -c 50000000 /dev/zero > notes.txt",
        "yes hello | head -c 5000000 > notes.txt",
        "echo hello > notes.txt; chmod 0 notes.txt",
        "printf 'hello\\0' > notes.txt",
        "printf '\\xff\\xfe' > notes.txt",
        "mkdir $'\\xff\\xfe'; ln -s / $'\\xff\\xfe/root'",
        "for i in $(seq 2000); do mkdir d$i; done",
        "python3 -c \"import os; [(os.mkdir('d' * 200), os.chdir('d' * 200)) for _ in range(50)]\"",
    ],
)
def test_hostile_work_folder_is_a_judged_zero(command: str) -> None:
    result = play("notes", 0, command).result

    assert result.has_verdict
    assert result.error_type is None
    assert result.score == 0.0


def test_folder_of_the_path_may_not_be_a_link() -> None:
    command = "mkdir -p /tmp/er && printf '日本語のメモ' > /tmp/er/notes.md && ln -s /tmp deep"

    result = play("notes", 4, command).result

    assert (result.score, result.output) == (0.0, "deep is not a folder")
