"""Merges that stopped or went wrong, and rebases that lost commits."""

from .lost import bullets, listed, quoted, switch
from .tale import append, put, put_setting


def drop_last_line(path):
    """A change: the last entry of a list goes."""

    def act(files):
        return {**files, path: "".join(files[path].splitlines(keepends=True)[:-1])}

    return act


def both(base, ours, theirs):
    """Merge a list that each side has appended to and cut at its end."""
    base, ours, theirs = (text.splitlines(keepends=True) for text in (base, ours, theirs))
    gone = [line for line in base if line not in ours or line not in theirs]
    added = [line for line in ours if line not in base]
    added += [line for line in theirs if line not in base and line not in added]
    return "".join([line for line in base if line not in gone] + added)


LISTS = (
    "In the lists (`.txt`), what is new on either side stays: after the old entries those of "
    "`main`, then those of `{}`, each in its order. An entry that one side has removed stays out."
)


def sides(tale, level):
    """Tell how main and the branch went apart.

    Returns (base, last of main, last of the branch, list, setting).
    """
    rng, world = tale.rng, tale.world
    base = tale.past(rng.randint(3, 5))[-1]
    clash = next(path for path in tale.paths if path.endswith(".txt") and len(tale.left[path]) > 3)
    tale.paths.remove(clash)
    note = next(path for path in tale.paths if path.endswith(".md"))
    tale.paths.remove(note)
    key, other_key = tale.keys[:2]
    theirs = tale.step(base, tale.change(clash), tale.others[0])
    ours = tale.step(base, tale.change(tale.take(1)[0]))
    if level != "easy":
        last = base.files[clash].splitlines()[-1]
        ours = tale.step(ours, (drop_last_line(clash), f"Remove {last}"))
        values = rng.sample(range(100, 900), 2)
        ours = tale.step(ours, (put_setting(key, values[0]), f"Set {key} to {values[0]}"))
        theirs = tale.step(
            theirs,
            (put_setting(key, values[1]), f"Set {key} to {values[1]}"),
            tale.others[0],
        )
    ours = tale.step(ours, tale.change(clash), tale.others[1])
    theirs = tale.step(theirs, tale.change(tale.take(1)[0]), tale.others[0])
    if level == "medium":
        act = lambda files: {path: text for path, text in files.items() if path != note}  # noqa: E731
        ours = tale.step(ours, (act, f"Drop {note}"))
        theirs = tale.step(theirs, tale.change(note), tale.others[0])
    world.refs |= {"refs/heads/main": ours, f"refs/heads/{tale.branch}": theirs}
    return base, ours, theirs, clash, note, key, other_key


def setting(files, key):
    return next(
        int(line.split(" = ")[1])
        for line in files["settings.ini"].splitlines()
        if line.startswith(f"{key} =")
    )


def merged(base, ours, theirs, clash, note, key, level):
    """Return the files of the right merge."""
    files = {}
    for path in sorted({*ours.files, *theirs.files}):
        old, one, two = (commit.files.get(path) for commit in (base, ours, theirs))
        text = one if two == old else two
        if path == clash:
            text = both(old, one, two)
        elif path == "settings.ini" and level != "easy":
            text = one
        elif path == note and level == "medium":
            text = None
        if text is not None:
            files[path] = text
    if level != "easy":
        largest = max(setting(ours.files, key), setting(theirs.files, key))
        files = put_setting(key, largest)(files)
    return files


