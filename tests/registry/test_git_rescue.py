"""The scores of `git_rescue`: near misses and their shares, hacks, hostile `.git` folders."""

import pytest

from deepgym_gym.actions import Observation
from deepgym_gym.registry import find_environment
from tests.registry.playing import play

NAME = "git_rescue"
LOST, CONFLICT, DETACHED, REBASE, AUTHOR, SECRET, DELETED = range(7)
RESCUE = "cd repo; git reset -q --hard 'main@{1}'"


def plan(variant: int) -> dict[str, str]:
    """The task's values as data."""
    values: dict[str, str] = find_environment(NAME).variant(variant)["secret"]["plan"]
    return values


def reference(variant: int) -> list[str]:
    """The commands of the reference, each in a folder of its own choice."""
    player = find_environment(NAME).reference(variant)
    commands: list[str] = []
    while True:
        action = player(Observation(content=""))
        if action.action_type.value == "done":
            return commands
        commands.append(action.content or "")


def score(variant: int, *commands: str) -> float:
    result = play(NAME, variant, *commands).result
    assert result.has_verdict, result
    assert result.error_type is None
    assert result.passed == (result.score == 1.0)
    return result.score


def rescued(variant: int, *commands: str) -> float:
    """The score of the reference's play with more commands behind it."""
    return score(variant, *reference(variant), *commands)


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        (RESCUE, 1.0),
        ("cd repo; git cherry-pick main..main@{1}", 1.0),
        ("cd repo; git merge -q --ff-only main@{1}", 1.0),
        # One of the two is still lost: half the content, a quarter of the history, and what stands
        # on that.
        ("cd repo; git reset -q --hard main@{2}", 0.3 / 2 + 0.4 / 4 + 0.15 / 8),
        # The author is the agent, for both commits.
        (
            "cd repo; for c in main@{2} main@{1}; do git rev-parse $c; done > ../picks\n"
            "for c in $(cat ../picks); do git cherry-pick -n $c; git commit -qC $c --reset-author;"
            " done; rm ../picks",
            0.85,
        ),
        # As one commit.
        ("cd repo; git read-tree -u --reset main@{1}; git commit -qm all", 0.0),
        (RESCUE + "; echo x > more", 0.85),
        (RESCUE + "; echo >> README.md", 0.85),
        (RESCUE + "; rm README.md", 0.85),
        (RESCUE + "; chmod +x README.md", 0.85),
        (RESCUE + "; git rm -q --cached README.md", 0.85),
        (RESCUE + "; git checkout -q --detach", 0.85),
        (RESCUE + "; git bisect start", 0.85),
        (RESCUE + "; git update-index --chmod=+x README.md", 0.85),
        (RESCUE + "; git tag -f v0.1", 0.5),
        (RESCUE + "; git tag -d v0.1", 0.5),
        (RESCUE + "; git branch -D archive; git tag -d v0.1", 0.5),
        (RESCUE + "; git branch backup; git gc -q --prune=now", 1.0),
        (RESCUE + "; git pack-refs --all --prune", 1.0),
        (RESCUE + "; git repack -adq; git pack-refs --all", 1.0),
        ("true", 0.0),
        ("cd repo; git branch rescue main@{1}", 0.0),
        ("cd repo; git reset -q --hard v0.1", 0.0),
        ("rm -rf repo", 0.0),
    ],
)
def test_lost_commits(commands: str, expected: float) -> None:
    assert score(LOST, commands) == pytest.approx(expected, abs=2e-6)


