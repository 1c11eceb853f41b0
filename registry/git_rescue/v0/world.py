"""The projects, their people, and a repository of their ordinary work before the trouble."""

from .objects import Store, index_bytes

# (project, folder, what its pieces are, names, properties, values)
THEMES = [
    (
        "a herbarium", "plants", "plant",
        ["yarrow", "sorrel", "woodruff", "tansy", "betony", "lovage", "campion", "bistort",
         "comfrey", "mullein", "vervain", "burnet", "agrimony", "self-heal", "figwort", "melilot"],
        ["height", "soil", "light", "flowers in", "leaf"],
        ["low", "tall", "chalk", "clay", "shade", "full sun", "june", "september", "lobed"],
    ),
    (
        "a harbour's handbook", "berths", "berth",
        ["anchor-quay", "barrel-dock", "cable-pier", "drift-basin", "eel-steps", "fog-wall",
         "gull-ramp", "hawser-end", "inner-mole", "jetty-nine", "kelp-slip", "lantern-wharf",
         "mast-yard", "north-stairs", "oyster-bank", "pilot-house"],
        ["depth", "crane", "power", "ground", "open to"],
        ["3 m", "5 m", "none", "mud", "rock", "16 A", "32 A", "west wind", "swell"],
    ),
    (
        "a bakery's recipe book", "recipes", "recipe",
        ["plum-cake", "rye-loaf", "seed-rolls", "oat-bread", "honey-buns", "walnut-ring",
         "salt-sticks", "poppy-plait", "apple-turnover", "spelt-crust", "cheese-straws",
         "almond-moons", "ginger-snaps", "potato-bread", "quark-balls", "raisin-bun"],
        ["flour", "oven", "rest", "salt", "glaze"],
        ["500 g", "220 degrees", "two hours", "over night", "9 g", "egg", "milk", "none"],
    ),
    (
        "a small observatory", "targets", "target",
        ["the-lantern", "the-hook", "grey-veil", "twin-embers", "old-ladle", "pale-wheel",
         "split-reed", "the-kettle", "low-crown", "dim-ladder", "far-gate", "red-knot",
         "long-oar", "white-seed", "quiet-pair", "broken-bow"],
        ["magnitude", "filter", "exposure", "seen in", "rises"],
        ["7.1", "9.4", "red", "clear", "30 s", "120 s", "winter", "late", "before dawn"],
    ),
    (
        "a footpath guide", "walks", "walk",
        ["beech-loop", "miller-track", "ridge-path", "fen-causeway", "stone-bridge",
         "heron-way", "quarry-round", "chapel-lane", "cliff-steps", "drovers-road",
         "spring-head", "tarn-circuit", "moor-edge", "weir-walk", "badger-hollow", "old-railway"],
        ["length", "climb", "ground", "dogs", "map"],
        ["4 km", "11 km", "80 m", "350 m", "wet", "stony", "on a lead", "welcome", "sheet 12"],
    ),
]  # fmt: skip
PEOPLE = [
    ["Ida Holm", "ida@example.org"],
    ["Bram Okafor", "bram@example.org"],
    ["Noor Castel", "noor@example.org"],
    ["Teo Lindqvist", "teo@example.org"],
    ["Mara Voss", "mara@example.org"],
    ["Jun Abara", "jun@example.org"],
]
VERBS = ["Add", "Describe", "Record", "Write up", "Enter"]
BODIES = [
    "The old notes were in a drawer.",
    "Measured twice; both times the same.",
    "Asked for at the last meeting.",
    "Source: the paper card file.",
]
TOPICS = ["drafts", "topic", "field-notes", "next", "winter", "revision"]
AGENT = ["Repo Doctor", "doctor@example.org"]
ZONES = ["+0000", "+0100", "-0500", "+0530"]


