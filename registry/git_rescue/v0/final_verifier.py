"""Is the repository what it should be, and is nothing lost?

Parts: `content` 0.2 (the files of the branches and tags that were in trouble; or that no author, no
commit is wrong any more), `history` 0.5 (their commits, one by one; half of the share of those that
are right while one is not), and, once the history is right, `refs` 0.15 (all others as they were,
none too many, the right branch checked out) and `clean` 0.15 (index and files). With a secret the
weights are others, and 0.3 is for `purged`. Each target counts its share. Nothing counts when a
commit is lost that was to stay.

Git itself never runs here: nothing that the agent has put into the repository (configuration,
hooks, filters, alternates, replacements) can be followed or executed. Objects are read with zlib,
each checked against its name, from the plain files of `.git` alone, within limits.
"""

import hashlib
import json
import os
import re
import stat
import zlib

FILE_LIMIT = 32 << 20
TOTAL_LIMIT = 128 << 20
OBJECTS = 20000
COMMITS = 2000
KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
WEIGHTS = {"content": 0.2, "history": 0.5, "refs": 0.15, "clean": 0.15}
SECRET_WEIGHTS = {"content": 0.15, "history": 0.35, "refs": 0.1, "clean": 0.1, "purged": 0.3}
IN_PROGRESS = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
)


class Broken(Exception):
    """The repository cannot be read, or something in it is missing or wrong."""


class Budget:
    """How many bytes may still be read or unpacked in all."""

    left = TOTAL_LIMIT

    @classmethod
    def take(cls, count):
        cls.left -= count
        if cls.left < 0:
            raise Broken("it is too large")


def folder(path):
    """Return the names in a folder that no link stands for; empty if there is none."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            return []
        names = os.listdir(path)
    except OSError:
        return []
    if len(names) > OBJECTS:
        raise Broken("a folder holds too many files")
    return sorted(names)


def read_plain(path):
    """Return the bytes of a regular file, or None. Its folders have been looked at before."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode) or info.st_size > FILE_LIMIT:
            return None
        Budget.take(info.st_size)
        try:
            return file.read(FILE_LIMIT)
        except OSError:
            return None


def inflate(data, limit=FILE_LIMIT):
    """Return (unpacked bytes, how many packed ones they took)."""
    machine = zlib.decompressobj()
    try:
        plain = machine.decompress(data, limit)
    except zlib.error:
        raise Broken("an object is damaged") from None
    if not machine.eof:
        raise Broken("an object is damaged or too large")
    Budget.take(len(plain))
    return plain, len(data) - len(machine.unused_data)


def number_at(data, place, shift=0, value=0):
    """Read git's numbers of 7 bits a byte, lowest first."""
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, place
        if shift > 60:
            raise Broken("a pack is damaged")


def apply_delta(base, delta):
    """Return what a delta makes of its base."""
    size, place = number_at(delta, 0)
    wanted, place = number_at(delta, place)
    if size != len(base) or wanted > FILE_LIMIT:
        raise Broken("a pack is damaged")
    Budget.take(wanted)
    made = bytearray()
    while place < len(delta):
        code = delta[place]
        place += 1
        if not code & 128:
            made += delta[place : place + code]
            place += code
            if not code:
                raise Broken("a pack is damaged")
            continue
        start = count = 0
        for bit in range(7):
            if code & (1 << bit):
                if bit < 4:
                    start |= delta[place] << (8 * bit)
                else:
                    count |= delta[place] << (8 * (bit - 4))
                place += 1
        made += base[start : start + (count or 0x10000)]
        if len(made) > wanted:
            raise Broken("a pack is damaged")
    if len(made) != wanted:
        raise Broken("a pack is damaged")
    return bytes(made)