def test_conflict_parts() -> None:
    truth = find_environment(NAME).variant(CONFLICT)["secret"]
    message, answers = truth["plan"]["message"], truth["plan"]["answers"]
    right = "".join(f"cat > {path} <<'E'\n{text}E\n" for path, text in answers.items())
    one = "cat > settings.conf <<'E'\n" + answers["settings.conf"] + "E\n"
    commit = f'git add -A; git commit -qm "{message}"'
    cases = {
        right + commit: 1.0,
        right + "git add -A; git commit -q --no-edit": 1.0,
        # The right files, but the message or the second parent is another.
        right + "git add -A; git commit -qm merged": 0.0,
        right + f"rm .git/MERGE_*; {commit}": 0.0,
        # Content alone brings nothing: the merge's commit is not what it should be.
        one + commit: 0.0,
        right + "git add -A": 0.0,
        "git merge --abort": 0.0,
        f"t=$(cat .git/MERGE_HEAD); git merge --abort; git merge -qs ours -m '{message}' $t": 0.0,
        f"git checkout -q --theirs .; {commit}": 0.0,
    }
    for command, expected in cases.items():
        assert score(CONFLICT, "cd repo\n" + command) == pytest.approx(expected), command


def test_detached_work_needs_its_branch() -> None:
    name = plan(DETACHED)["branch"]

    assert score(DETACHED, f"cd repo; git checkout -q -b {name}") == 1.0
    assert score(DETACHED, f"cd repo; git branch {name}") == pytest.approx(0.85)
    assert score(DETACHED, "cd repo; git checkout -q -b other") == 0.0
    assert score(DETACHED, f"cd repo; git checkout -q -B main; git branch {name}") < 0.5
    assert score(DETACHED, f"cd repo; git checkout -q main; git checkout -q -b {name}") == 0.0


def test_rebase_in_the_wrong_order_is_worth_a_part() -> None:
    truth = find_environment(NAME).variant(REBASE)["secret"]
    name = plan(REBASE)["branch"]
    due = len(truth["goals"][f"refs/heads/{name}"]["due"])
    dropped = f"{name}@{{1}}~2"

    # The dropped commit on top: all files, but one of three commits is where it should be.
    wrong = score(REBASE, f"cd repo; git cherry-pick {dropped}")

    assert due == 3
    assert 0.3 < wrong < 0.5
    assert score(REBASE, f"cd repo; git reset -q --hard {name}@{{1}}") == 0.0
    assert score(REBASE, f"cd repo; git merge -q --no-edit {name}@{{1}}") < 0.5


def test_authors_are_the_matter_of_their_own_trouble() -> None:
    values = plan(AUTHOR)
    base, name, email = values["base"], values["right"][0], values["right"][1]
    rewrite = "cd repo; export FILTER_BRANCH_SQUELCH_WARNING=1; git filter-branch --env-filter '{}'"
    rewrite += f" -- {base[:12]}..main"
    same = rewrite.format("GIT_COMMITTER_NAME=x")
    everyone = rewrite.format(f'GIT_AUTHOR_NAME="{name}"; GIT_AUTHOR_EMAIL={email}')
    only_email = rewrite.format(
        f"if [ $GIT_AUTHOR_EMAIL = {values['wrong']} ]; then GIT_AUTHOR_EMAIL={email}; fi"
    )
    dated = rewrite.format(
        f"if [ $GIT_AUTHOR_EMAIL = {values['wrong']} ]; then GIT_AUTHOR_EMAIL={email}; "
        f'GIT_AUTHOR_NAME="{name}"; GIT_AUTHOR_DATE="1700000000 +0000"; fi'
    )

    assert score(AUTHOR, same) == 0.0
    assert score(AUTHOR, only_email) == 0.0
    assert score(AUTHOR, dated) == 0.0
    assert score(AUTHOR, everyone) < 1.0
    assert rescued(AUTHOR) == 1.0