class World:
    """A repository that grows; `git` holds the files of its .git folder but objects and index."""

    def __init__(self, rng):
        self.rng = rng
        project, self.folder, self.kind, names, self.properties, self.values = rng.choice(THEMES)
        self.project = project
        # Taken from the end; long stories go on with the annexes.
        self.names = [f"{name}-annex" for name in names] + rng.sample(names, len(names))
        self.people = rng.sample(PEOPLE, 3)
        self.topic = rng.choice(TOPICS)
        self.store = Store()
        self.clock = 1_600_000_000 + rng.randrange(100_000_000)
        self.refs = {}
        self.head = "refs/heads/main"
        self.logs = {"HEAD": []}
        self.git = {}
        self.index = None
        self.files = None

    def tick(self):
        self.clock += self.rng.randint(600, 90_000)
        return [self.clock, self.rng.choice(ZONES)]

    def piece(self):
        """Draw one more piece of work: (message, path, text)."""
        rng, name = self.rng, self.names.pop()
        lines = [f"{p}: {rng.choice(self.values)}" for p in rng.sample(self.properties, 3)]
        text = f"# {name}\n\n" + "\n".join(lines) + f"\nnumber: {rng.randint(10, 999)}\n"
        message = f"{rng.choice(VERBS)} {name}"
        if rng.random() < 0.4:
            message += f"\n\n{rng.choice(BODIES)}"
        return message, f"{self.folder}/{name}.txt", text

    def work(self, parent, count=1, author=None, extra=None):
        """Make commits of new pieces on a commit; `extra(files)` changes more in each.

        Returns their names, oldest first.
        """
        made = []
        for _ in range(count):
            files = dict(self.store.commits[parent]["files"]) if parent else {}
            message, path, text = self.piece()
            files[path] = text
            if extra:
                extra(files)
            who = author or self.rng.choice(self.people)
            parents = [parent] if parent else []
            parent = self.store.commit(files, message, who, self.tick(), parents)
            made.append(parent)
        return made

    def replay(self, commits, onto, author=None, change=None, store=True):
        """Return what picking these commits onto another gives: new commits, oldest first.

        `author(name, commit)` and `change(files)` alter each on the way. Each commit of the
        list has one parent, and no two lines of work touch one file in the same place.
        """
        made = []
        for name in commits:
            commit = self.store.commits[name]
            files = dict(self.store.commits[onto]["files"])
            before = self.store.commits[commit["parents"][0]]["files"]
            for path in {*before, *commit["files"]}:
                if before.get(path) != commit["files"].get(path):
                    files.pop(path, None)
                    if path in commit["files"]:
                        files[path] = commit["files"][path]
            if change:
                change(files)
            who = author(commit["author"]) if author else commit["author"]
            onto = self.store.commit(files, commit["message"], who, commit["when"], [onto])
            made.append(onto)
        return made

    def log(self, name, new, message, who=None):
        """Write a line into the reflog of `HEAD` or of a ref."""
        lines = self.logs.setdefault(name, [])
        old = lines[-1][1] if lines else "0" * 40
        lines.append((old, new, who or self.people[0], self.tick(), message))

    def log_commits(self, ref, commits, head=True):
        """Write the lines that making these commits on a branch leaves."""
        for name in commits:
            subject = self.store.commits[name]["message"].split("\n")[0]
            first = not self.store.commits[name]["parents"]
            text = f"commit{' (initial)' if first else ''}: {subject}"
            if ref:
                self.log(ref, name, text)
            if head:
                self.log("HEAD", name, text)

    def base(self):
        """Make the work before the trouble and return main's tip.

        Some commits on main, a tag on the second, and a branch of its own off the third.
        """
        words = ("columns", "margin", "width")
        settings = [f"{word} = {self.rng.randint(2, 99)}" for word in words]
        readme = f"# {self.project[2:].capitalize()}\n\nOne file for each {self.kind}.\n"

        def start(files):
            files["README.md"] = readme
            files["settings.conf"] = "\n".join(settings) + "\n"
            files["contents.txt"] = "Contents\n\n- preface\n"

        main = self.work(None, 1, extra=start)
        main += self.work(main[-1], self.rng.randint(2, 4))
        self.log_commits("refs/heads/main", main)
        self.refs["refs/tags/v0.1"] = main[1]
        side = self.work(main[2], self.rng.randint(1, 2))
        self.refs["refs/heads/archive"] = side[-1]
        self.log("refs/heads/archive", main[2], "branch: Created from main")
        self.log_commits("refs/heads/archive", side, head=False)
        self.refs["refs/heads/main"] = main[-1]
        return main[-1]

    def setup(self, lost=()):
        """Return what setup.py writes. `lost`: commits that no ref reaches but are still there."""
        commits, objects = [*lost], {}
        for name in self.refs.values():
            kind, data = self.store.objects[name]
            if kind == "tag":
                objects[name] = (kind, data)
                name = data.split(b"\n", 1)[0].split()[1].decode()
            commits.append(name)
        detached = not self.head.startswith("refs/")
        tip = self.head if detached else self.refs[self.head]
        for name in self.store.reachable(*commits, tip):
            objects[name] = self.store.objects[name]
        files = self.store.commits[tip]["files"]
        entries = self.index or [
            (path, 0, self.store.put("blob", text.encode())) for path, text in files.items()
        ]
        for _, _, name in entries:
            objects[name] = self.store.objects[name]
        git = {
            "HEAD": f"{tip}\n" if detached else f"ref: {self.head}\n",
            "config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
            f"\tlogallrefupdates = true\n[user]\n\tname = {AGENT[0]}\n\temail = {AGENT[1]}\n",
            "description": "\n",
            **{ref: f"{name}\n" for ref, name in self.refs.items()},
            **self.git,
        }
        for name, lines in self.logs.items():
            git[f"logs/{name}"] = "".join(
                f"{old} {new} {who[0]} <{who[1]}> {when[0]} {when[1]}\t{text}\n"
                for old, new, who, when, text in lines
            )
        return objects, git, index_bytes(entries), self.files or files