class Store:
    """The objects of a repository: loose ones as they are asked for, packs as a whole."""

    def __init__(self, top):
        self.top = top
        self.known = {}
        self.packed = None
        self.folders = set(folder(top))

    def get(self, name):
        """Return (kind, body) of an object, its name proven."""
        if name not in self.known:
            if not is_name(name):
                raise Broken("an object has a wrong name")
            found = self._loose(name)
            if found is None:
                if self.packed is None:
                    self.packed = self._packs()
                found = self.packed.get(name)
            if found is None:
                raise Broken(f"object {name[:12]} is missing")
            self.known[name] = found
            if len(self.known) > OBJECTS:
                raise Broken("there are too many objects")
        return self.known[name]

    def kind(self, name, wanted):
        kind, body = self.get(name)
        if kind != wanted:
            raise Broken(f"object {name[:12]} is a {kind}, not a {wanted}")
        return body

    def _loose(self, name):
        base = f"{self.top}/{name[:2]}"
        # Not through a link that stands in the folder's place.
        if name[:2] not in self.folders or not is_folder(base):
            return None
        data = read_plain(f"{base}/{name[2:]}")
        if data is None:
            return None
        whole, _ = inflate(data)
        if sha1(whole) != name:
            raise Broken(f"object {name[:12]} is damaged")
        return split(whole)

    def _packs(self):
        objects = {}
        base = f"{self.top}/pack"
        for entry in folder(base):
            if entry.endswith(".pack"):
                data = read_plain(f"{base}/{entry}")
                if data is not None:
                    objects.update(unpack(data))
                    if len(objects) > OBJECTS:
                        raise Broken("there are too many objects")
        return objects


def is_folder(path):
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def sha1(data):
    return hashlib.sha1(data).hexdigest()  # noqa: S324  # git's names are made so


def split(whole):
    """Return (kind, body) of an object with its header."""
    head, _, body = whole.partition(b"\0")
    kind, _, size = head.partition(b" ")
    if size != str(len(body)).encode():
        raise Broken("an object is damaged")
    return kind.decode("ascii", "replace"), body


def unpack(data):
    """Return {name: (kind, body)} of a pack, read from its first byte on, without its index."""
    if data[:4] != b"PACK" or len(data) < 32:
        raise Broken("a pack is damaged")
    count = int.from_bytes(data[8:12], "big")
    if count > OBJECTS:
        raise Broken("there are too many objects")
    at, by_name, waiting = {}, {}, []

    def keep(place, kind, body):
        name = sha1(f"{kind} {len(body)}".encode() + b"\0" + body)
        at[place] = by_name[name] = (kind, body)

    place = 12
    try:
        for _ in range(count):
            start = place
            byte = data[place]
            size, place = byte & 15, place + 1
            if byte & 128:
                size, place = number_at(data, place, 4, size)
            code = (byte >> 4) & 7
            base = None
            if code == 6:
                byte = data[place]
                back, place = byte & 127, place + 1
                while byte & 128:
                    byte = data[place]
                    back, place = ((back + 1) << 7) | (byte & 127), place + 1
                base = start - back
            elif code == 7:
                base, place = data[place : place + 20].hex(), place + 20
            body, used = inflate(data[place : place + size + (size >> 2) + 1024])
            place += used
            if code in KINDS:
                keep(start, KINDS[code], body)
            else:
                waiting.append((start, base, body))
        for _ in range(100):
            later = []
            for start, base, delta in waiting:
                found = at.get(base) if isinstance(base, int) else by_name.get(base)
                if found is None:
                    later.append((start, base, delta))
                else:
                    keep(start, found[0], apply_delta(found[1], delta))
            waiting = later
        if waiting:
            raise Broken("a pack is damaged")
    except IndexError:
        raise Broken("a pack is damaged") from None
    return by_name


def is_name(text):
    return len(text) == 40 and not set(text) - set("0123456789abcdef")


def read_refs(git):
    """Return {full name: object's name or "ref: ..."} of all refs."""
    refs = {}
    data = read_plain(f"{git}/packed-refs") or b""
    for line in data.decode("utf-8", "replace").splitlines():
        name, _, ref = line.partition(" ")
        if is_name(name) and ref.startswith("refs/"):
            refs[ref] = name

    def visit(path, depth):
        for entry in folder(f"{git}/{path}"):
            here = f"{path}/{entry}"
            if is_folder(f"{git}/{here}"):
                if depth < 12:
                    visit(here, depth + 1)
            elif not entry.endswith(".lock"):
                refs[here] = (read_plain(f"{git}/{here}") or b"").decode("utf-8", "replace").strip()
            if len(refs) > 1000:
                raise Broken("there are too many refs")

    visit("refs", 0)
    return refs


