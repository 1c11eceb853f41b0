"""Six kinds of trouble: each damages a world and says what it must look like afterwards.

A trouble returns a dict: `story` and `wanted` (the task's words), `goals` (ref -> the commit that
it must end at, made but not given to the agent), `anchors` (commits that stay as they are, with all
before them), `lost` (commits that exist but no ref reaches), `head` (the branch to be on), `anyone`
(goal commits that may have any author), `fixes` (goal commits whose author was wrong), `annotated`
(tag -> message), `token` (what must be gone) and `plan` (for the reference).
"""

from .twists import Twist, person

MAIN = "refs/heads/main"


def subjects(world, commits):
    """Return the commits' subjects as a list in words."""
    return ", ".join(f"`{world.store.commits[c]['message'].splitlines()[0]}`" for c in commits)


def lost(world, mode, count, twist=None, draft=False):
    """Commits that a hard reset (`reset`, `behind`) or a deleted branch (`branch`) took away."""
    base, topic = world.base(), world.topic
    twist = Twist(world, twist)
    ref = f"refs/heads/{topic}" if mode == "branch" else MAIN
    if mode == "branch":
        world.log("HEAD", base, f"checkout: moving from main to {topic}")
    chain = twist.chain(base, count)
    log = None if mode == "branch" else MAIN
    world.log_commits(log, chain[:-1])
    extra = world.work(chain[-2] if count > 1 else base) if draft else []
    world.log_commits(log, extra)
    text = world.store.commits[chain[-1]]["message"].splitlines()[0]
    for name in ("HEAD", log) if log else ("HEAD",):
        world.log(name, chain[-1], f"commit{' (amend)' if draft else ''}: {text}")
    anchors, onto = [base], base
    if mode == "branch":
        world.log("HEAD", base, f"checkout: moving from {topic} to main")
        world.clock += 50_000
        newer = world.work(base, 1)
        world.log_commits(MAIN, newer)
        world.refs[MAIN] = newer[-1]
        anchors = newer
        story = f"The branch `{topic}` ({count} commits that no other branch holds) was deleted"
        story += " with `git branch -D`."
        want = f"`{topic}` exists again, with all the commits it had"
    else:
        text = f"reset: moving to HEAD~{count}"
        world.log("HEAD", base, text)
        world.log(MAIN, base, text)
        story = f"Somebody moved `main` back by {count} commits with `git reset --hard`"
        want = "`main` holds again the commits that it held right before the reset"
        if mode == "behind":
            newer = world.work(base, world.rng.randint(1, 2))
            world.log_commits(MAIN, newer)
            world.refs[MAIN], onto, anchors = newer[-1], newer[-1], newer
            story += ", and work went on from there."
            want += f", on top of those made since ({subjects(world, newer)})"
        else:
            story += "."
    goal = chain
    if onto != base or twist.kind:
        goal = twist.fixed(chain, onto)
    if draft:
        story += " Its last commit had been amended before; only the amended form counts."
    return {
        "story": f"{story}{twist.story(f'the lost commits of `{ref[11:]}`')}",
        "wanted": [
            f"{want}, in their order, each with its message, its changes, its author and its "
            f"author date.{twist.wanted()}",
            "`main` is checked out.",
        ],
        "goals": {ref: goal[-1]},
        "anchors": anchors,
        "lost": [chain[-1], *extra],
        "head": MAIN,
        "fixes": twist.fixes(chain, goal),
        "token": twist.token,
        "plan": {
            "kind": "lost",
            "mode": mode,
            "count": count,
            "branch": ref[11:],
            "entry": 1 if mode == "reset" else 1 + len(newer),
            "base": base,
            **twist.plan(),
        },
    }