def conflict(tale, level):
    world = tale.world
    base, ours, theirs, clash, note, key, _ = sides(tale, level)
    files = merged(base, ours, theirs, clash, note, key, level)
    world.wanted = {
        **world.refs,
        "refs/heads/main": world.want([ours, theirs], files, None, None),
    }
    world.targets = ["refs/heads/main"]
    rules = [LISTS.format(tale.branch)]
    if level == "medium":
        rules += [
            f"Of two values of `{key}`, the larger counts.",
            f"`{note}` was dropped on `main` on purpose, and stays so.",
        ]
    tale.log_commits("main", base, [ours])
    return {
        "story": f"On `main`, `git merge {tale.branch}` has stopped at conflicts. Nothing is "
        "resolved yet.",
        "wanted": bullets(
            "The merge is finished: one merge commit on `main`, with any message, whose parents "
            f"are what `main` was and what `{tale.branch}` is.",
            *rules,
            "Everything else is as git merges it.",
        ),
        "head": "main",
        "steps": [{"git": ["merge", "-q", tale.branch], "ends": [1]}],
        "play": {
            "files": {
                path: files.get(path)
                for path in ([clash, "settings.ini", note] if level == "medium" else [clash])
            },
        },
    }


def merge_conflict_easy(tale):
    """One list that both sides have appended to."""
    return conflict(tale, "easy")


def merge_conflict_medium(tale):
    """A removed entry, two values of a setting, a note dropped here and changed there."""
    return conflict(tale, "medium")


def merge_conflict_hard(tale):
    """A merge that was committed with its conflict markers, a commit on top, and a new name."""
    rng, world = tale.rng, tale.world
    base, ours, theirs, clash, _, key, renamed = sides(tale, "hard")
    new_name = rng.choice(["main_limit", "base_value", "first_rate", "usual_span"])

    def rename(files):
        return {path: text.replace(f"{renamed} =", f"{new_name} =") for path, text in files.items()}

    ours = tale.step(ours, (rename, f"Rename {renamed} to {new_name} everywhere"))
    value = rng.randint(100, 900)
    theirs = tale.step(
        theirs,
        (put_setting(renamed, value), f"Set {renamed} to {value}"),
        tale.others[0],
    )
    script = f"tools/{rng.choice(['report', 'print', 'check'])}.sh"
    text = f'#!/bin/sh\n# What is set now.\ngrep "^{renamed} =" settings.ini\n'
    theirs = tale.step(
        theirs, (put(script, text), f"Add {script}"), tale.others[0], "It shows one setting."
    )
    world.refs |= {"refs/heads/main": ours, f"refs/heads/{tale.branch}": theirs}
    files = {path: text for path, text in theirs.files.items() if path not in base.files}
    files |= {
        path: text if theirs.files[path] == base.files[path] else theirs.files[path]
        for path, text in ours.files.items()
    }
    added = [
        "".join(
            line for line in side.files[clash].splitlines(True) if line not in base.files[clash]
        )
        for side in (ours, theirs)
    ]
    files[clash] = both(base.files[clash], ours.files[clash], theirs.files[clash])
    bad = {
        **files,
        clash: f"{ours.files[clash].removesuffix(added[0])}<<<<<<< HEAD\n{added[0]}=======\n"
        f"{base.files[clash].splitlines(True)[-1]}{added[1]}>>>>>>> {tale.branch}\n",
        "settings.ini": ours.files["settings.ini"],
    }
    largest = max(setting(ours.files, key), setting(theirs.files, key))
    files["settings.ini"] = ours.files["settings.ini"]
    files = put_setting(new_name, value)(put_setting(key, largest)(files))
    files[script] = files[script].replace(renamed, new_name)
    merge = world.commit([ours, theirs], bad, f"Merge branch '{tale.branch}'", tale.stamp(tale.me))
    on_top = tale.series(merge, tale.take(1), 1, tale.others[1])[0]
    world.refs["refs/heads/main"] = on_top
    want = world.want([ours, theirs], files, None, None)
    world.wanted = {**world.refs, "refs/heads/main": tale.replay([on_top], want)}
    world.targets = ["refs/heads/main"]
    tale.log_commits("main", ours, [merge], "commit (merge)")
    tale.log_commits("main", merge, [on_top])
    return {
        "story": f"`{tale.branch}` was merged into `main` in a hurry: the merge commit holds "
        f"conflict markers, and what `{tale.branch}` did to the settings was thrown away. "
        f"{quoted(on_top)} was made on top of it.",
        "wanted": bullets(
            "Instead of the bad merge commit there is a right one, with any message and the same "
            f"two parents, and on top of it {quoted(on_top)}; the bad one is no part of `main`.",
            LISTS.format(tale.branch),
            f"Of two values of `{key}`, the larger counts.",
            f"`main` has renamed the setting `{renamed}` to `{new_name}`. No file may hold the old "
            f"name any more, and the value that `{tale.branch}` gave the setting stays, under the "
            "new name.",
            "Everything else is as git merges it.",
        ),
        "head": "main",
        "play": {
            "files": {path: files[path] for path in (clash, "settings.ini", script)},
            "branch": tale.branch,
        },
    }


