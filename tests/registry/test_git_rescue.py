"""The scores of `git_rescue`: near misses and their shares, other ways, hostile repositories."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deepgym_gym.playing import Play
from deepgym_gym.registry import find_environment
from deepgym_gym.registry.players import Player, Script
from deepgym_gym.results import RunResult
from tests.registry.playing import play_player

ENVIRONMENT = find_environment("git_rescue")
FULL = {"content": 0.2, "history": 0.5, "refs": 0.15, "clean": 0.15}
PURGED = {"content": 0.15, "history": 0.35, "refs": 0.1, "clean": 0.1, "purged": 0.3}
LEVELS = ["easy", "medium", "hard"]
SIDE_BRANCHES = ["archive", "printing", "translation", "spare-list"]
KINDS = {
    secret["kind"]: number
    for number in range(6)
    for secret in [ENVIRONMENT.variant(number)["secret"]]
}


def variant_of(kind: str, level: str = "easy") -> int:
    return KINDS[kind] + 6 * LEVELS.index(level)


def secret_of(variant: int) -> dict[str, Any]:
    secret: dict[str, Any] = ENVIRONMENT.variant(variant)["secret"]
    return secret


def wanted_id(variant: int) -> str:
    """The id of the commit that the first branch in trouble is wanted at."""
    secret = secret_of(variant)
    name: str = secret["graph"][secret["refs"][secret["targets"][0]]["commit"]]["id"]
    return name


def played(variant: int, *commands: str, rescued: bool = False, backend: str = "auto") -> Play:
    """Play commands in the repository's folder, after the reference's own if `rescued`."""
    world = ENVIRONMENT.variant(variant)
    reference = ENVIRONMENT.load_function("reference.py", "play")

    def script(text: str) -> Script:
        if rescued:
            yield from reference(world, text)
        for command in commands:
            content = f"cd {world['secret']['folder']}\n{command}"
            yield {"action_type": "bash", "content": content}

    return play_player("git_rescue", variant, Player("test", script), backend)


def judged(variant: int, *commands: str, rescued: bool = False) -> RunResult:
    result = played(variant, *commands, rescued=rescued).result
    assert result.has_verdict
    assert result.error_type is None, (result.output, result.stderr)
    assert result.passed == (result.score == 1.0)
    return result


def rescue(variant: int, *commands: str) -> RunResult:
    return judged(variant, *commands, rescued=True)


def test_table_holds_each_trouble_in_each_degree() -> None:
    table = [secret_of(number) for number in range(ENVIRONMENT.table_size)]

    assert len({(secret["kind"], secret["level"]) for secret in table}) == len(table) == 18
    assert [ENVIRONMENT.definition(number).difficulty for number in (0, 6, 12)] == LEVELS


@pytest.mark.parametrize("variant", [*range(18), 1_000_001, 1_000_002])
def test_git_finds_nothing_wrong_with_the_world(variant: int) -> None:
    """The objects are made without git; git must find them as good as its own."""
    look = "git fsck --strict --full; git log --all --oneline > /dev/null && echo fine"

    said = played(variant, look).observations[1].content

    lines = [line for line in said.splitlines() if line]
    assert lines.pop() == "fine"
    assert all(line.startswith("dangling ") for line in lines), lines


def test_lost_commits_by_other_ways() -> None:
    lost = wanted_id(0)
    for way in (f"git reset -q --hard {lost}", f"git merge -q --ff-only {lost}"):
        result = judged(0, way)
        assert result.score == 1.0, way
        assert result.reward_components == FULL


def test_lost_commits_near_misses() -> None:
    lost = wanted_id(0)
    due = len(secret_of(0)["due"]["refs/heads/main"])
    below = round(0.25 * (due - 1) / due, 6)
    for way, parts in [
        # Of the lost commits, all but the last.
        (f"git reset -q --hard {lost}~1", {"history": below}),
        # Copies of them, and all of it in one.
        (f"git cherry-pick main..{lost}", {"content": 0.2}),
        (f"git read-tree -u --reset {lost}; git commit -qm all", {"content": 0.2}),
        # Reachable, but not where it was asked for.
        (f"git branch rescue {lost}", {}),
        (f"git merge -q --no-ff -m merge {lost}", {"content": 0.2, "history": 0.25}),
        ("git reset -q --hard v1.0", {}),
    ]:
        result = judged(0, way)
        assert result.reward_components == dict.fromkeys(FULL, 0.0) | parts, way


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("echo x > more", ["clean"]),
        ("echo >> README.md", ["clean"]),
        ("rm README.md", ["clean"]),
        ("rm README.md; ln -s settings.ini README.md", ["clean"]),
        ("chmod +x README.md", ["clean"]),
        ("chmod -x tools/count.sh", ["clean"]),
        ("git rm -q --cached README.md", ["clean"]),
        ("echo >> README.md; git update-index --assume-unchanged README.md", ["clean"]),
        ("git update-index --skip-worktree README.md; rm README.md", ["clean"]),
        ("git revert --no-commit HEAD; git read-tree HEAD; git checkout -q .", ["clean"]),
        ("git bisect start", ["clean"]),
        ("rm .git/index", ["clean"]),
        ("git checkout -q --detach", ["refs"]),
        ("git checkout -q -b other", ["refs"]),
        ("git branch backup", ["refs"]),
        ("git tag -f v1.0", ["refs"]),
        ("git tag -d v1.0", ["refs"]),
        (
            "git tag -d v1.0; git tag -a -m x v1.0 $(git rev-list HEAD | tail -2 | head -1)",
            ["refs"],
        ),
        ("git replace HEAD v1.0", ["refs"]),
        ("echo x > more; git stash -qu", ["refs"]),
        ("git commit -q --allow-empty -m more", ["history", "refs", "clean"]),
        ("git commit -q --amend -m more", ["history", "refs", "clean"]),
    ],
)
def test_blemish_costs_its_part(command: str, missing: list[str]) -> None:
    result = rescue(0, command)

    wanted = FULL | dict.fromkeys(missing, 0.0)
    if "history" in missing:
        # All wanted commits are below one too many, or all but the last are there.
        due = len(secret_of(0)["due"]["refs/heads/main"])
        wanted["history"] = 0.25 if "allow" in command else round(0.25 * (due - 1) / due, 6)
    assert result.reward_components == wanted, result.output


@pytest.mark.parametrize(
    "command",
    [
        "git gc -q --prune=now",
        "git repack -adfq --window=50 --depth=50; git pack-refs --all --prune",
        "git repack -aq; git prune-packed; git multi-pack-index write",
        "git commit-graph write; git update-index --index-version 4",
        "git update-index --index-version 3; git update-index --untracked-cache",
        "mkdir -p empty/folder; git notes list; rm -f .git/logs/HEAD",
        "git worktree add -q ../other v1.0; git worktree remove ../other",
        "touch -d 2001-01-01 README.md; git config user.name x; git config core.bare true",
    ],
)
def test_housekeeping_changes_nothing(command: str) -> None:
    assert rescue(0, command).score == 1.0


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_lost_bystander_costs_everything(kind: str) -> None:
    """Each world has a branch besides that nobody speaks of."""
    variant = variant_of(kind)
    secret = secret_of(variant)
    (other,) = (ref for ref in secret["refs"] if ref.split("/")[-1] in SIDE_BRANCHES)

    result = rescue(variant, f"git update-ref -d {other}")

    assert result.score == 0.0
    assert "are lost" in result.output


def test_merge_conflict_parts() -> None:
    variant = variant_of("merge_conflict", "medium")
    values = secret_of(variant)["play"]["files"]
    (note,) = [path for path, text in values.items() if text is None]
    (other,) = (
        ref.split("/")[-1]
        for ref in secret_of(variant)["refs"]
        if ref.split("/")[-1] not in [*SIDE_BRANCHES, "main", "v1.0"]
    )
    write = "".join(
        f"cat > {path} <<'END'\n{text}END\ngit add {path}\n"
        for path, text in values.items()
        if text is not None
    )
    drop = f"git rm -q --cached {note}; rm -f {note}\n"
    for way, parts in [
        (f"{write}{drop}git commit -qm 'Any words'", FULL),
        # With one parent; unfinished; each other answer to a conflict.
        (f"{write}{drop}rm .git/MERGE_*; git commit -qm all", {}),
        (write + drop, {}),
        (f"{write}git add {note}; git commit -q --no-edit", {}),
        ("git add -A; git commit -q --no-edit", {}),
        (f"git checkout -q --ours .; {drop}git add -A; git commit -q --no-edit", {}),
        (f"git checkout -q --theirs .; {drop}git add -A; git commit -q --no-edit", {}),
        ("git merge --abort", {}),
        (f"git merge --abort; git merge -q -X ours {other}", {}),
    ]:
        result = judged(variant, way)
        assert result.reward_components == dict.fromkeys(FULL, 0.0) | parts, (way, result.output)


def test_committed_conflict_must_not_stay_in_the_history() -> None:
    variant = variant_of("merge_conflict", "hard")
    values = secret_of(variant)["play"]["files"]
    write = "".join(f"cat > {path} <<'END'\n{text}END\n" for path, text in values.items())

    result = judged(variant, f"{write}git add -A; git commit -qm 'Mend the merge'")

    assert result.reward_components == dict.fromkeys(FULL, 0.0) | {"content": 0.2}


def test_detached_work_parts() -> None:
    easy, medium = (variant_of("detached_work", level) for level in LEVELS[:2])
    name, tip = secret_of(easy)["play"]["branch"], wanted_id(easy)
    values = secret_of(medium)["play"]
    work = f"git switch -q -c {values['branch']}"
    commit = f"git add -A; git commit -qm '{values['message']}'"
    due = len(secret_of(medium)["due"][f"refs/heads/{values['branch']}"])
    for variant, way, score in [
        (easy, f"git checkout -q -b {name} {tip}", 1.0),
        (easy, f"git branch {name} {tip}", 0.85),
        (easy, f"git checkout -q -b {name}", 0.0),
        (easy, f"git checkout -q -b other {tip}", 0.0),
        (easy, f"git checkout -q -b {name}; git cherry-pick {tip}~1..{tip}", 0.0),
        # Main may not move.
        (easy, f"git checkout -q -B main {tip}; git checkout -q -b {name}", 0.0),
        (medium, f"{commit}; {work}; git rebase -q main", 1.0),
        (medium, f"git stash -qu; {work}; git rebase -q main; git stash pop -q; {commit}", 1.0),
        # Not on top of main; merged instead; what was not committed lost, or of another message.
        (medium, f"{commit}; {work}", 0.0),
        (medium, f"{commit}; {work}; git merge -q --no-edit main", 0.2),
        (
            medium,
            f"git reset -q --hard; git clean -fdq; {work}; git rebase -q main",
            round(0.25 * (due - 1) / due, 6),
        ),
        (
            medium,
            f"git add -A; git commit -qm other; {work}; git rebase -q main",
            round(0.2 + 0.25 * (due - 1) / due, 6),
        ),
    ]:
        assert judged(variant, way).score == pytest.approx(score, abs=2e-6), way


def test_dropped_stash_is_told_from_the_other_and_the_kept_one_stays() -> None:
    variant = variant_of("detached_work", "hard")

    assert rescue(variant, "git stash drop -q").score == 0.0
    assert rescue(variant, "git reset -q --hard HEAD~").score == pytest.approx(
        0.25 * (1 - 1 / len(secret_of(variant)["due"][secret_of(variant)["targets"][0]])), abs=2e-6
    )


def test_bad_rebase_parts() -> None:
    variant = variant_of("bad_rebase", "hard")
    name = secret_of(variant)["play"]["branch"]
    path, text = secret_of(variant)["play"]["path"], secret_of(variant)["play"]["text"]
    resolve = f"cat > {path} <<'END'\n{text}END\ngit add -A; git rebase --continue\n"
    due = len(secret_of(variant)["due"][f"refs/heads/{name}"])

    # As the list of things to do says, one commit is missing.
    missing = judged(variant, resolve).reward_components or {}
    # From the beginning again, the amended version is not in it.
    again = judged(variant, f"git rebase --abort; git rebase main; {resolve}").score

    assert missing["content"] == missing["refs"] == missing["clean"] == 0.0
    assert 0.25 * 2 / due <= missing["history"] < 0.25
    assert again == 0.0
    assert judged(variant, "git rebase --skip").score <= 0.25 / due + 1e-6
    assert judged(variant, "git rebase --abort").score == 0.0


def test_wrong_author_parts() -> None:
    variant = variant_of("wrong_author", "medium")
    me, wrong = ENVIRONMENT.variant(variant)["task"]["me"], secret_of(variant)["wrong"]
    name, mail = me[:-1].split(" <")
    words = f'GIT_AUTHOR_NAME="{name}"; GIT_AUTHOR_EMAIL={mail}'
    rewrite = (
        "export FILTER_BRANCH_SQUELCH_WARNING=1; git filter-branch -f --tag-name-filter cat "
        "--env-filter '{}' -- --branches --tags\n"
        "git for-each-ref --format='%(refname)' refs/original | xargs -n 1 git update-ref -d"
    )
    if_wrong = f"if [ $GIT_AUTHOR_EMAIL = {wrong} ]; then {{}}; fi"
    for way, parts in [
        (rewrite.format(if_wrong.format(words)), FULL),
        (
            rewrite.format(if_wrong.format(words)).splitlines()[0],
            {"content": 0.2, "history": 0.5, "clean": 0.15},
        ),
        # Nobody is wrong any more, but dates, or the name, have changed.
        (
            rewrite.format(if_wrong.format(words + '; GIT_AUTHOR_DATE="1700000000 +0000"')),
            {"content": 0.2},
        ),
        (
            rewrite.format(if_wrong.format(f"GIT_AUTHOR_EMAIL={mail}; GIT_AUTHOR_NAME=x")),
            {"content": 0.2},
        ),
        # The ids of early commits change, so these are lost.
        (rewrite.format(words), {}),
        # The committer, or the last commit alone.
        (rewrite.format(if_wrong.format("GIT_COMMITTER_NAME=x")), {}),
        ("git commit -q --amend --no-edit --reset-author", {}),
        # Without the tag: half of the targets.
        (
            rewrite.replace("--tag-name-filter cat", "")
            .replace("--branches --tags", "main")
            .format(if_wrong.format(words)),
            {"content": 0.1, "history": 0.25},
        ),
    ]:
        result = judged(variant, way)
        assert result.reward_components == dict.fromkeys(FULL, 0.0) | parts, (way, result.output)


def test_secret_parts() -> None:
    variant = variant_of("secret")
    file, word = secret_of(variant)["play"]["file"], secret_of(variant)["word"]
    rewrite = (
        "export FILTER_BRANCH_SQUELCH_WARNING=1; git filter-branch -f --index-filter "
        f"'git rm -q --cached --ignore-unmatch {file}' -- --branches --tags\n"
    )
    forget = "git update-ref -d refs/original/refs/heads/main\n"
    purge = "git reflog expire --expire=now --all; git gc -q --prune=now"
    unpurged = {name: value for name, value in PURGED.items() if name != "purged"}
    for way, parts in [
        (rewrite + forget + purge, PURGED),
        (rewrite + forget, unpurged),
        (rewrite + forget + "git gc -q", unpurged),
        (rewrite + purge, {"content": 0.15, "history": 0.35, "clean": 0.1}),
        (f"{rewrite}{forget}{purge}; echo {word} > .git/note", unpurged),
        (f"{rewrite}{forget}{purge}; mkfifo .git/x", unpurged),
        (f"{rewrite}{forget}{purge}; echo x > .git/x; chmod 0 .git/x", unpurged),
        (f"{rewrite}{forget}{purge}; ln -s /tmp .git/x", unpurged),
        # Taken away at the tip alone, or together with the history since.
        (f"git rm -q {file}; git commit -qm 'Remove it'; {purge}", {}),
        (
            f"git reset -q --soft {secret_of(variant)['roots']['refs/heads/main'][0]}; true",
            {},
        ),
    ]:
        result = judged(variant, way)
        assert result.reward_components == dict.fromkeys(PURGED, 0.0) | parts, (way, result.output)


def test_squashing_the_secret_away_is_worth_the_content_alone() -> None:
    variant = variant_of("secret")
    start = f"git log --format=%H --diff-filter=A -- {secret_of(variant)['play']['file']} | tail -1"
    way = (
        f"start=$({start}); git rm -q {secret_of(variant)['play']['file']}; "
        "git reset -q --soft $start~; git commit -qm all; "
        "git reflog expire --expire=now --all; git gc -q --prune=now"
    )

    result = judged(variant, way)

    assert result.reward_components == dict.fromkeys(PURGED, 0.0) | {"content": 0.15}


@pytest.mark.parametrize(
    "command",
    [
        # What git would run or follow, if it ran with this configuration.
        "mkdir -p .git/hooks; printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; "
        "cp .git/hooks/pre-commit .git/hooks/reference-transaction; chmod +x .git/hooks/*",
        "git config core.fsmonitor 'sh -c \"exit 9\"'; git config core.pager false",
        "git config alias.cat-file '!false'; git config include.path /etc/passwd",
        "git config remote.x.url 'ext::sh -c false'; git config core.hooksPath /tmp",
        "git config filter.x.clean false; echo '* filter=x' > .git/info/attributes",
        "printf '[core]\\n bare = true\\n[' > .git/config",
        "rm -r .git/logs .git/config .git/info",
        "mkdir -p .git/objects/zz; mkfifo .git/objects/zz/x .git/refs/heads/x.lock",
        "ln -s / .git/objects/aa0; mkdir -p .git/objects/info; "
        "echo /work > .git/objects/info/alternates",
        "mkdir -p .git/info; echo $(git rev-parse HEAD) > .git/info/grafts",
        "git rev-parse HEAD > .git/shallow",
        "printf '[x]' > .git/config.worktree; git config extensions.worktreeConfig true",
    ],
)
def test_hostile_settings_are_not_obeyed(command: str) -> None:
    assert rescue(0, command).score == 1.0


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf .git; mkfifo .git",
        "mv .git ../real; ln -s ../real .git",
        "mv .git ../real; echo 'gitdir: ../real' > .git",
        "mv .git/objects ../o; ln -s ../../o .git/objects",
        "for d in .git/objects/??; do mv $d ../o-$(basename $d); "
        "ln -s ../../../o-$(basename $d) $d; done",
        "rm -rf .git/refs; ln -s / .git/refs",
        "cd ..; mv {folder} real; ln -s real {folder}",
        # Objects by way of another store: they are not in this repository.
        "git repack -adq; mkdir ../store; mv .git/objects/pack ../store/; "
        "mkdir -p .git/objects/info; echo /work/store > .git/objects/info/alternates",
        # Packs that are not what they seem, and more objects than a history of this size can have.
        "git repack -adq; for f in .git/objects/pack/*.pack; do chmod 600 $f; "
        "head -c 30000000 /dev/zero > $f; done",
        "git repack -adq; for f in .git/objects/pack/*.pack; do chmod 600 $f; "
        "truncate -s -30 $f; done",
        "git repack -adq; for f in .git/objects/pack/*.pack; do chmod 600 $f; "
        "printf 'PACK\\0\\0\\0\\2\\0\\0\\0\\1\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377"
        "\\377\\377\\377\\377\\377\\377\\377\\377\\377' > $f; done",
        "find .git/objects -type f | while read f; do chmod 600 $f; echo x > $f; done",
        "find .git/objects -type f | while read f; do rm $f; mkfifo $f; done",
        "find .git/objects -type f | while read f; do rm $f; ln -s /dev/zero $f; done",
        "chmod 0 .git",
        "chmod 0 .git/objects",
        # A blob, and then a tree, under the name of another.
        "p=$(git rev-parse HEAD^{tree}); q=$(git rev-parse v1.0^{tree}); "
        "f=.git/objects/$(echo $p | cut -c1-2)/$(echo $p | cut -c3-); chmod 600 $f; "
        "cp .git/objects/$(echo $q | cut -c1-2)/$(echo $q | cut -c3-) $f",
        "p=$(git rev-parse v1.0:README.md); "
        "rm -f .git/objects/$(echo $p | cut -c1-2)/$(echo $p | cut -c3-)",
        # A branch beside the others whose commit is none.
        "python3 -c \"print('tree ../../../etc\\nparent ' + '/' * 40)\" | "
        "git hash-object -t commit --literally -w --stdin > .git/refs/heads/odd",
        "printf '100644 a\\0xxxxxxxxxxxxxxxxxxxx' | git hash-object -t tree --literally -w --stdin "
        "> ../t; printf 'tree %s\\nauthor x <x> 1 +0000\\ncommitter x <x> 1 +0000\\n\\nx\\n' "
        "$(cat ../t) | git hash-object -t commit -w --stdin > .git/refs/heads/odd",
        "for n in $(seq 1100); do git rev-parse HEAD > .git/refs/heads/b$n; done",
    ],
)
def test_hostile_repository_is_a_judged_zero(command: str) -> None:
    folder = secret_of(0)["folder"]

    assert rescue(0, command.replace("{folder}", folder)).score == 0.0


@pytest.mark.parametrize(
    ("command", "score"),
    [
        ("printf 'x%.0s' $(seq 100000) > .git/HEAD", 0.85),
        ("rm .git/HEAD; mkfifo .git/HEAD", 0.85),
        ("printf 'ref: refs/heads/loop' > .git/refs/heads/loop", 0.85),
        ("mkfifo .git/refs/heads/pipe; ln -s /etc/passwd .git/refs/heads/link", 0.85),
        ("head -c 3000000 /dev/zero > .git/refs/heads/large", 0.85),
        ("head -c 2000000 /dev/urandom > .git/index", 0.85),
        ("printf 'DIRC\\0\\0\\0\\4\\0\\0\\100\\0' > .git/index", 0.85),
        ("rm .git/index; mkfifo .git/index; rm README.md; mkfifo README.md", 0.85),
        ("printf x > \"$(printf 'odd\\377name')\"", 0.85),
        ("ln -s / everything", 0.85),
        ("head -c 60000000 /dev/zero > settings.ini", 0.85),
        ("chmod 0 README.md", 0.85),
        ("d=deep; for n in $(seq 60); do mkdir -p $d; d=$d/x; done; touch deep/x/y", 0.85),
        ("mkdir many; cd many; seq 21000 | xargs touch", 0.0),
    ],
)
def test_odd_files_cost_their_part(command: str, score: float) -> None:
    assert rescue(0, command).score == score


def test_missing_git_stops_the_setup_with_a_remedy(tmp_path: Path) -> None:
    code = ENVIRONMENT.definition(0).setup_code or ""

    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 1
    assert "Install git on the machine, or use an image that holds it." in ended.stderr
    assert list(tmp_path.iterdir()) == []
