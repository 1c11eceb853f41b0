"""Does the repository hold the history that it should?

Parts (weights in PARAMS): content (the files at the branches' tips), history (messages, parents and
changes of the commits that had to be made or brought back), authors (with author dates), clean
(right branch, nothing in progress, index and work tree as its tip), secret (the password is out of
reach). Authors and clean count as far as the history is right. A moved or lost ref of those that
had to stay halves what is left. Without any of what the trouble is about, nothing counts.

The agent's `.git` is never given to Git: its objects are copied as plain files into an empty bare
repository, refs are read here, and each object's name is computed again from what Git returns.
"""

import hashlib
import json
import os
import re
import resource
import stat
import subprocess
import tempfile

FILES = 20_000  # of the object store, the refs or the work tree
BYTES = 48 << 20  # of the object store, and of what is read from it
SMALL = 1 << 20
COMMITS = 2_000
NAME = re.compile(r"[0-9a-f]{40}")
PACK = re.compile(r"pack-[0-9a-f]{40}\.(pack|idx)")
BUSY = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
)


class BadRepositoryError(Exception):
    """What is there is no repository of a reasonable form and size."""


def is_folder(path):
    """Whether a real folder is there; no part of the path may be a link."""
    try:
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            if not stat.S_ISDIR(os.lstat("/".join(parts[:count])).st_mode):
                return False
    except OSError:
        return False
    return True


def read_plain(path, limit=SMALL):
    """Return the bytes of a regular file in a folder that was checked, or None."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(limit + 1)
    except OSError:
        return None
    return None if len(data) > limit else data


def listed(folder, count):
    """Yield the entries of a folder, at most that many."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                count[0] -= 1
                if count[0] < 0:
                    raise BadRepositoryError("there are too many files")
                yield entry
    except OSError:
        return


def walk(top, count, skip=()):
    """Yield (path below top, entry) of everything that is no folder, without following links."""
    todo = [""]
    while todo:
        below = todo.pop()
        for entry in listed(top + "/" + below if below else top, count):
            path = below + "/" + entry.name if below else entry.name
            if path in skip:
                continue
            if len(path) > 1_000:
                raise BadRepositoryError("a path is too long")
            if entry.is_dir(follow_symlinks=False):
                todo.append(path)
            else:
                yield path, entry


def copy_objects(source, target):
    """Copy loose objects and packs, and nothing else, from an object store into another."""
    count, left = [FILES], BYTES
    for folder in list(listed(source, count)):
        if not folder.is_dir(follow_symlinks=False):
            continue
        packs = folder.name == "pack"
        if not packs and not re.fullmatch("[0-9a-f]{2}", folder.name):
            continue
        made = os.path.join(target, folder.name)
        os.makedirs(made, exist_ok=True)
        for entry in list(listed(folder.path, count)):
            if not (PACK.fullmatch(entry.name) if packs else NAME.fullmatch("00" + entry.name)):
                continue
            data = read_plain(entry.path, left)
            if data is None:
                if entry.is_file(follow_symlinks=False) and entry.stat().st_size > left:
                    raise BadRepositoryError("the object store is too large")
                continue
            left -= len(data)
            with open(os.path.join(made, entry.name), "wb") as file:
                file.write(data)