def bad_rebase_easy(tale):
    """The second of two rebases lost a commit."""
    rng, world = tale.rng, tale.world
    paths, count = tale.take(3), rng.randint(3, 4)
    base = tale.past(rng.randint(4, 6))
    main, start, name = base[-1], base[-3], tale.branch
    first = tale.series(start, paths, count)
    switch(tale, main, start, "main", name)
    tale.log_commits(name, start, first)

    def rebase(old, new, onto, todo):
        tale.stamp(tale.me)
        tale.log(None, old, onto, "rebase (start): checkout main")
        below = onto
        for verb, commit in todo:
            if verb != "kept":
                tale.log(None, below, commit, f"rebase ({verb}): {commit.subject}")
            below = commit
        tale.log(None, new, new, f"rebase (finish): returning to refs/heads/{name}")
        world.log(
            f"refs/heads/{name}",
            old.id,
            new.id,
            tale.stamp(tale.me, wait=False),
            f"rebase (finish): refs/heads/{name} onto {onto.id}",
        )

    good = [tale.again(first[0], main)]
    for commit in first[1:]:
        good.append(tale.again(commit, good[-1]))
    rebase(first[-1], good[-1], main, [("pick", commit) for commit in good])
    lost = rng.randrange(1, count - 1)
    bad = good[:lost]
    for commit in good[lost + 1 :]:
        bad.append(tale.again(commit, bad[-1]))
    todo = [("kept" if commit in good else "pick", commit) for commit in bad]
    rebase(good[-1], bad[-1], main, todo)
    world.refs[f"refs/heads/{name}"] = bad[-1]
    if rng.random() < 0.5:
        switch(tale, bad[-1], main, name, "main")
        switch(tale, main, bad[-1], "main", name)
    world.wanted = {**world.refs, f"refs/heads/{name}": good[-1]}
    world.targets = [f"refs/heads/{name}"]
    return {
        "story": f"The branch `{name}` was rebased twice. The first time all was well; the second "
        f"time, with `git rebase -i`, {quoted(good[lost])} was lost.",
        "wanted": bullets(
            f"`{name}` is at the very commit again that it was at after the first rebase."
        ),
        "head": name,
        "start_branch": name,
        "play": {"branch": name},
    }


