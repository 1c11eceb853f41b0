"""Looks at the repository and its logs first, then does what somebody who knows git would do."""

import re
import shlex

LOOK = "git status; git log --oneline --graph --decorate --all; git log -g --format='%h %gd %gs'"
FILTER = "export FILTER_BRANCH_SQUELCH_WARNING=1; git filter-branch -f {} -- --branches --tags"
TIDY = "git for-each-ref --format='%(refname)' refs/original | xargs -r -n 1 git update-ref -d"
PURGE = "git reflog expire --expire=now --all && git gc -q --prune=now"


def found(log, subject, verb="commit"):
    """Return the newest commit that a reflog names with this subject."""
    match = re.search(rf"^(\w+) \S+ {verb}(?: \(\w+\))?: {re.escape(subject)}$", log, re.M)
    return match[1]


def write(files):
    """A command that writes files, or removes them where the text is None."""
    lines = []
    for path, text in files.items():
        name = shlex.quote(path)
        lines.append(
            f"git rm -q --cached {name}; rm -f {name}"
            if text is None
            else f"cat > {name} <<'END'\n{text}END\ngit add {name}"
        )
    return "\n".join(lines)


def lost_commit_easy(play, log):
    yield f"git reset --hard {found(log, play['lost'], 'commit')}"


def lost_commit_medium(play, log):
    last = found(log, play["lost"])
    yield f"git cherry-pick {last}~{play['count']}..{last}"


def lost_commit_hard(play, log):
    said = yield (
        "git fsck --unreachable --no-reflogs | while read -r _ kind id; do case $kind in "
        "commit) git log -1 --format='commit %H %ct %s' $id;; "
        "tag) echo tag $id $(git cat-file tag $id | sed -n 's/^tagger.*> \\([0-9]*\\) .*/\\1/p; "
        "s/^tag //p');; esac; done"
    )
    commits = re.findall(rf"^commit (\w+) (\d+) {re.escape(play['lost'])}$", said, re.M)
    tags = re.findall(rf"^tag (\w+) {re.escape(play['tag'])} (\d+)$", said, re.M)
    commit, tag = (max(seen, key=lambda pair: int(pair[1]))[0] for seen in (commits, tags))
    yield f"git branch {play['branch']} {commit}; git update-ref refs/tags/{play['tag']} {tag}"


def merge_conflict_easy(play, log):
    yield f"git diff\n{write(play['files'])}\ngit commit --no-edit"


merge_conflict_medium = merge_conflict_easy


def merge_conflict_hard(play, log):
    yield (
        "git log -3 --stat; git tag old; git reset --hard HEAD~2; "
        f"git merge {play['branch']}; git status; git diff"
    )
    yield f"{write(play['files'])}\ngit commit --no-edit; git cherry-pick old; git tag -d old"


def detached_work_easy(play, log):
    yield f"git switch -c {play['branch']} {found(log, play['lost'])}"


def detached_work_medium(play, log):
    yield f"git diff; git add -A; git commit -m '{play['message']}'"
    yield f"git switch -c {play['branch']}; git rebase main"


def detached_work_hard(play, log):
    said = yield (
        "git fsck --unreachable --no-reflogs | while read -r _ kind id; do "
        "[ $kind = commit ] && git log -1 --format='%H %s' $id; done; git stash list"
    )
    dropped = re.search(rf"^(\w+) On main: {re.escape(play['label'])}$", said, re.M)[1]
    last, before, after = play["first"]
    first = found(log, last)
    second, count = found(log, play["second"][0]), play["second"][1]
    yield (
        f"git switch -c {play['branch']} main && "
        f"git cherry-pick {first}~{before + 1 + after}..{first}~{after + 1} && "
        f"git cherry-pick {first}~{after}..{first} && git cherry-pick {second}~{count}..{second}"
    )
    yield f"git stash apply {dropped} && git add -A && git commit -m '{play['message']}'"


def bad_rebase_easy(play, log):
    said = yield f"git log -g --format='%h %gs' {play['branch']}"
    first = re.findall(r"^(\w+) rebase \(finish\)", said, re.M)[-1]
    yield f"git reset --hard {first}"


def bad_rebase_medium(play, log):
    last = found(log, play["last"])
    name = play["branch"]
    yield f"git tag old; git reset --hard {last}; git rebase main"
    yield f"git cherry-pick old~{play['new']}..old; git tag -d old; git log --oneline {name}"


def bad_rebase_hard(play, log):
    yield "git rebase --edit-todo; cat .git/rebase-merge/done .git/rebase-merge/git-rebase-todo"
    yield f"git diff\n{write({play['path']: play['text']})}"
    line = play["place"] - 1
    lost = f"pick {play['lost']}"
    editor = f"sed -i '{line}i {lost}'"
    if line > len(play["before"]) - 2:
        editor = f"sed -i '\\$a {lost}'"
    yield f'export GIT_SEQUENCE_EDITOR="{editor}"; git rebase --edit-todo; git rebase --continue'


def wrong_author_easy(play, log):
    name, mail = play["me"][:-1].split(" <")
    yield "git log --all --format='%h %an <%ae> %s'; git tag -n"
    change = (
        f'if [ "$GIT_AUTHOR_EMAIL" = {play["wrong"]} ]; then '
        f'GIT_AUTHOR_NAME="{name}"; GIT_AUTHOR_EMAIL={mail}; fi'
    )
    yield FILTER.format(f"--tag-name-filter cat --env-filter '{change}'")
    yield TIDY


wrong_author_medium = wrong_author_hard = wrong_author_easy


def secret_easy(play, log):
    yield f"git log --all --oneline -S {play['word']}; git stash list; git tag -n"
    if play["file"]:
        change = f"--index-filter 'git rm -q --cached --ignore-unmatch {play['file']}'"
    else:
        replace = f"s/{play['word']}/REMOVED/g"
        change = (
            f"--msg-filter 'sed {replace}' --tree-filter "
            f"'grep -rlZ {play['word']} . | xargs -r -0 sed -i {replace}'"
        )
    yield "git stash drop -q; " + FILTER.format(f"--tag-name-filter cat {change}")
    yield f"{TIDY}; {PURGE}"


secret_medium = secret_hard = secret_easy


def play(variant, observation):
    """Act as a capable agent would."""
    secret = variant["secret"]
    values = {**secret["play"], "me": variant["task"]["me"]}
    folder = secret["folder"]
    log = yield {"action_type": "bash", "content": f"cd {folder}; {LOOK}"}
    act = globals()[f"{secret['kind']}_{secret['level']}"](values, log)
    command = next(act)
    while True:
        said = yield {"action_type": "bash", "content": f"cd {folder}; {command}"}
        try:
            command = act.send(said)
        except StopIteration:
            break
    yield {"action_type": "bash", "content": f"cd {folder}; git status; git log --graph --oneline"}