class Objects:
    """Checked objects out of a bare repository that this program made."""

    def __init__(self, source, folder):
        self.known, self.left = {}, BYTES
        os.makedirs(folder + "/objects")
        os.makedirs(folder + "/refs")
        with open(folder + "/HEAD", "w") as file:
            file.write("ref: refs/heads/none\n")
        copy_objects(source, folder + "/objects")
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:" + os.environ.get("PATH", ""),
            "HOME": folder,
            "LC_ALL": "C",
            "GIT_DIR": folder,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
        options = ("safe.directory=*", "core.hooksPath=/dev/null", "core.bigFileThreshold=1m")
        command = ["git", *(word for option in options for word in ("-c", option))]
        self.git = subprocess.Popen(
            [*command, "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
            preexec_fn=bound,
        )

    def close(self):
        self.git.kill()
        self.git.communicate()

    def get(self, name):
        """Return (kind, data) of an object, or None: it is missing, damaged or not its name's."""
        if name not in self.known:
            self.known[name] = self.fetch(name)
        return self.known[name]

    def fetch(self, name):
        try:
            self.git.stdin.write(name.encode() + b"\n")
            self.git.stdin.flush()
            head = self.git.stdout.readline(1_000).split()
            if len(head) != 3 or head[0] != name.encode():
                return None
            self.left -= int(head[2]) + 1_000
            if self.left < 0:
                raise BadRepositoryError("the objects are too large")
            data = self.git.stdout.read(int(head[2]) + 1)[:-1]
        except (OSError, ValueError):
            return None
        kind = head[1].decode("ascii", "replace")
        framed = b"%s %d\0" % (head[1], len(data))
        if hashlib.sha1(framed + data).hexdigest() != name:  # noqa: S324
            return None
        return kind, data

    def commit(self, name):
        """Return a commit as a dict, or None."""
        found = self.get(name)
        if not found or found[0] != "commit":
            return None
        head, _, message = found[1].decode("utf-8", "replace").partition("\n\n")
        commit = {"name": name, "parents": [], "tree": "", "author": []}
        for line in head.split("\n"):
            word, _, rest = line.partition(" ")
            if word == "parent":
                commit["parents"].append(rest)
            elif word == "tree":
                commit["tree"] = rest
            elif word == "author":
                match = re.fullmatch(r"(.*) <(.*)> ([0-9]{1,15}) ([+-][0-9]{4})", rest)
                commit["author"] = list(match.groups()) if match else []
        commit["message"] = plain(message)
        return commit

    def files(self, tree, below="", depth=0):
        """Return path -> (mode, object name) of a tree; what is missing in it is None."""
        found, made = self.get(tree), {}
        if not found or found[0] != "tree" or depth > 20:
            return {below or "/": None}
        data, at = found[1], 0
        while at < len(data):
            end = data.find(b"\0", at)
            if end < 0 or len(made) > FILES:
                return {below or "/": None}
            mode, _, path = data[at:end].decode("utf-8", "replace").partition(" ")
            name, at = data[end + 1 : end + 21].hex(), end + 21
            if mode == "40000":
                made.update(self.files(name, below + path + "/", depth + 1))
            else:
                made[below + path] = (mode, name) if self.get(name) else None
        return made

    def history(self, tip):
        """Return name -> commit of everything that a commit reaches (None: missing)."""
        seen, todo = {}, [tip]
        while todo:
            name = todo.pop()
            if name and name not in seen and len(seen) < COMMITS:
                seen[name] = self.commit(name)
                todo += seen[name]["parents"] if seen[name] else []
        return seen


def bound():
    """Limit the Git process: memory in bytes, time in seconds of the processor."""
    for what, most in (
        (resource.RLIMIT_AS, 1 << 30),
        (resource.RLIMIT_CPU, 10),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def plain(message):
    """Return a message without Git's comment lines and blanks at the ends."""
    lines = [line.rstrip() for line in message.split("\n") if not line.startswith("#")]
    return "\n".join(lines).strip()


def read_refs(git):
    """Return (refs, HEAD): ref -> object name, and what HEAD says."""
    refs = {}
    packed = read_plain(git + "/packed-refs") or b""
    for line in packed.decode("utf-8", "replace").split("\n"):
        name, _, ref = line.partition(" ")
        if NAME.fullmatch(name) and ref.startswith("refs/"):
            refs[ref] = name
    symbolic = {}
    if is_folder(git + "/refs"):
        for path, entry in walk(git + "/refs", [FILES]):
            text = (read_plain(entry.path, 4_096) or b"").decode("utf-8", "replace").strip()
            if NAME.fullmatch(text):
                refs["refs/" + path] = text
            elif text.startswith("ref: "):
                symbolic["refs/" + path] = text[5:].strip()
            elif not path.endswith(".lock"):
                refs.pop("refs/" + path, None)
    # A ref that only points at another one is none of its own: it moves with the other.
    for ref in symbolic:
        refs.pop(ref, None)
    return refs, (read_plain(git + "/HEAD", 4_096) or b"").decode("utf-8", "replace").strip()


def same_change(objects, commit, wanted):
    """Whether a commit brings the wanted files compared with its first parent."""
    parent = objects.commit(commit["parents"][0]) if commit["parents"] else None
    before = objects.files(parent["tree"]) if parent else {}
    after = objects.files(commit["tree"])
    changed = {
        path: after[path][1] if after.get(path) else None
        for path in {*before, *after}
        if before.get(path) != after.get(path)
    }
    return changed == wanted


def pair_up(objects, node, name, pairs):
    """Match an ideal commit and all before it with the agent's; fills pairs, says if all match."""
    todo, whole = [(node, name)], True
    while todo:
        node, name = todo.pop()
        if node not in PARAMS["nodes"]:
            whole = whole and node == name
            continue
        if pairs.get(node) == name:
            continue
        wanted, commit = PARAMS["nodes"][node], objects.commit(name)
        if (
            node in pairs
            or not commit
            or commit["message"] != wanted["message"]
            or commit["tree"] != wanted["tree"]
            or len(commit["parents"]) != len(wanted["parents"])
            or None in objects.files(commit["tree"]).values()
        ):
            whole = False
            continue
        pairs[node] = name
        todo += zip(wanted["parents"], commit["parents"])
    return whole


def judge_ref(objects, ref, goal, refs, pairs):
    """Return (content, history) of one branch or tag, each from 0 to 1; fills pairs."""
    tip = refs.get(ref, "")
    found = objects.get(tip) if tip else None
    marked = goal["annotated"] is None
    if found and found[0] == "tag":
        head, _, text = found[1].decode("utf-8", "replace").partition("\n\n")
        tip = head.split("\n")[0].partition(" ")[2]
        marked = goal["annotated"] is not None and plain(text) == goal["annotated"]
    commit = objects.commit(tip)
    if not commit or tip in goal["before"] or not marked:
        return 0.0, 0.0
    files = objects.files(commit["tree"])
    given = {path: entry[1] for path, entry in files.items() if entry and entry[0] == "100644"}
    differing = {p for p in {*files, *goal["files"]} if given.get(p) != goal["files"].get(p)}
    paths = set(goal["paths"])
    if paths:
        content = len(paths - differing) / len(paths | differing)
    else:
        content = 0.0 if differing else 1.0
    own = {}
    if pair_up(objects, goal["commit"], tip, own):
        pairs.update(own)
        return content, 1.0
    # Not the whole: what is there of it, but only in a history that goes back to the old one.
    history = objects.history(tip)
    if not all(root in history for root in goal["roots"]):
        return content, 0.0
    fresh = [c for name, c in history.items() if c and name not in goal["before"]]
    matched = {}
    for node in goal["due"]:
        wanted = PARAMS["nodes"][node]
        for other in fresh:
            if (
                other["message"] == wanted["message"]
                and len(other["parents"]) == len(wanted["parents"])
                and other["name"] not in matched.values()
                and same_change(objects, other, wanted["changes"])
            ):
                matched[node] = other["name"]
                break
    for node, name in matched.items():
        pairs.setdefault(node, name)
    extra = max(0, len(fresh) - len(goal["due"]))
    return content, 0.5 * len(matched) / max(1, len(goal["due"]) + extra)


def judge_authors(objects, pairs):
    """Return the share of the commits that bear the right author and author date."""
    nodes, right, wrong = PARAMS["nodes"], 0, 0
    named = {node for node in nodes if nodes[node]["author"]}
    if not named:
        return 1.0 if pairs else 0.0
    fixes = {node for node in named if nodes[node]["fix"]}
    due = fixes or named
    for node in named & set(pairs):
        author = nodes[node]["author"]
        if objects.commit(pairs[node])["author"] == [*author[:2], str(author[2]), author[3]]:
            right += node in due
        elif node not in due:
            wrong += 1
    return max(0.0, (right - wrong) / len(due))


def hidden(objects, refs, head):
    """Whether the password is out of reach of every ref and of HEAD."""
    token, seen, todo = PARAMS["token"].encode(), set(), [*refs.values(), head]
    while todo:
        name = todo.pop()
        if name in seen or not NAME.fullmatch(name):
            continue
        seen.add(name)
        found = objects.get(name)
        # What cannot be read may hold anything; the history has nothing missing in it.
        if not found:
            return False
        kind, data = found
        if token in data:
            return False
        if kind == "tree":
            at = 0
            while 0 <= data.find(b"\0", at) < len(data) - 20:
                at = data.find(b"\0", at) + 21
                todo.append(data[at - 20 : at].hex())
        elif kind in ("commit", "tag"):
            for line in data.split(b"\n\n", 1)[0].split(b"\n"):
                word, _, rest = line.partition(b" ")
                if word in (b"tree", b"parent", b"object"):
                    todo.append(rest.decode("ascii", "replace"))
    return True


def index_entries(data):
    """Return path -> object name of an index, or None if anything in it is not plain and merged."""
    if data is None or data[:4] != b"DIRC" or data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return None
    entries, at = {}, 12
    for _ in range(min(int.from_bytes(data[8:12], "big"), FILES)):
        flags = int.from_bytes(data[at + 60 : at + 62], "big")
        long = bool(flags & 0x4000)
        end = data.find(b"\0", at + 62 + 2 * long)
        if end < 0 or flags & 0x3000 or int.from_bytes(data[at + 24 : at + 28], "big") != 0o100644:
            return None
        path = data[at + 62 + 2 * long : end].decode("utf-8", "replace")
        entries[path] = data[at + 40 : at + 60].hex()
        at += (end - at) // 8 * 8 + 8
    return entries


def unclean(git, head):
    """Say what keeps the repository from being clean at its right branch, or nothing."""
    if head != "ref: " + PARAMS["head"]:
        return "the wrong branch is checked out"
    for name in BUSY:
        if os.path.lexists(git + "/" + name):
            return name + " says that something is in progress"
    return ""


def worktree_fault(git, wanted):
    """Say how index or work tree differ from the wanted files, or nothing."""
    if index_entries(read_plain(git + "/index", 4 << 20)) != wanted:
        return "the index is not what is checked out"
    seen, left = set(), BYTES
    for path, entry in walk("repo", [FILES], skip=(".git",)):
        data = read_plain(entry.path, min(left, SMALL)) if path in wanted else None
        if data is None:
            return f"{path[:100]!a} should not be in the work tree"
        left -= len(data)
        framed = b"blob %d\0" % len(data) + data
        if hashlib.sha1(framed).hexdigest() != wanted[path]:  # noqa: S324
            return path + " is not as it is checked out"
        if entry.stat(follow_symlinks=False).st_mode & 0o100:
            return path + " is executable"
        seen.add(path)
    missing = sorted(set(wanted) - seen)
    return missing[0] + " is missing in the work tree" if missing else ""


def tip_files(objects, refs):
    """Return path -> object name of what the right branch holds, or None."""
    commit = objects.commit(refs.get(PARAMS["head"], ""))
    if not commit:
        return None
    files = objects.files(commit["tree"])
    if None in files.values():
        return None
    return {path: name for path, (_, name) in files.items()}


def judge(objects, git):
    """Return (shares of each part, whether the other refs are as they were, details)."""
    refs, head = read_refs(git)
    goals, pairs = PARAMS["goals"], {}
    judged = [judge_ref(objects, ref, goal, refs, pairs) for ref, goal in goals.items()]
    shares = {
        "content": sum(content for content, _ in judged) / len(judged),
        "history": sum(history for _, history in judged) / len(judged),
        "authors": judge_authors(objects, pairs),
        "clean": 0.0,
        "secret": 1.0,
    }
    notes = []
    if PARAMS["token"] and not hidden(objects, refs, head):
        shares["secret"] = 0.0
        notes.append("the password is still within reach")
    wanted = tip_files(objects, refs)
    fault = unclean(git, head) or (
        "the branch's files cannot be read" if wanted is None else worktree_fault(git, wanted)
    )
    # A work tree in order is worth something only where the files are those that were wanted.
    if shares["content"] == 1.0 and not fault:
        shares["clean"] = 1.0
    elif fault:
        notes.append(fault)
    # What is only half there earns no praise for its form.
    shares["authors"] *= shares["history"]
    shares["clean"] *= shares["history"]
    moved = sorted(ref for ref, name in PARAMS["kept"].items() if refs.get(ref) != name)
    gone = [ref for ref in moved if ref not in refs]
    moved += [ref for ref in PARAMS["kept"] if ref in refs and not objects.get(refs[ref])]
    if moved:
        notes.append(f"{len(set(moved))} other refs changed, {len(gone)} of them gone")
    return shares, not moved, notes


def scored():
    """Return (parts, details)."""
    weights = PARAMS["weights"]
    nothing = dict.fromkeys(weights, 0.0)
    if not is_folder("repo/.git/objects"):
        return nothing, "repo is no repository"
    with tempfile.TemporaryDirectory() as folder:
        try:
            objects = Objects("repo/.git/objects", folder + "/copy.git")
        except BadRepositoryError as error:
            return nothing, str(error)
        try:
            shares, whole, notes = judge(objects, "repo/.git")
        except BadRepositoryError as error:
            return nothing, str(error)
        finally:
            objects.close()
    lacking = [name for name in PARAMS["needs"] if shares[name] == 0.0]
    if lacking:
        return nothing, "; ".join(["nothing of: " + ", ".join(lacking), *notes])
    half = 1.0 if whole else 0.5
    parts = {name: round(half * weight * shares[name], 6) for name, weight in weights.items()}
    shown = ", ".join(f"{name} {shares[name]:.2f}" for name in weights)
    return parts, "; ".join([shown, *notes])


parts, details = scored()
score = min(1.0, round(sum(parts.values()), 6))
print(
    json.dumps(
        {
            "score": score,
            "passed": score == 1.0,
            "details": details,
            "reward_components": parts,
        }
    )
)