def bad_rebase_medium(tale):
    """A rebase that dropped one commit and squashed two, and new work on top."""
    rng, world = tale.rng, tale.world
    paths, new_paths = tale.take(3), tale.take(2)
    base = tale.past(rng.randint(4, 6))
    main, start, name = base[-1], base[-3], tale.branch
    first = tale.series(start, paths, 4)
    switch(tale, main, start, "main", name)
    tale.log_commits(name, start, first)
    one = tale.again(first[0], main)
    dropped, (keeper, swallowed) = first[1], first[2:]
    both_files = swallowed.change(keeper.change(one.files))
    squashed = world.commit([one], both_files, keeper.message, keeper.author, tale.stamp(tale.me))
    tale.log(None, first[-1], main, "rebase (start): checkout main")
    tale.log(None, main, one, f"rebase (pick): {one.subject}")
    tale.log(None, one, squashed, f"rebase (fixup): {keeper.subject}")
    tale.log(name, first[-1], squashed, f"rebase (finish): refs/heads/{name} onto {main.id}")
    new = tale.series(squashed, new_paths, 2)
    tale.log_commits(name, squashed, new)
    world.refs[f"refs/heads/{name}"] = new[-1]
    tip = tale.replay([*first, *new], main)
    world.wanted = {**world.refs, f"refs/heads/{name}": tip}
    world.targets = [f"refs/heads/{name}"]
    return {
        "story": f"The branch `{name}` had four commits: {listed(first)}. A rebase onto `main` "
        f"lost {quoted(dropped)} and made one commit of {quoted(keeper)} and {quoted(swallowed)}. "
        f"Then two more were made on top: {listed(new)}.",
        "wanted": bullets(
            f"`{name}` holds, on top of `main` as it is: the four commits as they were meant, then "
            "the two new ones; each as a commit of its own, in this order.",
        ),
        "head": name,
        "start_branch": name,
        "play": {"branch": name, "last": first[-1].subject, "new": len(new)},
    }


def bad_rebase_hard(tale):
    """A rebase in progress, at a conflict, whose list of things to do has lost a commit."""
    rng, world = tale.rng, tale.world
    base = tale.past(rng.randint(4, 6))[-1]
    name = tale.branch
    clash = next(path for path in tale.paths if path.endswith(".txt") and len(tale.left[path]) > 3)
    tale.paths.remove(clash)
    paths = tale.take(3)
    commits = tale.series(base, paths[:1], 1)
    commits.append(tale.step(commits[0], tale.change(clash)))
    commits += tale.series(commits[-1], paths[1:], rng.randint(2, 3))
    main = tale.step(base, tale.change(clash), tale.others[0])
    main = tale.step(main, tale.change(tale.take(1)[0]), tale.others[1])
    world.refs |= {"refs/heads/main": main, f"refs/heads/{name}": commits[-1]}
    lost = commits[rng.randrange(2, len(commits))]
    act = append("README.md", f"\nSee {paths[0]}.\n")
    amended = act(commits[0].change(main.files))
    tip = world.want([main], amended, commits[0].message, commits[0].author)
    files = {
        **tip.files,
        clash: both(base.files[clash], main.files[clash], commits[1].files[clash]),
    }
    resolved = files[clash]
    tip = world.want([tip], files, commits[1].message, commits[1].author)
    tip = tale.replay(commits[2:], tip)
    world.wanted = {**world.refs, f"refs/heads/{name}": tip}
    world.targets = [f"refs/heads/{name}"]
    editor = f"sed -i -e '1s/^pick/edit/' -e '/^pick {lost.id[:7]}/d'"
    return {
        "story": f"A rebase of `{name}` onto `main` is in progress. {quoted(commits[0])} has been "
        f"amended on the way; now it has stopped at a conflict in {quoted(commits[1])}. And by "
        f"mistake {quoted(lost)} was deleted from the list of what is to be done.",
        "wanted": bullets(
            f"The rebase is finished: `{name}` holds, on top of `main` as it is, all its "
            f"{len(commits)} commits in their old order, each as a commit of its own.",
            f"{quoted(commits[0])} is the amended version.",
            "In the conflict both sides are right: after the old entries those of `main`, then "
            f"those of {quoted(commits[1])}.",
        ),
        "head": name,
        "start_branch": name,
        "steps": [
            {"git": ["rebase", "-q", "-i", "main"], "env": {"GIT_SEQUENCE_EDITOR": editor}},
            {"path": "README.md", "text": amended["README.md"]},
            {"git": ["commit", "-q", "-a", "--amend", "--no-edit"]},
            {"git": ["rebase", "--continue"], "ends": [1]},
        ],
        "play": {
            "branch": name,
            "path": clash,
            "text": resolved,
            "lost": lost.id,
            "before": [commit.id for commit in commits if commit is not lost],
            "place": commits.index(lost),
        },
    }