def conflict(world, rules, lose=0):
    """A merge that stopped in the middle; `rules` names the files in conflict and their answers."""
    rng, topic = world.rng, world.topic
    base = world.base()
    chain = world.work(base, lose) if lose else []
    if lose:
        world.log_commits(MAIN, chain)
        for ref in ("HEAD", MAIN):
            world.log(ref, base, f"reset: moving to HEAD~{lose}")
    files = world.store.commits[base]["files"]
    first, _, rest = files["settings.conf"].partition("\n")
    low, high = rng.sample(range(100, 400), 2)
    names = [world.names.pop() for _ in range(4)]
    project = world.project[2:]
    sides = {  # path -> the part that both sides changed: (before it, ours, theirs, after it)
        "settings.conf": ("", f"columns = {low}\n", f"columns = {high}\n", rest),
        "contents.txt": (
            files["contents.txt"],
            "".join(f"- {name}\n" for name in names[:2]),
            "".join(f"- {name}\n" for name in names[2:]),
            "",
        ),
        "README.md": (
            "",
            f"# Notes on {project}\n",
            f"# The book of {project}\n",
            files["README.md"].partition("\n")[2],
        ),
    }
    answers, words = {}, []
    for path, rule in rules.items():
        before, ours, theirs, after = sides[path]
        if rule in ("larger", "smaller"):
            number = max(low, high) if rule == "larger" else min(low, high)
            answers[path], text = f"columns = {number}\n", f"`columns` is the {rule} of both values"
        elif rule in ("ours first", "theirs first"):
            answers[path] = ours + theirs if rule == "ours first" else theirs + ours
            one, two = ("main", topic) if rule == "ours first" else (topic, "main")
            text = f"the new lines of both sides are kept, those of `{one}` before those of `{two}`"
        else:
            answers[path] = ours if rule == "ours" else theirs
            text = f"the title is that of `{'main' if rule == 'ours' else topic}`"
        words.append(f"in `{path}` {text}")

    def side(which):
        def change(files):
            for path in rules:
                before, after = sides[path][0], sides[path][3]
                files[path] = before + sides[path][which] + after

        return change

    theirs = world.work(base, rng.randint(1, 2), extra=side(2))
    ours = world.work(base, rng.randint(1, 2), extra=side(1))
    ref = f"refs/heads/{topic}"
    world.log(ref, base, "branch: Created from main")
    world.log_commits(ref, theirs, head=False)
    world.log_commits(MAIN, ours)
    world.refs[MAIN], world.refs[ref] = ours[-1], theirs[-1]
    our_files = world.store.commits[ours[-1]]["files"]
    their_files = world.store.commits[theirs[-1]]["files"]
    merged = {**their_files, **our_files}
    blob = world.store.put
    world.index, world.files = [], dict(merged)
    for path in merged:
        if path not in rules:
            world.index.append((path, 0, blob("blob", merged[path].encode())))
            continue
        for stage, source in enumerate((files, our_files, their_files), 1):
            world.index.append((path, stage, blob("blob", source[path].encode())))
        before, one, two, after = sides[path]
        world.files[path] = f"{before}<<<<<<< HEAD\n{one}=======\n{two}>>>>>>> {topic}\n{after}"
        merged[path] = before + answers[path] + after
    message = f"Merge branch '{topic}' into main"
    world.git["MERGE_HEAD"] = theirs[-1] + "\n"
    world.git["MERGE_MODE"] = ""
    world.git["MERGE_MSG"] = (
        message + "\n\n# Conflicts:\n" + "".join(f"#\t{path}\n" for path in sorted(rules))
    )
    world.git["ORIG_HEAD"] = ours[-1] + "\n"
    parents = [ours[-1], theirs[-1]]
    made = goal = world.store.commit(merged, message, world.people[0], world.tick(), parents)
    if lose:
        goal = world.replay(chain, goal)[-1]
    more = (
        f" Before that, somebody had moved `main` back by {lose} commits with `git reset --hard`."
        if lose
        else ""
    )
    return {
        "story": f"A merge of `{topic}` into `main` stopped at a conflict and was left like that."
        f"{more}",
        "wanted": [
            f"The merge is complete: a commit on `main` with the message `{message}`, whose first "
            f"parent is the commit that `main` is at now and whose second is that of `{topic}`. It "
            f"holds what both sides did; {'; '.join(words)}.",
            f"On top of the merge `main` holds again the {lose} commits that the reset took away, "
            "in their order, each with its message, its changes, its author and its author date."
            if lose
            else "",
            "`main` is checked out.",
        ],
        "goals": {MAIN: goal},
        "anchors": [ours[-1], theirs[-1]],
        "lost": chain[-1:],
        "head": MAIN,
        "anyone": [made],
        "plan": {
            "kind": "conflict",
            "answers": {path: merged[path] for path in rules},
            "message": message,
            "lose": lose,
            "after": len(ours) + 1,
        },
    }


