"""Commits that no branch reaches: after a reset, a deleted branch, work without a branch."""

from .tale import put


def bullets(*lines):
    return "\n".join(f"- {line}" for line in lines)


def quoted(commit):
    return f'"{commit.subject}"'


def listed(commits):
    return ", ".join(quoted(commit) for commit in commits)


def switch(tale, old, new, come, go):
    tale.stamp(tale.me)
    tale.log(None, old, new, f"checkout: moving from {come} to {go}")


def amended(tale, parent, change, drafts):
    """Add a commit in several versions, as amending makes them; return (drafts, last version)."""
    act, subject = change
    files = act(parent.files)
    author = when = tale.stamp(tale.me)
    made = []
    for number in range(1, drafts + 1):
        text = {**files, "README.md": files["README.md"] + f"\nDraft {number}\n"}
        made.append(tale.world.commit([parent], text, subject, author, when))
        when = tale.stamp(tale.me)
    return made, tale.world.commit([parent], files, subject, author, when)


def lost_commit_easy(tale):
    """`git reset --hard` too far; the reflog of the branch tells."""
    rng, world = tale.rng, tale.world
    base = tale.past(rng.randint(4, 7))
    main, side = base[-1], world.refs[f"refs/heads/{tale.other_branch}"]
    paths = tale.take(3)
    lost = tale.series(main, paths, rng.randint(1, 3))
    tale.log_commits("main", main, lost)
    # Committed in haste, and amended: the reflog names both.
    (hasty,), last = amended(tale, lost[-1], tale.change(paths[0]), 1)
    tale.log_commits("main", lost[-1], [hasty])
    tale.log_commits("main", hasty, [last], "commit (amend)")
    tale.stamp(tale.me)
    tale.log("main", last, main, f"reset: moving to HEAD~{len(lost) + 1}")
    switch(tale, main, side, "main", tale.other_branch)
    switch(tale, side, main, tale.other_branch, "main")
    world.wanted = {**world.refs, "refs/heads/main": last}
    world.targets = ["refs/heads/main"]
    return {
        "story": f"On `main`, a `git reset --hard` went too far: the last {len(lost) + 1} commits "
        f"are gone, from {quoted(lost[0])} to {quoted(last)}. Nothing has been committed since.",
        "wanted": bullets(
            "`main` is at the very commit again that it was at before that reset, with its id."
        ),
        "head": "main",
        "play": {"lost": last.subject},
    }


def lost_commit_medium(tale):
    """As before, but work has gone on."""
    rng, world = tale.rng, tale.world
    base = tale.past(rng.randint(4, 7))
    main, side = base[-1], world.refs[f"refs/heads/{tale.other_branch}"]
    lost = tale.series(main, tale.take(3), rng.randint(2, 3))
    tale.log_commits("main", main, lost)
    switch(tale, lost[-1], side, "main", tale.other_branch)
    switch(tale, side, lost[-1], tale.other_branch, "main")
    tale.stamp(tale.me)
    tale.log("main", lost[-1], main, f"reset: moving to HEAD~{len(lost)}")
    new = tale.series(main, tale.take(2), rng.randint(1, 3))
    tale.log_commits("main", main, new)
    world.refs["refs/heads/main"] = new[-1]
    world.wanted = {**world.refs, "refs/heads/main": tale.replay(lost, new[-1])}
    world.targets = ["refs/heads/main"]
    return {
        "story": f"On `main`, a `git reset --hard` went too far: {len(lost)} commits were lost, "
        f"from {quoted(lost[0])} to {quoted(lost[-1])}. Nobody noticed, and {len(new)} more were "
        f"made since: {listed(new)}.",
        "wanted": bullets(
            "`main` has the lost commits on top of what it has now: each as a commit of its own, "
            "in their old order, without a merge."
        ),
        "head": "main",
        "play": {"lost": lost[-1].subject, "count": len(lost)},
    }


