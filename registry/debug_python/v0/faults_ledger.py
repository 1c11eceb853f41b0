"""Where the twelve kinds of fault fit into `ledger`."""

from datetime import datetime, timedelta, timezone

from .planting import Package, call

ledger = Package(
    "ledger",
    ("config", "money", "accounts", "files", "book", "tellers"),
    {"PAGE_SIZE": (3, 4, 5, 6, 7), "BANK_OFFSET_HOURS": (1, 2, 3, 9, -5, -8)},
)

WORDS = ("home", "work", "garden", "travel", "music", "books", "bike", "gifts")
NAMES = ("café", "müller", "señor", "brücke", "žena", "été", "日本", "smörgås")


def noon(rng):
    return f"2024-{rng.randint(1, 12):02d}-{rng.randint(2, 27):02d}T12:00:00+00:00"


def amount(rng):
    return f"{rng.randint(1, 400)}.{rng.randint(0, 99):02d}"


@ledger.rest
def rest(rng, knobs):
    cents = [rng.randint(-9999, 9999) for _ in range(2)]
    names = [":".join(rng.sample(WORDS, rng.randint(1, 3))) for _ in range(4)]
    commands = [["post", rng.choice(WORDS), amount(rng), noon(rng)] for _ in range(4)]
    return [
        *(call("show", value) for value in (*cents, -rng.randint(1, 99))),
        *(call("parse", text) for text in (amount(rng), f"-{amount(rng)}", f"{rng.random()}")),
        call("depth", names[0]),
        call("children", names, names[0].split(":")[0]),
        call("write", ["account", "amount"], [{"account": rng.choice(NAMES)}]),
        call("run", [*commands, ["balances"]]),
    ]


@ledger.fault(
    "off_by_one",
    "book.py",
    "end = min(first + PAGE_SIZE, len(numbers))",
    "end = min(first + PAGE_SIZE, len(numbers) - 1)",
    """The posting that was entered last is missing from the statement of its account. It shows up
    as soon as somebody enters another one, and then that one is missing.""",
)
def off_by_one(rng, knobs):
    calls = []
    for _ in range(8):
        account, other = rng.sample(WORDS, 2)
        page = rng.randint(1, 3)
        rows = (page - 1) * knobs["PAGE_SIZE"] + rng.randint(1, knobs["PAGE_SIZE"])
        commands = [["post", account, amount(rng), noon(rng)] for _ in range(rows)]
        commands.insert(rng.randrange(rows), ["post", other, amount(rng), noon(rng)])
        calls.append(call("run", [*commands, ["statement", account, page]]))
    return calls


@ledger.fault(
    "mutable_default",
    "book.py",
    ("when, tags=None):", "[] if tags is None else list(tags),"),
    ("when, tags=[]):", "tags,"),
    """When I tag one posting that had no tags so far, lots of other postings carry the tag as
    well. I never touched those.""",
)
def mutable_default(rng, knobs):
    calls = []
    for _ in range(8):
        count, tag = rng.randint(2, 4), rng.choice(WORDS)
        commands = [["post", rng.choice(WORDS), amount(rng), noon(rng)] for _ in range(count)]
        commands += [["tag", rng.randint(1, count), tag], ["tagged", tag]]
        calls.append(call("run", commands))
    return calls


@ledger.fault(
    "aliasing",
    "book.py",
    'return [dict(entry, tags=list(entry["tags"])) for entry in self._entries]',
    "return [dict(entry) for entry in self._entries]",
    """We list all postings in the evening and keep the list for the auditors. Days later, the kept
    list is no longer what it was: it shows tags that were added after it had been made.""",
)
def aliasing(rng, knobs):
    calls = []
    for _ in range(8):
        first, second = rng.sample(WORDS, 2)
        commands = [["post", rng.choice(WORDS), amount(rng), noon(rng), [first]] for _ in "ab"]
        commands += [["entries"], ["tag", rng.randint(1, 2), second]]
        calls.append(call("run", commands))
    return calls


def uneven_sums(rng):
    """Fractions in hundredths that add up to 1, but not in floating point."""
    while True:
        cuts = sorted(rng.sample(range(1, 100), rng.randint(2, 6)))
        parts = [(high - low) / 100 for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]
        added = 0.0
        for part in parts:
            added += part
        if added != 1:
            return parts


@ledger.fault(
    "float_compare",
    "money.py",
    "if abs(sum_of_all - 1) > 1e-6:",
    "if sum_of_all != 1:",
    """Sharing a bill by fractions is refused every now and then with "the fractions must add up to
    1". I added them up by hand, twice: they do.""",
)
def float_compare(rng, knobs):
    return [call("allocate", rng.randint(10, 900) * 100, uneven_sums(rng)) for _ in range(8)]


@ledger.fault(
    "wrong_key",
    "money.py",
    "key = (currency, day)",
    "key = currency",
    """The first exchange rate that I look up is right. When I then ask for the same currency on
    another day, I get the rate of the day that I had asked for first.""",
)
def wrong_key(rng, knobs):
    calls = []
    for _ in range(8):
        name, other = rng.sample(("USD", "SEK", "JPY", "GBP", "CHF"), 2)
        months = sorted(rng.sample(range(1, 12), 3))
        cents = rng.sample(range(50, 150), 3)
        rows = [[name, f"2024-{m:02d}-10", c] for m, c in zip(months, cents, strict=True)]
        rows.insert(1, [other, "2024-01-02", 77])
        days = [f"2024-{month:02d}-{rng.randint(10, 28)}" for month in months]
        rng.shuffle(rows)
        rng.shuffle(days)
        calls.append(call("quotes", rows, [[name, day] for day in days[:2]]))
    return calls


