"""Where the twelve kinds of fault fit into `lending`."""

import unicodedata
from datetime import date, datetime, timedelta, timezone

from .planting import Package, call

lending = Package(
    "lending",
    ("config", "titles", "dates", "shelves", "desk"),
    {"LOAN_DAYS": (7, 14, 21, 28), "BLOCK_AT": (0.8, 0.9, 1.0, 1.7, 2.0, 2.4)},
)

READERS = ("ada", "bob", "eve", "ivo", "mia", "noa", "tom", "uma", "zoe")
SUBJECTS = ("art", "music", "jazz", "maps", "alps", "sea", "birds", "tools", "plays", "stars")
TITLES = (
    "Café Noir",
    "Übermut",
    "El Niño",
    "Año Nuevo",
    "Crème",
    "Žena a moře",
    "Às sete",
    "Ålesund",
)


def day(rng):
    return date(2024, rng.randint(1, 12), rng.randint(1, 28))


def book(rng):
    return f"{rng.choice('abcdxyz')}{rng.randint(100, 999)}"


@lending.rest
def rest(rng, knobs):
    plan = [[rng.choice(["", "x1", "x2"]) for _ in range(4)] for _ in range(3)]
    copies = [book(rng) for _ in range(2)]
    commands = [["lend", copy, rng.choice(READERS)] for copy in copies]
    return [
        *(call("due_day", day(rng).isoformat()) for _ in range(2)),
        call("free_places", plan),
        call("run", [*commands, ["take_back", copies[0]], ["loans"]]),
    ]


@lending.fault(
    "off_by_one",
    "dates.py",
    "date.fromisoformat(due)).days)",
    "date.fromisoformat(due)).days + 1)",
    """Readers complain that they have to pay for a day too many. Even somebody who came on the
    very day on which the loan was due had to pay.""",
)
def off_by_one(rng, knobs):
    calls = []
    for number in range(8):
        due = day(rng)
        late = 0 if number % 3 == 0 else rng.randint(1, 60)
        calls.append(call("late_days", due.isoformat(), (due + timedelta(days=late)).isoformat()))
    for early in rng.sample(range(2, 30), 3):
        calls.append(call("late_days", due.isoformat(), (due - timedelta(days=early)).isoformat()))
    return calls


@lending.fault(
    "mutable_default",
    "titles.py",
    ("def codes(node, found=None):", "    if found is None:\n        found = []\n"),
    ("def codes(node, found=[]):", ""),
    """I counted the books of several subjects in one go. The first number is right, the others are
    far too high. When I count another time, the numbers are higher still.""",
)
def mutable_default(rng, knobs):
    calls = []
    for _ in range(8):
        nodes = []
        for _ in range(rng.randint(2, 4)):
            below = [{"codes": [book(rng) for _ in range(rng.randint(1, 3))]}]
            nodes.append({"codes": [book(rng) for _ in range(rng.randint(0, 2))], "below": below})
        calls.append(call("sizes", nodes))
    return calls


@lending.fault(
    "aliasing",
    "shelves.py",
    '[[""] * places for _ in range(shelves)]',
    '[[""] * places] * shelves',
    """On the floor plan every book stands on all shelves at once. A room with a single shelf is
    drawn as it should be.""",
)
def aliasing(rng, knobs):
    calls = []
    for _ in range(8):
        shelves, places = rng.randint(2, 4), rng.randint(3, 5)
        spots = rng.sample(range(places), rng.randint(1, 3))
        books = [[rng.randrange(shelves), spot, book(rng)] for spot in spots]
        calls.append(call("floor_plan", shelves, places, books))
    return calls


@lending.fault(
    "float_compare",
    "desk.py",
    "return owed >= BLOCK_AT - 1e-6",
    "return owed >= BLOCK_AT",
    """Some readers who owe exactly the amount from which on nothing may be lent to them still get
    books, others with the same debt do not.""",
)
def float_compare(rng, knobs):
    tenths = round(knobs["BLOCK_AT"] * 10)
    calls = []
    while len(calls) < 16:
        fines, left = [], tenths
        while left:
            fines.append(rng.randint(1, min(left, 4)))
            left -= fines[-1]
        owed = 0.0
        for fine in fines:
            owed += fine / 10
        if owed < knobs["BLOCK_AT"]:
            calls.append(call("blocked", [fine / 10 for fine in fines]))
            # One that owes less must not be blocked.
            calls.append(call("blocked", [fine / 10 for fine in fines[1:]]))
    return calls


@lending.fault(
    "wrong_key",
    "titles.py",
    'merged[record["id"]] = record',
    'merged[record["title"]] = record',
    """After the yearly import, books have vanished from the catalogue: of works that we have in
    several editions, only one edition is left.""",
)
def wrong_key(rng, knobs):
    calls = []
    for _ in range(8):
        ids = rng.sample(range(100, 999), 5)
        title, *others = rng.sample(TITLES, 4)
        old = [{"id": f"r{ids[0]}", "title": title}, {"id": f"r{ids[1]}", "title": others[0]}]
        new = [{"id": f"r{ids[2]}", "title": title}, {"id": f"r{ids[1]}", "title": others[1]}]
        if rng.random() < 0.5:
            old.append({"id": f"r{ids[3]}", "title": others[2]})
        rng.shuffle(old)
        calls.append(call("merge", old, new))
    return calls