def detached(world, mode, count, twist=None, away=False):
    """Work made on a detached HEAD; `away`: HEAD is back on main and nothing names the work."""
    base = world.base()
    twist = Twist(world, twist)
    back = world.rng.randint(1, 2)
    fork = base
    for _ in range(back):
        fork = world.store.commits[fork]["parents"][0]
    world.log("HEAD", fork, f"checkout: moving from main to {fork}")
    chain = twist.chain(fork, count)
    world.log_commits(None, chain)
    tip = chain[-1]
    if away:
        world.log("HEAD", base, f"checkout: moving from {tip} to main")
    else:
        world.head = tip
    newer = world.work(base)
    world.log_commits(MAIN, newer, head=away)
    main = world.refs[MAIN] = newer[-1]
    name = world.topic
    anchors, anyone, goal = [main], [], chain
    head = MAIN
    keeps = "each with its message, its changes, its author and its author date"
    if mode == "branch":
        ref = head = f"refs/heads/{name}"
        if twist.kind:
            goal = twist.fixed(chain, fork)
        subject = world.store.commits[fork]["message"].splitlines()[0]
        want = f"A new branch `{name}` holds these commits, {keeps}, on top of `{subject}` as now."
        done = f"`{name}` is checked out."
    elif mode == "rebase":
        ref, goal = MAIN, twist.fixed(chain, main)
        want = f"`main` holds these commits on top of what it holds now, in their order, {keeps}; "
        want += "the history of `main` stays a straight line."
        done = "`main` is checked out."
    else:
        ref = MAIN
        message = f"Merge work on {world.folder}"
        files = {**world.store.commits[tip]["files"], **world.store.commits[main]["files"]}
        people, when = world.people, world.tick()
        goal = [world.store.commit(files, message, people[0], when, [main, tip])]
        anchors, anyone = [main, tip], goal
        want = f"The work is merged into `main`: a merge commit with the message `{message}`, "
        want += "whose first parent is the commit that `main` is at now and whose second is the "
        want += "last of these commits, unchanged."
        done = "`main` is checked out."
    story = f"Somebody made {count} commits on a detached HEAD ({subjects(world, chain)}) while "
    story += "`main` went on."
    story += (
        " Then they checked out `main`, and no branch holds those commits."
        if away
        else " HEAD is still detached there; no branch holds those commits."
    )
    return {
        "story": story + twist.story("these commits"),
        "wanted": [want + twist.wanted(), done],
        "goals": {ref: goal[-1]},
        "anchors": anchors,
        "lost": [tip],
        "head": head,
        "anyone": anyone,
        "fixes": twist.fixes(chain, goal),
        "token": twist.token,
        "plan": {
            "kind": "detached",
            "mode": mode,
            "branch": name,
            "count": count,
            "away": away,
            "entry": 1 + len(newer) if away else 0,
            "message": message if mode == "merge" else "",
            **twist.plan(),
        },
    }


def rebase(world, count, dropped, twist=None):
    """A branch that lost commits (their places, from 0) when it was rebased onto main."""
    base, topic = world.base(), world.topic
    twist = Twist(world, twist)
    ref = f"refs/heads/{topic}"
    world.log(ref, base, "branch: Created from main")
    world.log("HEAD", base, f"checkout: moving from main to {topic}")
    chain = twist.chain(base, count)
    world.log_commits(ref, chain)
    world.log("HEAD", base, f"checkout: moving from {topic} to main")
    newer = world.work(base, world.rng.randint(1, 2))
    world.log_commits(MAIN, newer)
    world.refs[MAIN] = main = newer[-1]
    world.log("HEAD", chain[-1], f"checkout: moving from main to {topic}")
    kept = [name for place, name in enumerate(chain) if place not in dropped]
    again = world.replay(kept, main)
    world.log("HEAD", main, "rebase (start): checkout main")
    for name in again:
        subject = world.store.commits[name]["message"].splitlines()[0]
        world.log("HEAD", name, f"rebase (pick): {subject}")
    world.log("HEAD", again[-1], f"rebase (finish): returning to {ref}")
    world.log(ref, again[-1], f"rebase (finish): {ref} onto {main}")
    world.refs[ref], world.head = again[-1], ref
    goal = twist.fixed(chain, main)
    lack = "A commit is" if len(dropped) == 1 else f"{len(dropped)} commits are"
    return {
        "story": f"The branch `{topic}` was rebased onto `main`. {lack} missing since."
        + twist.story(f"the commits of `{topic}`"),
        "wanted": [
            f"`{topic}` holds all the commits that it held before the rebase, in their old order, "
            "on top of what `main` holds now, each with its message, its changes, its author and "
            f"its author date.{twist.wanted()}",
            f"`{topic}` is checked out.",
        ],
        "goals": {ref: goal[-1]},
        "anchors": [main],
        "lost": [chain[-1]],
        "head": ref,
        "fixes": twist.fixes(chain, goal),
        "token": twist.token,
        "plan": {"kind": "rebase", "branch": topic, "count": count, **twist.plan()},
    }


