"""Looks at the repository, then does what somebody who knows Git would do."""

QUIET = "export GIT_EDITOR=true FILTER_BRANCH_SQUELCH_WARNING=1; cd repo && set -e\n"
LOOK = "cd repo; git status; git log --graph --oneline --all; git reflog -20; git tag -n"


def filtered(plan, refs):
    """Return the commands that rewrite these commits without their fault, or nothing."""
    if plan["twist"] == "author":
        name, email = plan["right"]
        option = (
            f'--env-filter \'if [ "$GIT_AUTHOR_EMAIL" = {plan["wrong"]} ]; then '
            f'GIT_AUTHOR_NAME="{name}"; GIT_AUTHOR_EMAIL={email}; fi\''
        )
    elif plan["twist"] is None:
        return ""
    elif plan["place"] == "line":
        option = (
            "--tree-filter \"sed -i 's/^password = .*/password = REMOVED/' settings.conf\" "
            "--tag-name-filter cat"
        )
    else:
        option = (
            "--index-filter 'git rm -q --cached --ignore-unmatch private.env' --tag-name-filter cat"
        )
    return (
        f"git filter-branch -f {option} -- {refs}\n"
        "git for-each-ref --format='%(refname)' refs/original | xargs -r -n1 git update-ref -d\n"
        "git reset -q --hard\n"
    )


def lost(plan):
    old = f"{'HEAD' if plan['mode'] == 'branch' else 'main'}@{{{plan['entry']}}}"
    if plan["mode"] == "branch":
        name = plan["branch"]
        yield f"git branch {name} '{old}'; git log --stat {name}"
        if plan["twist"]:
            yield f"git checkout -q {name}\n{filtered(plan, f'{name} ^main')}git checkout -q main"
        return
    if plan["mode"] == "reset":
        yield f"git reset --hard '{old}'; git log --stat"
    else:
        yield f"git cherry-pick '{plan['base']}..{old}'; git log --stat"
    if plan["twist"]:
        yield filtered(plan, f"main ^HEAD~{plan['count']}")


def conflict(plan):
    yield f"git diff; git tag lost 'main@{{{plan['after']}}}'" if plan["lose"] else "git diff"
    command = ""
    for path, text in plan["answers"].items():
        command += f"cat > {path} <<'END'\n{text}END\n"
    yield f'{command}git add -A; git commit -q -m "{plan["message"]}"'
    if plan["lose"]:
        yield f"git cherry-pick lost~{plan['lose']}..lost; git tag -d lost"


def detached(plan):
    name, mode = plan["branch"], plan["mode"]
    work = name if mode == "branch" else "work"
    yield f"git checkout -q -b {work} 'HEAD@{{{plan['entry']}}}'; git log --stat"
    if mode == "rebase":
        yield "git rebase -q main; git checkout -q main; git merge -q --ff-only work"
    elif mode == "merge":
        yield f"git checkout -q main; git merge -q --no-ff -m '{plan['message']}' work"
    if plan["twist"]:
        yield filtered(plan, f"HEAD ^HEAD~{plan['count']}")
    if mode != "branch":
        yield "git branch -D work"


def rebase(plan):
    name = plan["branch"]
    yield f"git reset -q --hard '{name}@{{1}}'; git rebase -q main; git log --stat"
    if plan["twist"]:
        yield filtered(plan, f"{name} ^main")


def author(plan):
    yield "git log --format='%h %an <%ae> %s' --all"
    yield filtered(plan, f"{' '.join(plan['refs'])} ^{plan['base'][:12]}")


def secret(plan):
    yield "git log --all --oneline --stat -- private.env settings.conf; git grep -n -i password"
    yield filtered(plan, f"main {plan['branch']} v0.2 v0.3 ^{plan['start'][:12]}")


KINDS = {function.__name__: function for function in (lost, conflict, detached, rebase)}
KINDS |= {"author": author, "secret": secret}


def play(variant, observation):
    """Act as a capable agent would."""
    plan = variant["secret"]["plan"]
    yield {"action_type": "bash", "content": LOOK}
    for command in KINDS[plan["kind"]](plan):
        yield {"action_type": "bash", "content": QUIET + command}
    shown = "cd repo; git status; git log --graph --format='%h %an %s' --all"
    yield {"action_type": "bash", "content": shown}