def lost_commit_hard(tale):
    """A branch and its annotated tag deleted, all reflogs expired, and older versions about."""
    rng, world = tale.rng, tale.world
    paths = tale.take(3)
    base = tale.past(rng.randint(4, 7))
    topic, version = tale.branch, f"{tale.branch}-{rng.randint(1, 4)}"
    commits = tale.series(base[-2], paths, rng.randint(1, 3))
    older, last = amended(tale, commits[-1], tale.change(paths[0]), rng.randint(2, 3))
    world.tag(version, older[-1], "Ready for reading", tale.stamp(tale.others[0]))
    tag = world.tag(version, commits[-1], "Read and approved", tale.stamp(tale.others[0]))
    unwanted = tale.series(base[-2], tale.take(1), 1, tale.others[2])[0]
    new = tale.series(base[-1], tale.take(2), rng.randint(1, 2))
    world.refs["refs/heads/main"] = new[-1]
    world.wanted = {
        **world.refs,
        f"refs/heads/{topic}": last,
        f"refs/tags/{version}": tag,
    }
    world.targets = [f"refs/heads/{topic}", f"refs/tags/{version}"]
    world.logs = {"HEAD": [], "refs/heads/main": []}
    return {
        "story": f"The branch `{topic}` was deleted, and so was the annotated tag `{version}` on "
        f"it. Then all reflogs were expired, so only the objects are left, among others that "
        f"nobody wants. The branch ended in the commit {quoted(last)}, which had been amended "
        f"more than once; the tag was made twice.",
        "wanted": bullets(
            f"`{topic}` is there again, at the version of {quoted(last)} with the latest committer "
            "date.",
            f"`{version}` is there again: the tag object with the latest tagger date, unchanged.",
            f"Nobody misses {quoted(unwanted)}.",
        ),
        "head": "main",
        "play": {"branch": topic, "tag": version, "lost": last.subject},
    }


def detached_work_easy(tale):
    """Commits made on a tag, left behind by a checkout."""
    rng, world = tale.rng, tale.world
    base = tale.past(rng.randint(4, 7))
    main, start = base[-1], world.refs["refs/tags/v1.0"]
    switch(tale, main, start, "main", "v1.0")
    work = tale.series(start, tale.take(3), rng.randint(2, 4))
    tale.log_commits(None, start, work)
    switch(tale, work[-1], main, work[-1].id, "main")
    new = tale.series(main, tale.take(2), rng.randint(1, 2))
    tale.log_commits("main", main, new)
    world.refs["refs/heads/main"] = new[-1]
    world.wanted = {**world.refs, f"refs/heads/{tale.branch}": work[-1]}
    world.targets = [f"refs/heads/{tale.branch}"]
    return {
        "story": f"`v1.0` was checked out, and {len(work)} commits were made there without a "
        f"branch, the last of them {quoted(work[-1])}. Then `main` was checked out, and work "
        "went on there.",
        "wanted": bullets(
            f"A new branch `{tale.branch}` holds those commits as they are, with their ids: it is "
            "at the last of them."
        ),
        "head": tale.branch,
        "play": {"lost": work[-1].subject, "branch": tale.branch},
    }


def detached_work_medium(tale):
    """Still detached, with changes that were not committed; all belongs on top of main."""
    rng, world = tale.rng, tale.world
    # Taken before, so that main and the work never change the same file.
    paths, own_path = tale.take(3), tale.take(1)[0]
    base = tale.past(rng.randint(4, 7))
    main, start = base[-1], world.refs["refs/tags/v1.0"]
    new = tale.series(main, tale.take(2), rng.randint(1, 2))
    tale.log_commits("main", main, new)
    world.refs["refs/heads/main"] = main = new[-1]
    switch(tale, main, start, "main", "v1.0")
    work = tale.series(start, paths, rng.randint(2, 3))
    tale.log_commits(None, start, work)
    # A file that is changed nowhere but here, and a new one.
    act, _ = tale.change(own_path)
    text = f"# {tale.branch}\n\n{tale.sentence()}\n"
    act_new = put(f"plans/{tale.branch}.md", text)
    dirty = act_new(act(work[-1].files))
    message = f"Plan {tale.branch}"
    tip = tale.replay(work, main)
    last = world.want([tip], act_new(act(tip.files)), message, tale.me)
    world.wanted = {**world.refs, f"refs/heads/{tale.branch}": last}
    world.targets = [f"refs/heads/{tale.branch}"]
    return {
        "story": f"`v1.0` was checked out, and {len(work)} commits were made there without a "
        "branch. Two more files have been changed or made, and not committed yet.",
        "wanted": bullets(
            f"A new branch `{tale.branch}` holds, on top of `main` as it is: those {len(work)} "
            "commits in their order, then one more commit with the message "
            f'"{message}", made by you, which holds what was not committed.'
        ),
        "head": tale.branch,
        "start": work[-1].id,
        "steps": [
            {"path": path, "text": text}
            for path, text in sorted(dirty.items())
            if work[-1].files.get(path) != text
        ],
        "play": {"branch": tale.branch, "message": message},
    }