def author(world, mode, count):
    """Commits by an identity that is nobody's; `branch`: another branch holds them too."""
    base, topic = world.base(), world.topic
    twist = Twist(world, "author")
    chain = twist.chain(base, count)
    world.log_commits(MAIN, chain)
    goal = twist.fixed(chain, base)
    tips, goals, anyone = {MAIN: chain[-1]}, {MAIN: goal[-1]}, []
    fixes = twist.fixes(chain, goal)
    also = ""
    if mode in ("branch", "merge"):
        place = world.rng.randrange(count - 1)
        ref = f"refs/heads/{topic}"
        side = twist.chain(chain[place], 2)
        fixed = twist.fixed(side, goal[place])
        world.log(ref, chain[place], "branch: Created from main")
        world.log_commits(ref, side, head=False)
        tips[ref], goals[ref] = side[-1], fixed[-1]
        fixes += twist.fixes(side, fixed)
        also = f" and `{topic}`"
    if mode == "merge":
        message = f"Merge branch '{topic}' into main"
        when = world.tick()
        for tip, made in ((chain[-1], tips), (goal[-1], goals)):
            other = made[ref]
            files = {**world.store.commits[other]["files"], **world.store.commits[tip]["files"]}
            made[MAIN] = world.store.commit(files, message, world.people[1], when, [tip, other])
        text = f"merge {topic}: Merge made by the 'ort' strategy."
        world.log("HEAD", tips[MAIN], text)
        world.log(MAIN, tips[MAIN], text)
    world.refs.update(tips)
    wrong = person(twist.wrong)
    joint = f" Commits that both branches hold now, both hold afterwards too: `{topic}` starts "
    joint += "from the same commit of the new `main`."
    return {
        "story": f"Some commits of `main`{also} bear the author {wrong}, which is nobody.",
        "wanted": [
            f"The author of every commit by {wrong} is {person(twist.right)}; committers do not "
            "matter.",
            f"Apart from that `main`{also} {'hold' if also else 'holds'} the same commits as now: "
            "same order, messages, changes, other authors, and author dates"
            f"{', and the merge' if mode == 'merge' else ''}.{joint if also else ''}",
            "Commits before the first wrong one stay as they are (the same commit names).",
            "`main` is checked out.",
        ],
        "goals": goals,
        "anchors": [base],
        "lost": [],
        "head": MAIN,
        "anyone": anyone,
        "fixes": fixes,
        "plan": {
            "kind": "author",
            "refs": sorted(ref[11:] for ref in goals),
            "base": base,
            **twist.plan(),
        },
    }


def secret(world, mode, count, removed=False):
    """A password in the history: `file` to take out, or `line` of a file to change."""
    base, topic = world.base(), world.topic
    twist = Twist(world, "secret", mode)
    place = world.rng.randrange(count - 1)
    chain = world.work(base, place) if place else []
    start = chain[-1] if chain else base
    rest = world.work(start, 1, extra=twist.plant)
    rest += world.work(rest[-1], count - place - 1)
    tagged, forked = world.rng.choice(rest), world.rng.choice(rest)
    if removed:
        rest += world.work(rest[-1], 1, extra=twist.take_out)
    world.log_commits(MAIN, chain + rest)
    side = world.work(forked, world.rng.randint(1, 2))
    ref = f"refs/heads/{topic}"
    world.log(ref, forked, "branch: Created from main")
    world.log_commits(ref, side, head=False)
    goal = twist.fixed(rest, start)
    new = dict(zip(rest, goal, strict=True))
    side_goal = twist.fixed(side, new[forked])
    tagger, when, text = world.people[0], world.tick(), "The second release"
    world.refs.update({MAIN: rest[-1], ref: side[-1], "refs/tags/v0.2": tagged})
    goals = {MAIN: goal[-1], ref: side_goal[-1], "refs/tags/v0.2": new[tagged]}
    late = rest[-1]
    world.refs["refs/tags/v0.3"] = world.store.tag(late, "v0.3", text, tagger, when)
    goals["refs/tags/v0.3"] = new[late]
    return {
        "story": f"A password got into the repository{twist.where()}. Several commits hold it, and "
        "with them branches and tags.",
        "wanted": [
            "The password can be reached from no ref of any kind (branches, tags, and whatever "
            "tools leave as a backup, such as `refs/original`), in no commit, file or message. "
            "Reflogs and unreachable objects do not matter.",
            twist.remedy(),
            f"Apart from that `main` and `{topic}` hold the same commits as now: same order, "
            f"messages, other changes, authors, and author dates; `{topic}` starts from the same "
            "commit of the new `main`. Commits before the password came in stay as they are (the "
            "same commit names).",
            "The tags `v0.2` and `v0.3` are at the rewritten forms of the commits that they are at "
            "now; `v0.3` is still an annotated tag with its message.",
            "`main` is checked out.",
        ],
        "goals": goals,
        "annotated": {"refs/tags/v0.3": text},
        "anchors": [start],
        "lost": [],
        "head": MAIN,
        "token": twist.token,
        "plan": {"kind": "secret", "branch": topic, "start": start, **twist.plan()},
    }