def parse(body):
    """Return (headers, message) of a commit or tag; headers are {name: [values]}."""
    head, _, message = body.decode("utf-8", "surrogateescape").partition("\n\n")
    headers = {}
    for line in head.split("\n"):
        name, _, value = line.partition(" ")
        headers.setdefault(name, []).append(value)
    return headers, message.rstrip("\n")


class Repository:
    """What the verifier asks of the agent's repository."""

    def __init__(self, top):
        self.top = top
        self.git = f"{top}/.git"
        if not is_folder(top) or not is_folder(self.git):
            raise Broken("there is no repository in the folder")
        self.store = Store(f"{self.git}/objects")
        self.refs = read_refs(self.git)
        self.commits = {}
        self.matches = set()

    def commit(self, name):
        """Return (tree, parents, message, author) of a commit."""
        if name not in self.commits:
            headers, message = parse(self.store.kind(name, "commit"))
            tree, author = headers.get("tree", [""])[0], headers.get("author", [""])[0]
            self.commits[name] = (tree, headers.get("parent", []), message, author)
        return self.commits[name]

    def files(self, tree, depth=0):
        """Return {path: (mode, blob)} of a tree whose objects are all there."""
        body = self.store.kind(tree, "tree")
        found = {}
        place = 0
        while place < len(body):
            end = body.find(b"\0", place)
            mode, _, name = body[place:end].partition(b" ")
            child = body[end + 1 : end + 21].hex()
            if end < 0 or len(child) != 40 or not name or b"/" in name or depth > 30:
                raise Broken("a tree is damaged")
            place = end + 21
            if not re.fullmatch(b"[0-7]{5,6}", mode):
                raise Broken("a tree is damaged")
            if mode == b"40000":
                for path, entry in self.files(child, depth + 1).items():
                    found[name + b"/" + path] = entry
            else:
                self.store.kind(child, "blob")
                found[name] = (int(mode, 8), child)
            if len(found) > OBJECTS:
                raise Broken("there are too many files")
        return found

    def reach(self, tips):
        """Return all commits that can be reached; every object of each must be there."""
        seen, trees = set(), set()
        left = list(tips)
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                tree, parents, _, _ = self.commit(name)
                if tree not in trees:
                    trees.add(tree)
                    self.files(tree)
                left += parents
            if len(seen) > COMMITS:
                raise Broken("there are too many commits")
        return seen

    def peel(self, name):
        """Return the commit that an object is or, through tags, stands for; None if none."""
        for _ in range(5):
            kind, body = self.store.get(name)
            if kind == "commit":
                return name
            if kind != "tag":
                break
            name = parse(body)[0].get("object", [""])[0]
        return None

    def is_commit(self, name, number, graph):
        """Return whether a commit is the wanted one of that number, with all its ancestors."""
        left, seen = [(name, number)], set()
        while left:
            pair = left.pop()
            if pair in self.matches or pair in seen:
                continue
            seen.add(pair)
            name, number = pair
            wanted = graph[number]
            if "parents" not in wanted:
                if name != wanted["id"]:
                    return False
            else:
                tree, parents, message, author = self.commit(name)
                if tree != wanted["tree"] or len(parents) != len(wanted["parents"]):
                    return False
                if wanted["message"] not in (None, message):
                    return False
                if not same_author(author, wanted["author"]):
                    return False
                left += zip(parents, wanted["parents"])
        # Only now: a pair matches when all its ancestors do.
        self.matches |= seen
        return True

    def is_ref(self, name, wanted, graph):
        """Return whether an object is what a ref is wanted to be."""
        if "id" in wanted and wanted["id"]:
            return name == wanted["id"]
        if "tag" not in wanted:
            return self.is_commit(name, wanted["commit"], graph)
        kind, body = self.store.get(name)
        if kind != "tag":
            return False
        headers, message = parse(body)
        return (
            headers.get("type") == ["commit"]
            and headers.get("tag") == [wanted["tag"]]
            and headers.get("tagger") == [wanted["tagger"]]
            and message == wanted["message"]
            and self.is_commit(headers.get("object", [""])[0], wanted["commit"], graph)
        )

    def share(self, tip, due, graph):
        """Return the share of the wanted commits that a tip reaches."""
        reached = self.reach([tip])
        return sum(any(self.is_commit(name, one, graph) for name in reached) for one in due) / len(
            due
        )

    def faulty(self, tip, params):
        """Return whether a commit that a tip reaches still has the fault that is to be mended."""
        word = params["word"].encode()
        for name in self.reach([tip]):
            tree, _, _, author = self.commit(name)
            if params["wrong"] and f"<{params['wrong']}>" in author:
                return True
            if word and word in self.store.get(name)[1]:
                return True
            if word and any(word in self.store.get(b)[1] for _, b in self.files(tree).values()):
                return True
        return False

    def clean(self, commit):
        """Return why the index and the files are not those of a commit, or nothing."""
        if commit is None:
            return "the branch to be checked out is missing"
        for name in IN_PROGRESS:
            if os.path.lexists(f"{self.git}/{name}"):
                return f"{name} shows that something is in progress"
        files = self.files(self.commit(commit)[0])
        if read_index(f"{self.git}/index") != files:
            return "the index differs from the commit"
        if self.found_files() != set(files):
            return "files are missing, or untracked"
        for path, (mode, blob) in files.items():
            full = os.fsencode(self.top) + b"/" + path
            data = read_plain(full)
            if data is None or data != self.store.get(blob)[1]:
                return f"{path.decode('utf-8', 'replace')} differs from the commit"
            if bool(os.lstat(full).st_mode & 0o100) != (mode == 0o100755):
                return f"{path.decode('utf-8', 'replace')} has another mode"
        return ""

    def found_files(self):
        """Return the paths of everything in the folder that is no folder, but for `.git`."""
        found = set()
        left = [b""]
        while left:
            base = left.pop()
            for entry in folder(os.fsencode(self.top) + b"/" + base):
                path = base + entry
                if path == b".git":
                    continue
                if is_folder(os.fsencode(self.top) + b"/" + path):
                    if path.count(b"/") < 30:
                        left.append(path + b"/")
                else:
                    found.add(path)
                if len(found) + len(left) > OBJECTS:
                    raise Broken("there are too many files")
        return found