def stash(world, parent, files, label, when):
    """Add the two commits that `git stash` makes; return the stash."""
    index = world.commit([parent], parent.files, f"index on {label}", when)
    return world.commit([parent, index], files, f"On {label}", when)


def detached_work_hard(tale):
    """Two excursions, a commit in between that nobody wants, and a stash that was dropped."""
    rng, world = tale.rng, tale.world
    first_paths, second_paths, stash_path = tale.take(2), tale.take(2), tale.take(1)[0]
    base = tale.past(rng.randint(5, 7))
    main, start = base[-1], world.refs["refs/tags/v1.0"]
    switch(tale, main, start, "main", "v1.0")
    first = tale.series(start, first_paths, rng.randint(1, 2))
    scratch = tale.step(first[-1], (put("scratch.txt", "try this\n"), "wip: scratch"))
    after = tale.series(scratch, first_paths, rng.randint(1, 2))
    tale.log_commits(None, start, [*first, scratch, *after])
    switch(tale, after[-1], main, after[-1].id, "main")
    new = tale.series(main, tale.take(1), 1)
    tale.log_commits("main", main, new)
    here = new[-1]
    act, _ = tale.change(stash_path)
    wanted_label, other_label = rng.sample(["before lunch", "half done", "from the train"], 2)
    other = put("README.md", here.files["README.md"] + "\nSee the minutes.\n")(here.files)
    stash(world, here, act(here.files), f"main: {wanted_label}", tale.stamp(tale.me))
    tale.log(None, here, here, "reset: moving to HEAD")
    stash(world, here, other, f"main: {other_label}", tale.stamp(tale.me))
    tale.log(None, here, here, "reset: moving to HEAD")
    staying = stash(
        world,
        here,
        {**here.files, "settings.ini": here.files["settings.ini"] + "# later\n"},
        "main: not now",
        tale.stamp(tale.me),
    )
    tale.log(None, here, here, "reset: moving to HEAD")
    world.refs["refs/heads/main"] = here
    world.refs["refs/stash"] = staying
    world.log("refs/stash", None, staying.id, staying.committer, "On main: not now")
    place = base[-2]
    switch(tale, here, place, "main", place.id)
    second = tale.series(place, second_paths, rng.randint(1, 2))
    tale.log_commits(None, place, second)
    switch(tale, second[-1], here, second[-1].id, "main")
    message = rng.choice(["Keep what was half done", "Save the loose ends", "Finish the change"])
    tip = tale.replay([*first, *after, *second], here)
    last = world.want([tip], act(tip.files), message, tale.me)
    world.wanted = {**world.refs, f"refs/heads/{tale.branch}": last}
    world.targets = [f"refs/heads/{tale.branch}"]
    return {
        "story": "Twice, commits were made without a branch: first on `v1.0` "
        f"(from {quoted(first[0])} to {quoted(after[-1])}), then on an older commit of `main` "
        f"(from {quoted(second[0])} to {quoted(second[-1])}). Besides, two stashes were dropped; "
        f'the one called "{wanted_label}" is missed. The stash that is still there is to stay.',
        "wanted": bullets(
            f"A new branch `{tale.branch}` holds, on top of `main` as it is: the commits of the "
            "first excursion, then those of the second, each as a commit of its own, in their "
            f"order, but without {quoted(scratch)} and its file; then one more commit with the "
            f'message "{message}", made by you, which holds what the missed stash held.'
        ),
        "head": tale.branch,
        "play": {
            "branch": tale.branch,
            "message": message,
            "label": wanted_label,
            "first": [after[-1].subject, len(first), len(after)],
            "second": [second[-1].subject, len(second)],
        },
    }
