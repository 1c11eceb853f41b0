"""Where the twelve kinds of fault fit into `parcels`."""

from datetime import datetime, timedelta, timezone

from .planting import Package, call

parcels = Package(
    "parcels",
    ("config", "prices", "labels", "scans", "depot", "couriers"),
    {
        "STEP_GRAMS": (250, 300, 400, 500),
        "STEP_CENTS": (90, 120, 135),
        "DEPOT_OFFSET_HOURS": (1, 2, 8, -5, -7),
        "CLOSING_HOUR": (15, 16, 17, 18),
    },
)

PLACES = ("Arles", "Brno", "Cork", "Dover", "Essen", "Faro", "Genoa", "Haarlem", "Izmir", "Lyon")
SERVICES = ("fragile", "upright", "signed", "express", "insured", "cold")
# What the printer has, all of it beyond ASCII; those of the second line not in Latin-1.
COMMON = "äöüéèñçßøå"
SPECIAL = "€–—„“”Ššžœ™"


def code(rng):
    return rng.choice("ABCDEF") + str(rng.randint(1, 9999))


def codes(rng, count):
    found = {}
    while len(found) < count:
        found[code(rng)] = True
    return list(found)


@parcels.fault(
    "off_by_one",
    "prices.py",
    "steps = (grams - 1) // STEP_GRAMS + 1",
    "steps = grams // STEP_GRAMS + 1",
    """A customer who weighs everything to the gram says that we charge some parcels too much. All
    others who checked their bills found them right.""",
)
def off_by_one(rng, knobs):
    calls = []
    for number, steps in enumerate(rng.sample(range(1, 25), 12)):
        whole = knobs["STEP_GRAMS"] * steps
        # The others guard both sides of the step.
        calls.append(call("price", whole + (0 if number % 3 else rng.choice([-1, 1]))))
    return calls


@parcels.fault(
    "mutable_default",
    "labels.py",
    ("services=(), fields=None):", "result = dict(fields or {})"),
    ("services=(), fields={}):", "result = fields"),
    """When labels are made for several parcels, all of them carry the code of the last one, and
    services that were ordered for others. One at a time works, at least in the morning.""",
)
def mutable_default(rng, knobs):
    calls = []
    for _ in range(8):
        rows = [
            [one, rng.sample(SERVICES, rng.randint(0, 2))] for one in codes(rng, rng.randint(2, 4))
        ]
        calls.append(call("labels", rows))
    return calls


@parcels.fault(
    "aliasing",
    "depot.py",
    "state = {depot: list(codes) for depot, codes in state.items()}",
    "state = dict(state)",
    """The history of a day shows every parcel where it was in the evening, from the morning on, as
    if it had never moved.""",
)
def aliasing(rng, knobs):
    calls = []
    for _ in range(8):
        places = rng.sample(PLACES, 3)
        state = {place: codes(rng, 2) for place in places}
        there = {one: place for place, ones in state.items() for one in ones}
        moves = []
        for one in rng.sample(sorted(there), rng.randint(1, 4)):
            target = rng.choice([place for place in places if place != there[one]])
            moves.append([one, there[one], target])
        calls.append(call("history", state, moves))
    return calls


@parcels.fault(
    "float_compare",
    "prices.py",
    "if abs(worth - wanted) < 0.005:",
    "if worth == wanted:",
    """Letters with the right stamps on them come back as "short" or "over", though not all of them.
    It seems to depend on which stamps are used.""",
)
def float_compare(rng, knobs):
    calls = []
    while len(calls) < 12:
        cents = [rng.choice([5, 10, 20, 35, 60, 85, 110]) for _ in range(rng.randint(3, 6))]
        worth = 0.0
        for cent in cents:
            worth += cent / 100
        wanted = sum(cents) / 100
        if worth != wanted:
            stamps = [cent / 100 for cent in cents]
            calls.append(call("franked", stamps, wanted))
            # A cent is a difference.
            calls.append(call("franked", stamps, (sum(cents) + rng.choice([-1, 1])) / 100))
    return calls


@parcels.fault(
    "wrong_key",
    "scans.py",
    "for code, _, place in sorted(scans, key=lambda scan: scan[1]):",
    "for code, _, place in sorted(scans, key=lambda scan: scan[2]):",
    """The search says for many parcels that they are in places that they have left days ago. For
    parcels that were scanned only once it is right.""",
)
def wrong_key(rng, knobs):
    calls = []
    for _ in range(8):
        scans = []
        for one in codes(rng, 3):
            days = rng.sample(range(1, 29), 3)
            # The last place is never the last one of the alphabet.
            places = sorted(rng.sample(PLACES, 3))
            first, *others = sorted(days, reverse=True)
            rng.shuffle(others)
            for day, place in zip([first, *others], places, strict=True):
                hour, minute = rng.randint(0, 23), rng.randint(0, 59)
                scans.append([one, f"2024-05-{day:02d} {hour:02d}:{minute:02d}", place])
        rng.shuffle(scans)
        calls.append(call("last_seen", scans))
    return calls


