"""What varies: the trouble, its form, the twist that comes on top, and the project's contents."""

import base64
import random

from .troubles import author, conflict, detached, lost, rebase, secret
from .world import World

# (trouble, its arguments, difficulty)
TABLE = [
    (lost, {"mode": "reset", "count": 2}, "easy"),
    (conflict, {"rules": {"settings.conf": "larger", "contents.txt": "ours first"}}, "easy"),
    (detached, {"mode": "branch", "count": 2}, "easy"),
    (rebase, {"count": 4, "dropped": [1]}, "medium"),
    (author, {"mode": "linear", "count": 4}, "medium"),
    (secret, {"mode": "file", "count": 3}, "hard"),
    (lost, {"mode": "branch", "count": 3}, "medium"),
    (detached, {"mode": "rebase", "count": 3, "away": True}, "medium"),
    (author, {"mode": "merge", "count": 3}, "hard"),
    (secret, {"mode": "line", "count": 4, "removed": True}, "hard"),
    (lost, {"mode": "behind", "count": 3, "twist": "author", "draft": True}, "hard"),
    (
        conflict,
        {"rules": {"README.md": "theirs", "contents.txt": "theirs first"}, "lose": 2},
        "hard",
    ),
    (rebase, {"count": 5, "dropped": [0, 3], "twist": "secret"}, "hard"),
    (detached, {"mode": "merge", "count": 2, "away": True}, "medium"),
]
WEIGHTS = {
    None: {"content": 0.3, "history": 0.4, "authors": 0.15, "clean": 0.15},
    "author": {"content": 0.1, "history": 0.3, "authors": 0.45, "clean": 0.15},
    "secret": {"secret": 0.35, "content": 0.1, "history": 0.3, "authors": 0.1, "clean": 0.15},
}


def drawn(rng):
    """Draw a row as those of the table."""
    trouble = rng.choice([lost, conflict, detached, rebase, author, secret])
    twist = rng.choice([None, None, "author", "secret"])
    level = "hard" if twist else "medium"
    if trouble is lost:
        mode = rng.choice(["reset", "behind", "branch"])
        count, draft = rng.randint(2, 4), rng.random() < 0.5
        if mode == "reset" and not twist and not draft:
            level = "easy"
        return lost, {"mode": mode, "count": count, "twist": twist, "draft": draft}, level
    if trouble is conflict:
        answers = {
            "settings.conf": ["larger", "smaller"],
            "contents.txt": ["ours first", "theirs first"],
            "README.md": ["ours", "theirs"],
        }
        paths = sorted(rng.sample(sorted(answers), rng.randint(1, 3)))
        lose = rng.choice([0, 0, 2, 3])
        rules = {path: rng.choice(answers[path]) for path in paths}
        level = "hard" if lose else "medium" if len(paths) == 3 else "easy"
        return conflict, {"rules": rules, "lose": lose}, level
    if trouble is detached:
        mode = rng.choice(["branch", "rebase", "merge"])
        away = rng.random() < 0.5
        if mode == "merge":
            twist, level = None, "medium"
        elif mode == "branch" and not away and not twist:
            level = "easy"
        arguments = {"mode": mode, "count": rng.randint(2, 4), "twist": twist, "away": away}
        return detached, arguments, level
    if trouble is rebase:
        count = rng.randint(3, 5)
        dropped = sorted(rng.sample(range(count - 1), rng.randint(1, 2)))
        return rebase, {"count": count, "dropped": dropped, "twist": twist}, level
    count = rng.randint(3, 5)
    if trouble is author:
        mode = rng.choice(["linear", "branch", "merge"])
        return author, {"mode": mode, "count": count}, "medium" if mode == "linear" else "hard"
    mode, removed = rng.choice(["file", "line"]), rng.random() < 0.5
    return secret, {"mode": mode, "count": count, "removed": removed}, "hard"


def changes_of(store, name):
    """Return what a commit changes: path -> the new blob's name, or None."""
    commit = store.commits[name]
    parents = commit["parents"]
    before = store.commits[parents[0]]["files"] if parents else {}
    return difference(store, before, commit["files"])


def blobs(store, files):
    return {path: store.put("blob", text.encode()) for path, text in files.items()}


def difference(store, before, after):
    before, after = blobs(store, before), blobs(store, after)
    return {
        path: after.get(path)
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }


def truth(world, spec):
    """Return what the verifier needs to know."""
    store, refs = world.store, dict(world.refs)
    fixed = store.ancestors(*spec["anchors"])
    nodes, goals = {}, {}
    for ref, tip in spec["goals"].items():
        old = refs.get(ref)
        if old and store.objects[old][0] == "tag":
            old = store.objects[old][1].split(b"\n", 1)[0].split()[1].decode()
        before = store.ancestors(old)
        for name in store.ancestors(tip) - fixed:
            commit = store.commits[name]
            nodes[name] = {
                "message": commit["message"],
                "parents": commit["parents"],
                "tree": commit["tree"],
                "changes": changes_of(store, name),
                "author": None
                if name in spec.get("anyone", [])
                else [*commit["author"], *commit["when"]],
                "fix": name in spec.get("fixes", []),
            }
        start = old
        if not old:
            start = tip
            while start not in fixed:
                start = store.commits[start]["parents"][0]
        files = store.commits[tip]["files"]
        goals[ref] = {
            "commit": tip,
            "before": sorted(before),
            "due": sorted(store.ancestors(tip) - fixed - before),
            "roots": sorted(
                parent
                for name in store.ancestors(tip) - fixed
                for parent in store.commits[name]["parents"]
                if parent in fixed
            ),
            "files": blobs(store, files),
            "paths": difference(store, store.commits[start]["files"], files),
            "annotated": spec.get("annotated", {}).get(ref),
        }
    token = spec.get("token")
    main = spec["head"] if spec["head"] in goals else min(goals)
    kind = "secret" if token else "author" if spec.get("fixes") else None
    return {
        "goals": goals,
        "nodes": nodes,
        "kept": {ref: name for ref, name in refs.items() if ref not in goals},
        "head": spec["head"],
        "token": token,
        "weights": WEIGHTS[kind],
        # Where the trouble is the commits' own fault, nothing counts while all of it is there.
        "needs": ["content", "history"]
        + (["authors"] if spec["plan"]["kind"] == "author" else [])
        + (["secret"] if spec["plan"]["kind"] == "secret" else []),
        # For the reference and the hacks alone: the task's values as data.
        "plan": {**spec["plan"], "files": store.commits[spec["goals"][main]]["files"]},
    }


def make_variant(variant):
    """Return the parameters of one variant."""
    rng = random.Random(f"git_rescue:{variant}")
    trouble, arguments, level = TABLE[variant] if variant < len(TABLE) else drawn(rng)
    world = World(rng)
    spec = trouble(world, **arguments)
    objects, git, index, files = world.setup(spec["lost"])
    encode = lambda data: base64.b64encode(data).decode("ascii")  # noqa: E731
    return {
        "task": {
            "project": world.project,
            "story": spec["story"],
            "wanted": "\n".join(f"- {text}" for text in spec["wanted"] if text),
        },
        "setup": {
            "objects": {
                name: [kind, encode(data)] for name, (kind, data) in sorted(objects.items())
            },
            "git": git,
            "index": encode(index),
            "files": files,
        },
        "secret": truth(world, spec),
        "difficulty": level,
    }


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