def same_author(author, wanted):
    """Return whether an author line is as wanted; a wanted one without a date allows any."""
    if wanted is None:
        return True
    return author == wanted if not wanted.endswith(">") else author.rsplit(" ", 2)[0] == wanted


def read_index(path):
    """Return {path: (mode, blob)} of the index, or None if it cannot be read or is not merged."""
    data = read_plain(path)
    if data is None or data[:4] != b"DIRC":
        return None
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if version not in (2, 3, 4) or count > OBJECTS:
        return None
    entries = {}
    place, name = 12, b""
    try:
        for _ in range(count):
            start = place
            mode = int.from_bytes(data[place + 24 : place + 28], "big")
            blob = data[place + 40 : place + 60].hex()
            flags = int.from_bytes(data[place + 60 : place + 62], "big")
            place += 62
            if flags & 0x3000:
                return None
            if flags & 0x4000:
                # Hidden from git, or only meant to be added.
                if int.from_bytes(data[place : place + 2], "big") & 0x6000:
                    return None
                place += 2
            if version == 4:
                byte = data[place]
                cut, place = byte & 127, place + 1
                while byte & 128:
                    byte = data[place]
                    cut, place = ((cut + 1) << 7) | (byte & 127), place + 1
                end = data.index(b"\0", place)
                name = name[: len(name) - cut] + data[place:end]
                place = end + 1
            else:
                end = data.index(b"\0", place)
                name = data[place:end]
                place = start + (end - start + 8) // 8 * 8
            entries[name] = (mode, blob)
    except (IndexError, ValueError):
        return None
    # A split index keeps its entries elsewhere.
    return None if data[place : place + 4] == b"link" else entries