@parcels.fault(
    "time_zone",
    "scans.py",
    "moment = datetime.fromisoformat(handed_over).astimezone(DEPOT)",
    "moment = datetime.fromisoformat(handed_over)",
    """For parcels from our agents in far-away countries the promised day of departure is often
    wrong: some are promised a day too early, others a day too late. The agents' clocks are right,
    and so is the depot's.""",
)
def time_zone(rng, knobs):
    calls = []
    depot = timezone(timedelta(hours=knobs["DEPOT_OFFSET_HOURS"]))

    def leaves(moment):
        return moment.date() + timedelta(days=moment.hour >= knobs["CLOSING_HOUR"])

    while len(calls) < 8:
        zone = timezone(timedelta(hours=rng.randint(-9, 12), minutes=rng.choice((0, 0, 45))))
        moment = datetime(2024, rng.randint(1, 12), rng.randint(1, 28), tzinfo=zone)
        moment += timedelta(minutes=rng.randint(0, 1439))
        if leaves(moment) != leaves(moment.astimezone(depot)):
            calls.append(call("leaves_on", moment.isoformat()))
    return calls


@parcels.fault(
    "recursion_base",
    "depot.py",
    """    if node["name"] == place:
        return [place]
    for child""",
    """    if node["name"] == place and not node.get("below"):
        return [place]
    for child""",
    """We are told that there is no way to some of our depots, although parcels go through them
    every day. To the little depots at the end of the lines there always is one.""",
)
def recursion_base(rng, knobs):
    calls = []
    for number in range(9):
        names = rng.sample(PLACES, 6)
        leaf = [{"name": name} for name in names[3:5]]
        middle = {"name": names[1], "below": leaf}
        other = {"name": names[2], "below": [{"name": names[5]}]}
        below = [middle, other]
        rng.shuffle(below)
        place = rng.choice(names[:3] if number % 3 else names[3:])
        calls.append(call("path", {"name": names[0], "below": below}, place))
    return calls


@parcels.fault(
    "encoding",
    "labels.py",
    'text.encode("cp1252", "replace")',
    'text.encode("latin-1", "replace")',
    """Some of our customers find question marks in their names on the labels, and so does whoever
    has to pay cash on delivery in euros. The printer's own test page is fine.""",
)
def encoding(rng, knobs):
    calls = []
    for _ in range(8):
        text = [rng.choice("abcdeklmnorstu ") for _ in range(rng.randint(4, 10))]
        text += rng.sample(SPECIAL, 2) + rng.sample(COMMON, 2) + rng.sample("海ωлž☂", 1)
        rng.shuffle(text)
        calls.append(call("print_bytes", "".join(text)))
    return calls


@parcels.fault(
    "early_return",
    "depot.py",
    "            continue\n        room -= litres",
    "            return loaded\n        room -= litres",
    """Vans leave half empty, and there were parcels that would have fitted in. Loading seems to be
    over as soon as a bulky one turns up.""",
)
def early_return(rng, knobs):
    calls = []
    for _ in range(8):
        room = rng.randint(60, 120)
        small = [[one, rng.randint(5, 12)] for one in codes(rng, rng.randint(4, 6))]
        small.insert(rng.randrange(len(small) - 1), [code(rng) + "-bulky", room + 1])
        calls.append(call("load", small, room))
    return calls


@parcels.fault(
    "sort_stability",
    "depot.py",
    (
        "heapq.heappush(waiting, (priority, number, code))",
        "[heapq.heappop(waiting)[2] for _ in parcels]",
    ),
    (
        "heapq.heappush(waiting, (priority, code, number))",
        "[heapq.heappop(waiting)[1] for _ in parcels]",
    ),
    """Some parcels wait for days at the depot while others that came in after them, with the same
    priority, are sent. Strangely, it is always customers whose codes begin with late letters who
    complain.""",
)
def sort_stability(rng, knobs):
    calls = []
    while len(calls) < 8:
        rows = [[one, rng.randint(1, 2)] for one in codes(rng, rng.randint(4, 7))]
        if sorted(rows, key=lambda row: row[1]) != sorted(rows, key=lambda row: (row[1], row[0])):
            calls.append(call("dispatch", rows))
    return calls


@parcels.fault(
    "integer_division",
    "prices.py",
    "return cents - cents * percent // 100",
    "return cents - cents // 100 * percent",
    """Customers with a discount get less of it than was agreed; for cheap parcels they get none at
    all. For prices without odd cents the discount is right.""",
)
def integer_division(rng, knobs):
    calls = []
    while len(calls) < 8:
        cents, percent = rng.randint(50, 2000), rng.randint(3, 40)
        if cents * percent // 100 != cents // 100 * percent:
            calls.append(call("discounted", cents, percent))
    return calls


@parcels.fault(
    "concurrency",
    "couriers.py",
    """        code = waiting.pop(0)
        await _ride(code)
        delivered.append(code)
""",
    """        code = waiting[0]
        await _ride(code)
        if code in waiting:
            waiting.remove(code)
        delivered.append(code)
""",
    """Since we have more than one courier, some parcels are entered as delivered twice. The
    couriers say that they did meet at the door.""",
)
def concurrency(rng, knobs):
    return [call("deliver_all", codes(rng, rng.randint(4, 8)), rng.randint(2, 4)) for _ in range(8)]
