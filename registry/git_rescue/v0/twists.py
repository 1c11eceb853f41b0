"""What can be wrong with commits themselves: their author, or a password among their files."""

BUILDERS = [
    ["root", "root@localhost"],
    ["build", "build@ci.invalid"],
    ["user", "user@laptop.local"],
]
FILE = "private.env"


def person(who):
    return f"`{who[0]} <{who[1]}>`"


class Twist:
    """Makes commits with a fault of one kind (None: without) and their forms without it."""

    def __init__(self, world, kind, mode="file"):
        self.world, self.kind, self.mode = world, kind, mode
        self.wrong = world.rng.choice(BUILDERS)
        self.right = world.people[0]
        self.token = None
        if kind == "secret":
            letters = "abcdefghjkmnpqrstuvwxyz23456789"
            self.token = "".join(world.rng.choice(letters) for _ in range(18))
            self.line = f"password = {self.token}\n"

    def plant(self, files):
        if self.mode == "file":
            files[FILE] = f"# for the upload\nUPLOAD_USER=editor\nUPLOAD_PASSWORD={self.token}\n"
        else:
            files["settings.conf"] += self.line

    def take_out(self, files):
        """Remove it as somebody does who forgets that history remembers."""
        if self.mode == "file":
            files.pop(FILE, None)
        else:
            files["settings.conf"] = files["settings.conf"].replace(self.line, "")

    def clean(self, files):
        """Change a commit's files to those that it must have."""
        if self.mode == "file":
            files.pop(FILE, None)
        else:
            files["settings.conf"] = files["settings.conf"].replace(self.token, "REMOVED")

    def chain(self, parent, count):
        """Make commits with the fault in some of them."""
        world, made = self.world, []
        places = range(count)
        # Not all of them: what is right must stay.
        marked = set(world.rng.sample(places, max(1, count - world.rng.randint(1, 2))))
        first = world.rng.randrange(count)
        for place in places:
            who = None
            if self.kind == "author":
                others = world.people
                who = self.wrong if place in marked else world.rng.choice(others)
            extra = self.plant if self.kind == "secret" and place == first else None
            made += world.work(made[-1] if made else parent, 1, who, extra)
        return made

    def fixed(self, chain, onto):
        """Return the commits without the fault, on top of another commit."""
        return self.world.replay(
            chain,
            onto,
            author=(lambda who: self.right if who == self.wrong else who)
            if self.kind == "author"
            else None,
            change=self.clean if self.kind == "secret" else None,
        )

    def fixes(self, chain, goal):
        """Return the goal's commits whose author was wrong."""
        if self.kind != "author":
            return []
        commits = self.world.store.commits
        pairs = zip(chain, goal, strict=True)
        return [new for old, new in pairs if commits[old]["author"] == self.wrong]

    def where(self):
        return f" (the file `{FILE}`)" if self.mode == "file" else " (in `settings.conf`)"

    def remedy(self):
        if self.mode == "file":
            return f"`{FILE}` is in no commit of these; every other file stays."
        return "Wherever the password stood in `settings.conf`, `REMOVED` stands in its place."

    def story(self, whose):
        if self.kind == "author":
            return f" Besides, {whose} by {person(self.wrong)} bear a wrong author."
        if self.kind == "secret":
            return f" Besides, one of {whose} added a file with a password, `{FILE}`."
        return ""

    def wanted(self):
        if self.kind == "author":
            return f" But where the author is {person(self.wrong)} it is then {person(self.right)}."
        if self.kind == "secret":
            return f" But `{FILE}` is in none of them, and the password can be reached from no ref."
        return ""

    def plan(self):
        return {
            "twist": self.kind,
            "place": self.mode,
            "wrong": self.wrong[1],
            "right": self.right,
            "token": self.token,
        }