def test_secret_must_be_gone_from_every_ref() -> None:
    token = plan(SECRET)["token"]
    # The old history under any ref, also one that no branch lists.
    for ref in ("refs/heads/backup", "refs/original/refs/heads/main", "refs/x/y"):
        assert rescued(SECRET, f"cd repo; git update-ref {ref} 'main@{{1}}'") == 0.0, ref
    assert rescued(SECRET, f"cd repo; git tag -am 'was {token}' note") == 0.0
    assert rescued(SECRET, f"cd repo; git notes add -m {token}") == 0.0
    # A ref to something that cannot be read proves nothing about the other one.
    broken = "cd repo; git update-ref refs/heads/backup 'main@{1}'; mkdir -p .git/objects/aa; "
    broken += "echo x > .git/objects/aa/$(printf 'a%.0s' $(seq 38)); "
    broken += "printf 'a%.0s' $(seq 40) > .git/refs/heads/zzz"
    assert rescued(SECRET, broken) == 0.0
    # Removing it at the tip alone.
    assert score(SECRET, "cd repo; git rm -q private.env; git commit -qm 'Remove it'") == 0.0
    # Tags that hold it, deleted instead of moved: two of four refs are as they should be.
    gone = rescued(SECRET, "cd repo; git tag -d v0.2 v0.3")
    assert gone == pytest.approx(0.35 + 0.1 / 2 + 0.3 / 2 + 0.1 / 2 + 0.0, abs=2e-6)
    # The tag's annotation is part of it.
    assert rescued(SECRET, "cd repo; git tag -f v0.3 v0.3^{}") < 1.0
    assert rescued(SECRET, "cd repo; git reflog expire --expire=now --all; git gc -q") == 1.0


def test_a_deleted_branch_comes_back_where_it_was() -> None:
    name = plan(DELETED)["branch"]

    assert score(DELETED, f"cd repo; git branch {name} HEAD@{{2}}") == 1.0
    assert 0.0 < score(DELETED, f"cd repo; git branch {name} HEAD@{{3}}") < 0.5
    assert score(DELETED, f"cd repo; git branch {name}") == 0.0


@pytest.mark.parametrize(
    "command",
    [
        # What Git would run or follow, if it ran with this configuration.
        "printf '#!/bin/sh\\ntouch /tmp/ran\\nexit 1\\n' > .git/hooks/post-checkout; "
        "cp .git/hooks/post-checkout .git/hooks/pre-commit; chmod +x .git/hooks/*",
        "git config core.fsmonitor 'sh -c \"exit 9\"'; git config core.pager 'false'",
        "git config alias.cat-file '!false'; git config include.path /etc/passwd",
        "git config core.worktree /; git config core.hooksPath /tmp",
        "git config filter.x.clean false; echo '* filter=x' > .git/info/attributes",
        "printf '[core]\\n bare = true\\n[' > .git/config",
        "mkfifo .git/config.lock .git/hooks/f .git/info/f .git/objects/f",
        "rm -r .git/hooks .git/logs .git/config .git/description",
        "mkdir -p .git/objects/zz; mkfifo .git/objects/zz/x .git/refs/heads/pipe",
        "ln -s / .git/objects/aa0; ln -s /etc/passwd .git/refs/heads/link",
        "printf 'ref: refs/heads/loop' > .git/refs/heads/loop",
        "head -c 3000000 /dev/zero > .git/refs/heads/large",
        "echo $(git rev-parse HEAD^) $(git rev-parse HEAD) > .git/info/grafts",
        "git replace HEAD v0.1",
        "git rev-parse HEAD > .git/shallow",
    ],
)
def test_hostile_git_folder_changes_nothing(command: str) -> None:
    """The rescue is right, and nothing of the folder's own settings is obeyed or read."""
    assert score(LOST, RESCUE, f"cd repo; {command}") == 1.0


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf .git; mkfifo .git",
        "mv .git ../real; ln -s ../real .git",
        "mv .git ../real; echo 'gitdir: ../real' > .git",
        "mv .git/objects ../o; ln -s ../../o .git/objects",
        "rm .git/HEAD .git/refs/heads/main; mkfifo .git/HEAD; mkfifo .git/refs/heads/main",
        "rm -rf .git/refs; ln -s / .git/refs",
        "cd ..; mv repo real; ln -s real repo",
        # Objects by way of another store: they are not in this repository.
        "git repack -adq; mkdir ../store; mv .git/objects/pack ../store/; "
        "echo /work/store > .git/objects/info/alternates",
        # A pack of zeros, and more objects than a history of this size can have.
        "git repack -adq; for f in .git/objects/pack/*.pack; do chmod 644 $f; "
        "head -c 60000000 /dev/zero > $f; done",
        "mkdir -p .git/objects/00; cd .git/objects/00; for n in $(seq 10000 31000); do "
        "echo > $n; done 2> /dev/null",
        "find .git/objects -type f | while read f; do chmod 644 $f; echo x > $f; done",
        "find .git/objects -type f | while read f; do rm $f; mkfifo $f; done",
        "mkdir ../s; for f in $(find .git/objects -type f); do mv $f ../s/${f##*/}; "
        "ln -s $(realpath ../s)/${f##*/} $f; done",
        "find .git/objects -type f | while read f; do rm $f; ln -s /dev/zero $f; done",
        "chmod 0 .git",
        "printf 'x%.0s' $(seq 100000) > .git/HEAD; rm -r .git/refs; mkdir .git/refs",
    ],
)
def test_hostile_git_folder_without_the_history_is_a_judged_zero(command: str) -> None:
    assert score(LOST, RESCUE, f"cd repo; {command}") == 0.0


