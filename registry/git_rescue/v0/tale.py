"""Telling a repository's past: people, a clock, changes that know what they do, reflogs."""

from .model import World
from .themes import BRANCHES, FIRST, LAST, SENTENCES, SIDE_BRANCHES, THEMES

DAY = 86400


class Tale:
    """One repository's past, drawn from `rng`.

    Attributes:
        me: "Name <mail>" of the agent, who has made what the reflogs tell.
        files: paths that changes may touch; `take` gives them out so that no two sides meet.
    """

    def __init__(self, rng):
        self.rng = rng
        self.world = World()
        self.theme = rng.choice(THEMES)
        self.folder = self.theme["folder"]
        firsts, lasts = rng.sample(FIRST.split(), 4), rng.sample(LAST.split(), 4)
        self.names = [f"{first} {last}" for first, last in zip(firsts, lasts, strict=True)]
        self.me, *self.others = (f"{name} <{self.mail(name)}>" for name in self.names)
        self.zones = dict(zip((self.me, *self.others), rng.sample(ZONES, 4), strict=True))
        self.clock = 1_640_995_200 + rng.randrange(700 * DAY)
        self.branch, self.other_branch = (
            rng.choice(BRANCHES.split()),
            rng.choice(SIDE_BRANCHES.split()),
        )
        lists = {
            path: [entry.strip() for entry in text.split(",")]
            for path, text in self.theme["lists"].items()
        }
        self.left = {path: entries[6:] for path, entries in lists.items()}
        self.keys = self.theme["keys"].split()
        rng.shuffle(self.keys)
        values = {key: rng.randint(2, 90) for key in sorted(self.keys)}
        topics = self.theme["topics"].split()
        notes = [f"notes/{topic.lower()}.md" for topic in topics[:3]]
        self.topics = topics[3:]
        rng.shuffle(self.topics)
        self.start = {
            "README.md": f"# {self.folder}\n\n{self.theme['about']}\n",
            "settings.ini": "".join(f"{key} = {value}\n" for key, value in values.items()),
            "tools/count.sh": '#!/bin/sh\n# How many lines each list has.\nwc -l "$@"\n',
        }
        self.start.update(
            (path, "".join(entry + "\n" for entry in entries[:6]))
            for path, entries in lists.items()
        )
        self.start.update(
            (path, f"# {topic}\n\n{self.sentence()}\n")
            for path, topic in zip(notes, topics, strict=False)
        )
        self.paths = [*sorted(lists), *notes]
        rng.shuffle(self.paths)

    @staticmethod
    def mail(name, host="rescue.example"):
        plain = name.lower().translate(PLAIN)
        return f"{plain.replace(' ', '.')}@{host}"

    def sentence(self):
        return self.rng.choice(SENTENCES.strip().split("\n"))

    def take(self, count):
        """Give out paths that nobody else changes from now on."""
        taken, self.paths = self.paths[:count], self.paths[count:]
        return taken

    def stamp(self, who, wait=True):
        """Let time pass; return "Name <mail> seconds zone"."""
        if wait:
            self.clock += self.rng.randint(600, 2 * DAY)
        return f"{who} {self.clock} {self.zones.get(who, '+0000')}"

    def change(self, path):
        """Draw a change of a file: (function of files that gives files, subject of the commit)."""
        rng = self.rng
        if path.endswith(".txt") and self.left[path]:
            count = min(rng.randint(1, 2), len(self.left[path]))
            added, self.left[path] = self.left[path][:count], self.left[path][count:]
            subject = f"Add {added[0]}" + f" and {count - 1} more" * (count > 1)
            return append(path, "".join(entry + "\n" for entry in added)), subject
        self.topics = self.topics or [f"Remark {number}" for number in range(90, 10, -1)]
        topic, sentence = self.topics.pop(), self.sentence()
        text = f"\n## {topic}\n\n{sentence}\n"
        return append(path, text), f"Write about {topic.lower()}"

    def setting(self, key):
        """Draw a change of a setting."""
        value = self.rng.randint(100, 900)
        return put_setting(key, value), f"Set {key} to {value}"

    def step(self, parent, change, who=None, body=""):
        """Add a commit on top of another that makes a change."""
        act, subject = change
        message = subject + (f"\n\n{body}" if body else "")
        commit = self.world.commit([parent], act(parent.files), message, self.stamp(who or self.me))
        commit.change = act
        return commit

    def series(self, parent, paths, count, who=None):
        """Add some commits, one after the other, that change these paths in turn."""
        commits = []
        for number in range(count):
            body = self.sentence() if self.rng.random() < 0.4 else ""
            change = self.change(paths[number % len(paths)])
            commits.append(self.step(commits[-1] if commits else parent, change, who, body))
        return commits

    def again(self, commit, parent, committer=""):
        """Add the same change on top of another commit, as a rebase would have made it."""
        made = self.world.commit(
            [parent],
            commit.change(parent.files),
            commit.message,
            commit.author,
            committer or self.stamp(self.me),
        )
        made.change = commit.change
        return made

    def replay(self, commits, parent):
        """Return the last of wanted commits: the same changes on top of another commit."""
        for commit in commits:
            files = commit.change(parent.files)
            parent = self.world.want([parent], files, commit.message, commit.author)
        return parent

    def past(self, count):
        """Begin: some commits on main by everybody, the tag v1.0 on an early one, a side branch."""
        rng = self.rng
        root = self.world.commit(
            [], self.start, "Start with what is on paper", self.stamp(self.others[0])
        )
        commits = [root]
        paths = list(self.paths)
        for number in range(count):
            change = self.change(paths[number % len(paths)])
            if rng.random() < 0.3:
                key = self.keys.pop()
                self.keys.insert(0, key)
                change = self.setting(key)
            commits.append(self.step(commits[-1], change, rng.choice([self.me, *self.others])))
        text = f"# {self.other_branch}\n\n{self.sentence()}\n"
        side = self.step(
            commits[-2],
            (put(f"{self.other_branch}.md", text), f"Begin {self.other_branch}"),
            self.others[1],
        )
        self.world.refs |= {
            "refs/heads/main": commits[-1],
            f"refs/heads/{self.other_branch}": side,
            "refs/tags/v1.0": commits[1],
        }
        self.log("main", None, commits[-1], f"clone: from ../{self.folder}.git")
        return commits

    def log(self, branch, old, new, message):
        """Write a line into the reflog of a branch (None: of none), and into that of HEAD."""
        who = self.stamp(self.me, wait=False)
        for name in ([f"refs/heads/{branch}"] if branch else []) + ["HEAD"]:
            self.world.log(name, old and old.id, new.id, who, message)

    def log_commits(self, branch, parent, commits, verb="commit"):
        """Write the lines of commits made one after the other, at their own times."""
        for commit in commits:
            for name in ([f"refs/heads/{branch}"] if branch else []) + ["HEAD"]:
                message = f"{verb}: {commit.subject}"
                self.world.log(name, parent.id, commit.id, commit.committer, message)
            parent = commit

    def config(self):
        name, mail = self.me[:-1].split(" <")
        return CONFIG.format(name=name, mail=mail)


ZONES = ["+0100", "+0200", "-0500", "+0530", "+0000", "-0330", "+1245"]
PLAIN = str.maketrans("áåäéíïóöøüñçß", "aaaeiiooounc" + "s")
CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\teditor = true
\tpager = cat
[user]
\tname = {name}
\temail = {mail}
[gc]
\tauto = 0
[advice]
\tdetachedHead = false
"""


def append(path, text):
    return lambda files: {**files, path: files[path] + text}


def put(path, text):
    return lambda files: {**files, path: text}


def put_setting(key, value):
    def act(files):
        lines = files["settings.ini"].splitlines()
        lines = [f"{key} = {value}" if line.startswith(f"{key} =") else line for line in lines]
        return {**files, "settings.ini": "\n".join(lines) + "\n"}

    return act
