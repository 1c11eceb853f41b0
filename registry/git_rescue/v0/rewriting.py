"""History that has to be written anew: a wrong author, a secret."""

from .lost import bullets
from .model import rewritten
from .tale import append, put


def forked(tale, paths, who):
    """Add to main two lines of commits and the merge of them; return (merge, tip of the other)."""
    main = tale.world.refs["refs/heads/main"]
    ours = tale.series(main, paths[:1], 2, who)
    theirs = tale.series(ours[0], paths[1:2], 2, who)
    # One of the second line is a colleague's.
    theirs.append(tale.step(theirs[-1], tale.change(paths[1]), tale.others[0]))
    files = {**ours[-1].files, paths[1]: theirs[-1].files[paths[1]]}
    merge = tale.world.commit(
        [ours[-1], theirs[-1]], files, f"Merge branch '{tale.branch}'", tale.stamp(who)
    )
    return merge, theirs[-1]


def wrong_author(tale, level):
    rng, world = tale.rng, tale.world
    tale.past(rng.randint(4, 6))
    name = tale.me.split(" <")[0]
    wrong = rng.choice(
        [
            f"{name} <{tale.mail(name, 'old-job.example')}>",
            f"{name.split()[0].lower()} <{name.split()[0].lower()}@laptop.invalid>",
            "root <root@localhost>",
        ]
    )
    tale.zones[wrong] = tale.zones[tale.me]
    main = world.refs["refs/heads/main"]
    tags = []
    if level == "easy":
        tip = tale.series(main, tale.take(3), rng.randint(2, 4), wrong)[-1]
        tips = {"refs/heads/main": tip}
    elif level == "medium":
        paths = tale.take(4)
        tip = main
        middle = []
        for who in (wrong, tale.others[0], wrong, tale.me, tale.others[1], wrong):
            tip = tale.step(tip, tale.change(rng.choice(paths)), who)
            middle.append(tip)
        marked = rng.choice(middle[1:4])
        tips = {"refs/heads/main": tip, "refs/tags/v1.1": marked}
        tags = ["v1.1"]
    else:
        # A namesake, whose commits are right as they are.
        namesake = f"{wrong.split(' <')[0]} <{tale.mail('namesake', 'elsewhere.example')}>"
        tale.zones[namesake] = tale.zones[tale.others[2]]
        world.refs["refs/heads/main"] = tale.step(main, tale.change(tale.paths[0]), namesake)
        merge, theirs = forked(tale, tale.take(2), wrong)
        paths = tale.take(2)
        tip = tale.step(merge, tale.change(paths[0]), namesake)
        tip = tale.step(tip, tale.change(paths[1]), wrong)
        theirs = tale.step(theirs, tale.change(paths[0]), tale.others[1])
        tag = world.tag("v1.1", merge, "For everybody", tale.stamp(tale.others[2]))
        tips = {"refs/heads/main": tip, f"refs/heads/{tale.branch}": theirs, "refs/tags/v1.1": tag}
        tags = ["v1.1"]
    world.refs |= tips
    mail = wrong.split(" <")[1][:-1]

    def change(commit):
        author = commit.author
        if author.startswith(f"{wrong} "):
            author = f"{tale.me} {commit.at}"
        return commit.files, commit.message, author

    finish(tale, tips, change)
    branches = ", ".join(f"`{ref[11:]}`" for ref in tips if ref.startswith("refs/heads/"))
    wanted = [
        f"Wherever the author is `{wrong}`, it is you (`{tale.me}`), from the first such commit "
        "on. Authors with another address are right as they are, whatever their name.",
        "Nothing else is different: messages, author dates, files, merges, the order of commits.",
    ]
    if tags:
        wanted.append(
            "The tag `v1.1` marks the new version of the commit that it marks now; an annotated "
            "tag keeps its message, its tagger and its date."
        )
    if level == "hard":
        wanted.append("What the branches share now, they share afterwards.")
    return {
        "story": f"Some of the commits on {branches} were made with a wrong author: `{wrong}`.",
        "wanted": bullets(*wanted),
        "head": "main",
        "wrong": mail,
        "play": {"wrong": mail},
    }


def finish(tale, tips, change):
    """Say what the tips become when every commit is changed so."""
    world = tale.world
    done = rewritten(world, tips.values(), change)
    world.wanted = {name: ref for name, ref in world.refs.items() if name not in tips}
    for name, tip in tips.items():
        if tip in done:
            world.wanted[name] = done[tip]
        else:
            target = done[tip.target]
            world.wanted[name] = type(tip)(tip.name, target, tip.message, tip.tagger)
    world.targets = list(tips)
    head = world.refs["refs/heads/main"]
    world.log("refs/heads/main", None, head.id, head.committer, "clone: from ../copy.git")
    world.logs["HEAD"] = list(world.logs["refs/heads/main"])


