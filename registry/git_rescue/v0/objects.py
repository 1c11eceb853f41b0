"""Git's object and index formats, as far as building a repository without running Git needs them.

Source: the documentation that comes with Git (gitformat-index, git-hash-object).
"""

import hashlib
import struct


class Store:
    """Objects by their name (the SHA-1 in hex), and what the commits among them say."""

    def __init__(self):
        self.objects = {}
        self.commits = {}
        self.trees = {}

    def put(self, kind, data):
        framed = b"%s %d\0" % (kind.encode(), len(data)) + data
        name = hashlib.sha1(framed, usedforsecurity=False).hexdigest()
        self.objects[name] = (kind, data)
        return name

    def tree(self, files):
        """Store a tree of regular files, given as path -> text."""
        folders, entries = {}, []
        for path, text in files.items():
            top, _, rest = path.partition("/")
            if rest:
                folders.setdefault(top, {})[rest] = text
            else:
                entries.append((top, "100644", self.put("blob", text.encode())))
        entries += [(name, "40000", self.tree(inner)) for name, inner in folders.items()]
        # Git sorts a folder as if its name ended in a slash.
        entries.sort(key=lambda entry: entry[0] + ("/" if entry[1] == "40000" else ""))
        name = self.put(
            "tree",
            b"".join(f"{m} {n}\0".encode() + bytes.fromhex(oid) for n, m, oid in entries),
        )
        self.trees[name] = dict(files)
        return name

    def commit(self, files, message, author, when, parents, committer=None, committed=None):
        """Store a commit; `author` is [name, email], `when` [seconds, zone]."""
        tree = self.tree(files)
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines.append(f"author {author[0]} <{author[1]}> {when[0]} {when[1]}")
        committer, committed = committer or author, committed or when
        lines.append(f"committer {committer[0]} <{committer[1]}> {committed[0]} {committed[1]}")
        name = self.put("commit", ("\n".join(lines) + f"\n\n{message}\n").encode())
        self.commits[name] = {
            "message": message,
            "author": list(author),
            "when": list(when),
            "parents": list(parents),
            "tree": tree,
            "files": dict(files),
        }
        return name

    def tag(self, target, name, message, tagger, when):
        """Store an annotated tag of a commit."""
        text = f"object {target}\ntype commit\ntag {name}\n"
        text += f"tagger {tagger[0]} <{tagger[1]}> {when[0]} {when[1]}\n\n{message}\n"
        return self.put("tag", text.encode())

    def ancestors(self, *tips):
        """Return the commits that can be reached from these, themselves included."""
        seen, todo = set(), [tip for tip in tips if tip]
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self.commits[name]["parents"]
        return seen

    def reachable(self, *tips):
        """Return the names of all commits, trees and blobs under these commits."""
        names = set()
        for commit in self.ancestors(*tips):
            names.add(commit)
            todo = [self.commits[commit]["tree"]]
            while todo:
                name = todo.pop()
                if name not in names:
                    names.add(name)
                    todo += self.entries(name)
        return names

    def entries(self, name):
        """Return the objects that a tree names; none for a blob."""
        kind, data = self.objects[name]
        found, at = [], 0
        while kind == "tree" and at < len(data):
            at = data.index(b"\0", at) + 1
            found.append(data[at : at + 20].hex())
            at += 20
        return found


def index_bytes(entries):
    """Return an index file: entries are (path, stage, object name), without what `stat` said.

    Git then compares contents when it next looks, and the bytes are equal on every machine.
    """
    data = struct.pack(">4sII", b"DIRC", 2, len(entries))
    for path, stage, name in sorted(entries, key=lambda entry: (entry[0].encode(), entry[1])):
        encoded = path.encode()
        entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0) + bytes.fromhex(name)
        entry += struct.pack(">H", stage << 12 | min(len(encoded), 0xFFF)) + encoded
        data += entry + b"\0" * (8 - len(entry) % 8)
    return data + hashlib.sha1(data, usedforsecurity=False).digest()