@lending.fault(
    "time_zone",
    "dates.py",
    "return datetime.fromisoformat(returned) > datetime.fromisoformat(due)",
    "return returned[:19] > due[:19]",
    """Loans that are given back at our branches abroad are judged wrongly: some count as late that
    were not, others were late and nobody noticed. At home all is well.""",
)
def time_zone(rng, knobs):
    calls = []
    while len(calls) < 12:
        zones = [timezone(timedelta(hours=rng.randint(-10, 12))) for _ in "ab"]
        due = datetime.combine(day(rng), datetime.min.time(), zones[0])
        due += timedelta(hours=rng.randint(8, 20))
        back = (due + timedelta(minutes=rng.randint(-600, 600))).astimezone(zones[1])
        fooled = (back > due) != (back.replace(tzinfo=None) > due.replace(tzinfo=None))
        if fooled or len(calls) % 3 == 0:
            calls.append(call("is_late", due.isoformat(), back.isoformat()))
    return calls


@lending.fault(
    "recursion_base",
    "titles.py",
    "        return [name]\n",
    '        return [node["name"]]\n',
    """The list of our finest subjects should name each in full, but I only see the last word of
    every entry. Which "history" is it, that of music or that of birds?""",
)
def recursion_base(rng, knobs):
    calls = []
    for _ in range(8):
        words = rng.sample(SUBJECTS, 6)
        fine = [{"name": word} for word in words[2 : rng.randint(3, 5)]]
        below = [{"name": words[1], "below": fine}, {"name": words[5], "below": []}]
        rng.shuffle(below)
        calls.append(call("leaves", {"name": words[0], "below": below}))
    return calls


@lending.fault(
    "encoding",
    "titles.py",
    'unicodedata.normalize("NFC", title).casefold()',
    "title.casefold()",
    """Titles that come from the computer of the bindery are not recognised as ours, although they
    look exactly the same on the screen. Only titles with accents are concerned.""",
)
def encoding(rng, knobs):
    calls = []
    for number in range(8):
        title = rng.choice(TITLES) + rng.choice(["", " II", " reprise"])
        pair = [unicodedata.normalize("NFD", title), title.upper() if number % 2 else title]
        rng.shuffle(pair)
        calls.append(call("same_title", *pair))
        calls.append(call("same_title", title, unicodedata.normalize("NFD", title[:-1])))
    return calls


@lending.fault(
    "early_return",
    "titles.py",
    "    return faults\n",
    "        if faults:\n            return faults\n    return faults\n",
    """I have to check the same list again and again: each time only the faults of one record are
    reported. Once I have mended that one, the next one turns up.""",
)
def early_return(rng, knobs):
    calls = []
    for _ in range(8):
        records = []
        for _ in range(rng.randint(3, 5)):
            record = {"id": book(rng), "title": rng.choice(TITLES), "year": rng.randint(1900, 2020)}
            records.append(record)
        first, second = sorted(rng.sample(range(len(records)), 2))
        records[first][rng.choice(["id", "title"])] = ""
        del records[second][rng.choice(["title", "year"])]
        calls.append(call("check", records))
    return calls


@lending.fault(
    "sort_stability",
    "desk.py",
    "sorted(holds, key=lambda hold: -hold[1])",
    "sorted(holds, key=lambda hold: (-hold[1], hold[0]))",
    """Readers who are waiting for a popular book say that others who came later got it before them,
    and that it is always the same people who are lucky. Those with a higher priority are not
    meant.""",
)
def sort_stability(rng, knobs):
    calls = []
    while len(calls) < 8:
        readers = rng.sample(READERS, rng.randint(4, 6))
        holds = [[reader, rng.randint(1, 2)] for reader in readers]
        if sorted(holds, key=lambda hold: -hold[1]) != sorted(holds, key=lambda h: (-h[1], h[0])):
            calls.append(call("waiting", holds))
    return calls


@lending.fault(
    "integer_division",
    "dates.py",
    "return (2 * sum(days) + len(days)) // (2 * len(days))",
    "return sum(days) // len(days)",
    """The average length of our loans in the report is often a day below what I get with my
    calculator. It is never above it.""",
)
def integer_division(rng, knobs):
    calls = []
    while len(calls) < 8:
        days = [rng.randint(1, 40) for _ in range(rng.randint(2, 6))]
        if 2 * (sum(days) % len(days)) >= len(days):
            calls.append(call("average_days", days))
    return calls


@lending.fault(
    "concurrency",
    "desk.py",
    """        try:
            return change()
        finally:
            self._lock.release()
""",
    """        answer = change()
        self._lock.release()
        return answer
""",
    """Every now and then the desk stops working: whatever we try to lend or to take back, it only
    says that somebody else is at the desk, and nobody is. It seems to begin after something had to
    be refused.""",
)
def concurrency(rng, knobs):
    calls = []
    for _ in range(8):
        copies, readers = rng.sample(range(100, 999), 3), rng.sample(READERS, 3)
        commands = [["lend", f"x{copies[0]}", readers[0]], ["lend", f"x{copies[0]}", readers[1]]]
        if rng.random() < 0.5:
            commands.insert(rng.randrange(2), ["take_back", f"x{copies[1]}"])
        commands += [["lend", f"x{copies[2]}", readers[2]], ["loans"]]
        calls.append(call("run", commands))
    return calls