def wrong_author_easy(tale):
    """The last commits of one branch."""
    return wrong_author(tale, "easy")


def wrong_author_medium(tale):
    """Among other people's commits, and with a tag to move."""
    return wrong_author(tale, "medium")


def wrong_author_hard(tale):
    """Two branches, a merge, an annotated tag, and a namesake who is right."""
    return wrong_author(tale, "hard")


def secret(tale, level):
    rng, world = tale.rng, tale.world
    tale.past(rng.randint(3, 5))
    word = "hk" + "".join(rng.choices("0123456789abcdef", k=28))
    main = world.refs["refs/heads/main"]
    file = rng.choice(["upload.env", "tools/login.txt", "notes/access.txt"])
    paths = tale.take(4)
    line = f"upload_key = {word}\n"

    def with_change(path, act):
        more, subject = tale.change(path)
        return (lambda files: act(more(files))), subject

    if level == "easy":
        act = put(file, f"KEY={word}\n")
        place = f"the file `{file}`"
    else:
        act = append("settings.ini", line)
        place = "`settings.ini`"
    tip = tale.step(main, with_change(paths[0], act), rng.choice([tale.me, *tale.others]))
    tips = {}
    if level == "easy":
        tip = tale.series(tip, paths[1:], rng.randint(2, 4), tale.others[0])[-1]
    elif level == "medium":
        tip = tale.step(tip, tale.change(paths[1]), tale.others[0])
        tips["refs/tags/v1.1"] = tip
        tips[f"refs/heads/{tale.branch}"] = tale.series(tip, paths[2:3], 2, tale.others[1])[-1]
        tip = tale.series(tip, paths[3:], 2)[-1]
    else:
        # Pasted into a note and a message, then taken out of the note again.
        note = paths[1]
        message = (append(note, f"\nThe key is {word}.\n"), f"Note the key {word}")
        tip = tale.step(tip, message, tale.others[0], f"Until {word} is replaced.")
        before = tip.parents[0].files[note]
        tip = tale.step(tip, (put(note, before), "The key does not belong here"), tale.others[2])
        world.refs["refs/heads/main"] = tip
        merge, tips[f"refs/heads/{tale.branch}"] = forked(tale, paths[2:], tale.me)
        tips["refs/tags/v1.1"] = world.tag(
            "v1.1", merge, "With uploads", tale.stamp(tale.others[0])
        )
        tip = tale.step(merge, tale.change(tale.take(1)[0]), tale.others[1])
    tips["refs/heads/main"] = tip
    world.refs |= tips
    steps = []
    if level == "hard":
        steps = [
            {"path": "settings.ini", "text": tip.files["settings.ini"] + "# do not lose\n"},
            {"git": ["stash", "push", "-q"]},
        ]

    def change(commit):
        if level == "easy":
            files = {path: text for path, text in commit.files.items() if path != file}
        else:
            files = {path: text.replace(word, "REMOVED") for path, text in commit.files.items()}
        return files, commit.message.replace(word, "REMOVED"), commit.author

    finish(tale, tips, change)
    named = ", ".join(f"`{name.split('/', 2)[2]}`" for name in tips)
    wanted = [
        f"The file is in no commit of any branch or tag ({named}), as if it had never been added."
        if level == "easy"
        else f"In every version of every file on every branch and tag ({named}), `REMOVED` stands "
        "in place of the key" + (", and so in messages." if level == "hard" else "."),
        "Nothing else is different: each commit is still there, with its other files, its message, "
        "its author and its date; commits before the key came keep their ids; merges stay merges.",
        "No file below `.git` holds the key any more, compressed or not: neither unreachable "
        "objects nor reflogs nor backups of any kind.",
    ]
    if len(tips) > 1:
        wanted.append(
            "Tags mark the new versions of what they mark now; an annotated tag keeps its message, "
            "its tagger and its date. What the branches share now, they share afterwards."
        )
    if level == "hard":
        wanted.append("The stash is not needed: it goes, for it holds the key too.")
    return {
        "story": f"A secret key was committed some time ago, in {place}: `{word}`. The repository "
        "is about to be published.",
        "wanted": bullets(*wanted),
        "head": "main",
        "steps": steps,
        "word": word,
        "play": {"word": word, "file": file if level == "easy" else ""},
    }


def secret_easy(tale):
    """A file that should never have been added."""
    return secret(tale, "easy")


def secret_medium(tale):
    """A value in a file that stays, on two branches and under a tag."""
    return secret(tale, "medium")


def secret_hard(tale):
    """In files, in a message, behind a merge, under an annotated tag, and in a stash."""
    return secret(tale, "hard")