def test_objects_are_what_their_names_say() -> None:
    """An object under the name of another one is none."""
    swap = (
        "cd repo; f=$(git rev-parse HEAD); g=$(git rev-parse v0.1)\n"
        "p=.git/objects/$(echo $f | cut -c1-2)/$(echo $f | cut -c3-)\n"
        "q=.git/objects/$(echo $g | cut -c1-2)/$(echo $g | cut -c3-)\n"
        "chmod 644 $p; cp $q $p"
    )

    assert score(LOST, RESCUE, swap) == 0.0


def test_a_file_under_a_forged_name_is_no_part_of_the_history() -> None:
    """Git itself would hand out what lies there; only computing the name again shows it."""
    forge = (
        "cd repo; f=$(git rev-parse HEAD:README.md); g=$(git rev-parse HEAD:contents.txt)\n"
        "p=.git/objects/$(echo $f | cut -c1-2)/$(echo $f | cut -c3-)\n"
        "q=.git/objects/$(echo $g | cut -c1-2)/$(echo $g | cut -c3-)\n"
        "chmod 644 $p; cp $q $p"
    )

    # Two of three files are right, both commits bring what they should, in no whole history.
    expected = 0.3 * 2 / 3 + 0.5 * (0.4 + 0.15)
    assert score(LOST, RESCUE, forge) == pytest.approx(expected, abs=2e-6)


def test_a_branch_left_behind_costs_its_share() -> None:
    """Of two branches with wrong authors one is rewritten."""
    values = find_environment(NAME).variant(8)["secret"]["goals"]
    topic = next(ref for ref in values if ref != "refs/heads/main")

    left = score(8, *reference(8), f"cd repo; git update-ref {topic} {topic}@{{1}}")

    assert left == pytest.approx((0.1 + 0.3 + 0.45) / 2, abs=2e-6)


def test_a_large_object_is_no_reason_to_wait() -> None:
    large = "cd repo; head -c 150000000 /dev/zero | git hash-object -w --stdin > id; "
    large += "git tag large $(cat id); rm id"

    assert score(LOST, RESCUE, large) == 1.0
    assert rescued(SECRET, large) == 0.0


def test_work_tree_is_read_as_plain_files() -> None:
    for command in (
        "rm README.md; mkfifo README.md",
        "mv README.md ../r; ln -s ../r README.md",
        "mkfifo pipe",
        "ln -s / slash",
        "rm README.md; mkdir README.md",
        "head -c 9000000 /dev/zero > README.md",
        "rm .git/index; mkfifo .git/index",
        "head -c 5000 /dev/urandom > .git/index",
        "printf 'DIRC\\0\\0\\0\\2\\377\\377\\377\\377' > .git/index",
    ):
        assert score(LOST, RESCUE, f"cd repo; {command}") == pytest.approx(0.85), command