def holds(word, top):
    """Return the first file below a folder that holds a word, or cannot be read; else nothing."""
    left = [top]
    count = 0
    while left:
        path = left.pop()
        count += 1
        if count > OBJECTS:
            return "too many files"
        try:
            kind = os.lstat(path).st_mode
            if stat.S_ISDIR(kind):
                left += [f"{path}/{entry}" for entry in os.listdir(path)]
                continue
        except OSError:
            return path
        if not stat.S_ISREG(kind):
            return path
        data = read_plain(path)
        if data is None or word in data:
            return path
        try:
            if path.endswith(".pack"):
                if any(word in body for _, body in unpack(data).values()):
                    return path
            elif data[:1] == b"x" and word in inflate(data)[0]:
                return path
        except Broken:
            return path
    return ""


def judge(params):
    """Return (parts, details)."""
    weights = SECRET_WEIGHTS if params["word"] else WEIGHTS
    parts = dict.fromkeys(weights, 0.0)
    repository = Repository(params["folder"])
    refs, graph = repository.refs, params["graph"]
    tips = {}
    for ref, name in refs.items():
        if is_name(name):
            commit = repository.peel(name)
            if commit:
                tips[ref] = commit
    reached = repository.reach(tips.values())
    lost = [name for name in params["kept"] if name not in reached]
    if lost:
        return parts, f"{len(lost)} commits that were to stay are lost, such as {lost[0][:12]}"
    said = []
    count = len(params["targets"])
    for ref in params["targets"]:
        wanted, tip = params["refs"][ref], tips.get(ref)
        if tip is None:
            said.append(f"{ref} is missing")
            continue
        # A tip that stands on nothing of what was there is no rescue, whatever it holds.
        rooted = set(params["roots"][ref]) <= repository.reach([tip])
        if rooted and repository.commit(tip)[0] == wanted["tree"]:
            parts["content"] += weights["content"] / count * (not repository.faulty(tip, params))
        if repository.is_ref(refs[ref], wanted, graph):
            parts["history"] += weights["history"] / count
        else:
            share = repository.share(tip, params["due"][ref], graph)
            parts["history"] += weights["history"] / count * share / 2
            said.append(f"the history of {ref} is not as wanted")
    if parts["history"] < weights["history"] - 1e-9:
        return parts, "; ".join(said)
    if params["word"]:
        where = holds(params["word"].encode(), repository.git)
        parts["purged"] = 0.0 if where else weights["purged"]
        if where:
            said.append(f"the key is still in {where}, or that cannot be read")
    head = (read_plain(f"{repository.git}/HEAD") or b"").decode("utf-8", "replace").strip()
    others = [ref for ref in params["refs"] if ref not in params["targets"]]
    if set(refs) != set(params["refs"]):
        said.append(f"other refs: {', '.join(sorted(set(refs) ^ set(params['refs'])))}")
    elif not all(repository.is_ref(refs[ref], params["refs"][ref], graph) for ref in others):
        said.append("a ref was moved that was to stay")
    elif head != f"ref: {params['head']}":
        said.append(f"HEAD is {head[:80]!r}")
    else:
        parts["refs"] = weights["refs"]
    # What is checked out, if that can be told: a wrong branch costs `refs` alone.
    here = head if is_name(head) else tips.get(head[5:].strip())
    reason = repository.clean(here or tips.get(params["head"]))
    parts["clean"] = 0.0 if reason else weights["clean"]
    return parts, "; ".join([*said, *[reason] * bool(reason)]) or "all is as it should be"


try:
    parts, details = judge(PARAMS)
except Broken as error:
    weights = SECRET_WEIGHTS if PARAMS["word"] else WEIGHTS
    parts, details = dict.fromkeys(weights, 0.0), str(error)
except RecursionError:
    parts, details = {}, "the repository is nested too deeply"
score = min(1.0, round(sum(parts.values()), 6))
print(
    json.dumps(
        {
            "score": score,
            "passed": score == 1.0,
            "details": details,
            "reward_components": {name: round(value, 6) for name, value in parts.items()},
        }
    )
)