@ledger.fault(
    "time_zone",
    "book.py",
    "return moment.astimezone(BANK).date().isoformat()",
    "return moment.date().isoformat()",
    """Postings that partners in other parts of the world enter around midnight end up on the wrong
    day in our book, sometimes a day early and sometimes a day late.""",
)
def time_zone(rng, knobs):
    calls = []
    bank = timezone(timedelta(hours=knobs["BANK_OFFSET_HOURS"]))
    while len(calls) < 8:
        zone = timezone(timedelta(hours=rng.randint(-9, 12), minutes=rng.choice((0, 0, 30))))
        at = datetime(2024, rng.randint(1, 12), rng.randint(1, 28), tzinfo=zone)
        at += timedelta(minutes=rng.randint(-300, 300))
        if at.astimezone(bank).date() != at.date():
            calls.append(call("booking_day", at.isoformat()))
    return calls


@ledger.fault(
    "recursion_base",
    "accounts.py",
    "        return balances.get(name, 0)\n    return balances",
    "        return 0\n    return balances",
    """Totals of accounts come out far too small. What has been booked on the most detailed accounts
    does not seem to count at all.""",
)
def recursion_base(rng, knobs):
    calls = []
    for _ in range(8):
        top, *words = rng.sample(WORDS, 5)
        cents = [rng.randint(100, 9000) for _ in range(5)]
        names = [f"{top}:{words[0]}", f"{top}:{words[0]}:{words[1]}", f"{top}:{words[2]}"]
        names += [f"{top}:{words[2]}:{words[3]}:{words[1]}", rng.choice([top, words[0]])]
        balances = dict(zip(names, cents, strict=True))
        calls.append(call("total", balances, rng.choice([top, names[0], names[2]])))
    return calls


@ledger.fault(
    "encoding",
    "files.py",
    'data.decode("utf-8-sig")',
    'data.decode("utf-8")',
    """Files from the new cash desk cannot be used: the first column is not found under its name,
    although it looks right on the screen. Files from the old one are fine.""",
)
def encoding(rng, knobs):
    calls = []
    for _ in range(8):
        first, second = rng.sample(WORDS, 2)
        lines = [f"{first};{second}"]
        lines += [f"{rng.choice(NAMES)};{amount(rng)}" for _ in range(rng.randint(1, 3))]
        calls.append(call("read", ("\ufeff" + "\n".join(lines) + "\n").encode()))
    return calls


@ledger.fault(
    "early_return",
    "files.py",
    "            continue\n        fields = ",
    "            return rows\n        fields = ",
    """A file with a few hundred postings was read without any complaint, but only the first part of
    them arrived. The people who make these files group the postings to make them readable.""",
)
def early_return(rng, knobs):
    calls = []
    for _ in range(8):
        lines = [f"{rng.choice(NAMES)} ; {amount(rng)}" for _ in range(rng.randint(2, 5))]
        gap = rng.choice(["", "   ", "# " + rng.choice(WORDS)])
        lines.insert(rng.randrange(len(lines)), gap)
        calls.append(call("read", "\n".join(["account;amount", *lines]).encode()))
    return calls


@ledger.fault(
    "sort_stability",
    "book.py",
    'order = sorted(self._entries, key=lambda entry: -abs(entry["cents"]))',
    'order = sorted(self._entries, key=lambda entry: abs(entry["cents"]))[::-1]',
    """The list of the largest postings is not what our rules ask for. The amounts are in the right
    order, but the postings that share an amount are not.""",
)
def sort_stability(rng, knobs):
    calls = []
    for _ in range(8):
        pool = [amount(rng) for _ in range(2)]
        signs = [rng.choice(["", "-"]) + pool[number % 2] for number in range(rng.randint(4, 7))]
        commands = [["post", rng.choice(WORDS), text, noon(rng)] for text in signs]
        calls.append(call("run", [*commands, ["largest", rng.randint(2, len(signs))]]))
    return calls


@ledger.fault(
    "integer_division",
    "money.py",
    "share, rest = divmod(cents, ways)",
    "share, rest = cents // ways, 0",
    """When we split an amount among several people, some cents get lost. For amounts that can be
    divided evenly all is well.""",
)
def integer_division(rng, knobs):
    ways = [rng.randint(3, 9) for _ in range(8)]
    return [
        call("split", rng.randint(10, 900) * way + rng.randint(1, way - 1), way) for way in ways
    ]


@ledger.fault(
    "concurrency",
    "tellers.py",
    """    async with lock:
        available = balances.get(source, 0)
""",
    """    available = balances.get(source, 0)
    async with lock:
""",
    """On busy days money appears out of nothing. A single transfer is always right; it happens when
    several transfers that concern the same account are under way.""",
)
def concurrency(rng, knobs):
    calls = []
    for _ in range(8):
        names = rng.sample(WORDS, 3)
        balances = {name: rng.randint(50, 100) for name in names}
        orders = [[names[0], names[1], rng.randint(20, 50)] for _ in range(3)]
        orders.insert(rng.randrange(3), [names[1], names[2], rng.randint(10, 40)])
        calls.append(call("transfer_all", balances, orders))
    return calls
