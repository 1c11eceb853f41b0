"""Git's objects in plain Python: a repository is made up here, by the host, which may have no git.

A `World` collects the commits that exist and those that are wanted. Ids are computed as git does,
so that the verifier can be told which commits must be there unchanged.
"""

import base64
import hashlib
from dataclasses import dataclass, field

NULL = "0" * 40


def object_id(kind, body):
    """Return (id, whole object) as git stores it before compression."""
    whole = f"{kind} {len(body)}\0".encode() + body
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest(), whole


@dataclass(eq=False)
class Commit:
    """A commit that exists, or (without an id) one that is wanted.

    `author` is "Name <mail> seconds zone". In a wanted commit None stands for anything, and an
    author without a date for any date.
    """

    parents: list
    files: dict
    message: str
    author: str
    committer: str = ""
    id: str = ""
    tree: str = ""

    @property
    def subject(self):
        return self.message.split("\n", 1)[0]

    @property
    def at(self):
        """When the author made it, as git writes dates in its own files."""
        return " ".join(self.author.split()[-2:])


@dataclass(eq=False)
class Tag:
    """An annotated tag that exists, or one that is wanted (without an id)."""

    name: str
    target: Commit
    message: str
    tagger: str
    id: str = ""

    @property
    def tree(self):
        return self.target.tree


@dataclass
class World:
    """One repository, and what is to become of it."""

    objects: dict = field(default_factory=dict)
    refs: dict = field(default_factory=dict)
    logs: dict = field(default_factory=dict)
    wanted: dict = field(default_factory=dict)
    targets: list = field(default_factory=list)

    def _add(self, kind, body):
        number, whole = object_id(kind, body)
        self.objects[number] = whole
        return number

    def tree(self, files):
        """Return the id of the tree of {path: text}; a script (.sh) is executable."""
        entries = []
        folders = {}
        for path, text in files.items():
            name, _, rest = path.partition("/")
            if rest:
                folders.setdefault(name, {})[rest] = text
            else:
                mode = "100755" if name.endswith(".sh") else "100644"
                entries.append((name.encode(), mode, self._add("blob", text.encode())))
        entries += [(name.encode(), "40000", self.tree(inner)) for name, inner in folders.items()]
        # Git sorts a folder as if its name ended in a slash.
        entries.sort(key=lambda entry: entry[0] + b"/" * (entry[1] == "40000"))
        body = b"".join(
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(number)
            for name, mode, number in entries
        )
        return self._add("tree", body)

    def commit(self, parents, files, message, author, committer=""):
        """Add a commit that exists."""
        committer = committer or author
        tree = self.tree(files)
        lines = [f"tree {tree}", *(f"parent {parent.id}" for parent in parents)]
        lines += [f"author {author}", f"committer {committer}", "", message + "\n"]
        number = self._add("commit", "\n".join(lines).encode())
        return Commit(list(parents), dict(files), message, author, committer, number, tree)

    def tag(self, name, target, message, tagger):
        """Add an annotated tag object that exists; a ref is another matter."""
        body = (
            f"object {target.id}\ntype commit\ntag {name}\ntagger {tagger}\n\n{message}\n"
        ).encode()
        return Tag(name, target, message, tagger, self._add("tag", body))

    def want(self, parents, files, message, author):
        """Return a commit that is wanted; its objects are not put into the repository."""
        tree = World().tree(files)
        return Commit(list(parents), dict(files), message, author, tree=tree)

    def log(self, ref, old, new, who, message):
        """Add a line to a reflog; `who` is "Name <mail> seconds zone"."""
        self.logs.setdefault(ref, []).append([old or NULL, new, who, message])

    def setup(self, folder, head, config, **more):
        """Return what setup.py needs to build the repository."""
        return {
            "folder": folder,
            "head": head,
            "config": config,
            "objects": [base64.b64encode(whole).decode() for whole in self.objects.values()],
            "refs": {name: target.id for name, target in self.refs.items()},
            "logs": self.logs,
            **more,
        }

    def secret(self, folder, head, **more):
        """Return what the verifier needs: the graph that is wanted, and what must stay."""
        graph = []
        numbers = {}

        def number(commit):
            if commit not in numbers:
                parents = [number(parent) for parent in commit.parents]
                numbers[commit] = len(graph)
                graph.append(
                    {"id": commit.id, "tree": commit.tree}
                    if commit.id
                    else {
                        "tree": commit.tree,
                        "parents": parents,
                        "message": commit.message,
                        "author": commit.author,
                    }
                )
            return numbers[commit]

        refs = {}
        for name, target in self.wanted.items():
            if isinstance(target, Tag):
                refs[name] = {"id": target.id, "tree": target.tree} | (
                    {}
                    if target.id
                    else {
                        "commit": number(target.target),
                        "tag": target.name,
                        "message": target.message,
                        "tagger": target.tagger,
                    }
                )
            else:
                refs[name] = {"commit": number(target), "tree": target.tree}
        reached = set().union(*(ancestors(commit) for commit in self.refs.values()))
        wanted = set().union(*(ancestors(commit) for commit in self.wanted.values()))
        # What a wanted commit is, whoever committed it when.
        there = {likeness(commit) for commit in reached}
        due, roots = {}, {}
        for name in self.targets:
            closure = ancestors(self.wanted[name])
            new = {commit for commit in closure if likeness(commit) not in there}
            # A tag may lack although its commit is there.
            due[name] = sorted(number(commit) for commit in new or closure)
            roots[name] = sorted(commit.id for commit in closure & reached)
        return {
            "folder": folder,
            "head": head,
            "graph": graph,
            "refs": refs,
            "targets": self.targets,
            # The wanted commits of each target that are not there yet, and those that stay.
            "due": due,
            "roots": roots,
            "kept": sorted(commit.id for commit in reached & wanted),
            **more,
        }


def ancestors(commit):
    """Return a commit (or a tag's commit) and all that it can reach."""
    found = set()
    left = [commit.target if isinstance(commit, Tag) else commit]
    while left:
        commit = left.pop()
        if commit not in found:
            found.add(commit)
            left += commit.parents
    return found


def likeness(commit):
    """Return what makes two commits the same but for their committers."""
    parents = tuple(likeness(parent) for parent in commit.parents)
    return hash((commit.tree, commit.message, commit.author, parents))


def rewritten(world, tips, change):
    """Return {commit: what becomes of it} for all that the tips reach.

    `change(commit)` gives the new (files, message, author); a commit that changes in nothing, and
    none of whose ancestors does, stays itself.
    """
    done = {}

    def visit(commit):
        if commit not in done:
            parents = [visit(parent) for parent in commit.parents]
            parts = change(commit)
            same = parts == (commit.files, commit.message, commit.author)
            done[commit] = (
                commit if same and parents == commit.parents else world.want(parents, *parts)
            )
        return done[commit]

    for tip in tips:
        visit(tip.target if isinstance(tip, Tag) else tip)
    return done
