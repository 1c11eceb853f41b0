"""Where the twelve kinds of fault fit into `regatta`."""

from datetime import datetime, timedelta, timezone

from .planting import Package, call

regatta = Package(
    "regatta",
    ("config", "entries", "times", "points", "board", "judges"),
    {"DISCARD_FROM": (3, 4, 5, 6), "HEAT_SIZE": (4, 5, 6, 7), "BOARD_BYTES": (8, 10, 12, 13)},
)

BOATS = ("Wad", "Lek", "Ahto", "Brisa", "Calma", "Dufour", "Elan", "Fjord", "Gull", "Heron", "Iris")
COUNTRIES = ("NED", "FIN", "ESP", "GRE", "NZL", "CAN")
CLASSES = ("finn", "laser", "moth", "star", "yngling")
# Letters of one, two, three and four bytes.
LETTERS = ("a", "e", "n", "s", "ö", "é", "ž", "ł", "海", "風", "⛵", "🌊")


@regatta.fault(
    "off_by_one",
    "points.py",
    "if len(points) >= DISCARD_FROM:",
    "if len(points) > DISCARD_FROM:",
    """Last weekend everybody's worst race was still in the sum, although we had just sailed enough
    races for it to be left out. In longer series the sums are right.""",
)
def off_by_one(rng, knobs):
    calls = []
    for number in range(9):
        # Two in three are just long enough; the others guard the length above and below.
        races = knobs["DISCARD_FROM"] + (0 if number % 3 else rng.choice([-1, 1]))
        calls.append(call("net", [rng.randint(1, 15) for _ in range(races)]))
    return calls


@regatta.fault(
    "mutable_default",
    "times.py",
    ("def __init__(self, boat, marks=None):", "self.marks = list(marks or [])"),
    ("def __init__(self, boat, marks=[]):", "self.marks = marks"),
    """According to the tracks, every boat has rounded the marks of all boats, even of those that
    had given up before the first mark. When only one boat is out, its track is right.""",
)
def mutable_default(rng, knobs):
    calls = []
    for _ in range(8):
        boats = rng.sample(BOATS, rng.randint(2, 4))
        events = [[boat, "start"] for boat in boats[:2]]
        for _ in range(rng.randint(4, 8)):
            events.append([rng.choice(boats), rng.choice(["north", "buoy", "pier", "finish"])])
        calls.append(call("roundings", events))
    return calls


@regatta.fault(
    "aliasing",
    "points.py",
    "after.append(dict(sums))",
    "after.append(sums)",
    """The tables after each race, which we print for the history of the series, are all the same:
    each of them is the final one.""",
)
def aliasing(rng, knobs):
    calls = []
    for _ in range(8):
        boats = rng.sample(BOATS, rng.randint(2, 4))
        races = []
        for _ in range(rng.randint(2, 5)):
            rng.shuffle(boats)
            races.append({boat: place for place, boat in enumerate(boats, 1)})
        calls.append(call("tables", races))
    return calls


def added(legs):
    total = 0.0
    for leg in legs:
        total += leg
    return total


@regatta.fault(
    "float_compare",
    "times.py",
    "return abs(_time(one) - _time(other)) < 0.001",
    "return _time(one) == _time(other)",
    """Two crews had the same total time to the tenth of a second on paper, and the program put one
    before the other. Sometimes it does see a dead heat, sometimes it does not.""",
)
def float_compare(rng, knobs):
    calls = []
    while len(calls) < 12:
        tenths = [rng.randint(300, 900) for _ in range(rng.randint(3, 5))]
        other = [tenth + 1 for tenth in tenths[:-1]] + [tenths[-1] - len(tenths) + 1]
        legs = [[tenth / 10 for tenth in boat] for boat in (tenths, other)]
        if added(legs[0]) != added(legs[1]):
            calls.append(call("dead_heat", *legs))
            # A tenth of a second is a difference.
            calls.append(call("dead_heat", legs[0], [legs[1][0] + 0.1, *legs[1][1:]]))
    return calls


@regatta.fault(
    "wrong_key",
    "entries.py",
    'kept[entry["country"], entry["number"]] = entry',
    'kept[entry["number"]] = entry',
    """Boats are missing from the list of entries of our international week. As long as only our own
    boats take part this does not happen.""",
)
def wrong_key(rng, knobs):
    calls = []
    for _ in range(8):
        one, two, three = rng.sample(COUNTRIES, 3)
        numbers = rng.sample(range(1, 400), 2)
        sails = [(one, numbers[0]), (two, numbers[0]), (three, numbers[1]), (one, numbers[1])]
        sails = sails[: rng.randint(2, 4)]
        sails.append(rng.choice(sails))
        rng.shuffle(sails)
        entries = [
            {"country": country, "number": number, "boat": boat}
            for (country, number), boat in zip(sails, rng.sample(BOATS, len(sails)), strict=True)
        ]
        calls.append(call("register", entries))
    return calls


@regatta.fault(
    "time_zone",
    "times.py",
    "passed = datetime.fromisoformat(finish) - datetime.fromisoformat(start)",
    "passed = datetime.fromisoformat(finish[:19]) - datetime.fromisoformat(start[:19])",
    """The times of the long race across the sea are wrong by whole hours, and one boat is said to
    have arrived before it had started. Races in our own bay are timed well.""",
)
def time_zone(rng, knobs):
    calls = []
    for _ in range(8):
        hours = rng.sample(range(-9, 13), 2)
        zones = [timezone(timedelta(hours=hour, minutes=rng.choice([0, 30]))) for hour in hours]
        start = datetime(2024, rng.randint(1, 12), rng.randint(1, 28), 10, tzinfo=zones[0])
        start += timedelta(minutes=rng.randint(0, 900))
        finish = (start + timedelta(seconds=rng.randint(100, 90000))).astimezone(zones[1])
        calls.append(call("elapsed", start.isoformat(), finish.isoformat()))
    return calls


@regatta.fault(
    "recursion_base",
    "entries.py",
    "if len(boats) <= HEAT_SIZE:",
    "if len(boats) < HEAT_SIZE or len(boats) == 1:",
    """We get more heats than we need. Looking closer, it seems that no heat is ever quite full: as
    soon as one would be, it is taken apart.""",
)
def recursion_base(rng, knobs):
    calls = []
    for number in range(9):
        size = knobs["HEAT_SIZE"]
        # Full heats after none, one or two halvings; and some that must stay as they are.
        boats = size * 2 ** (number % 3) - (number > 5)
        names = [f"{rng.choice(BOATS)} {at}" for at in range(boats)]
        calls.append(call("heats", names))
    return calls


@regatta.fault(
    "encoding",
    "board.py",
    'name.encode("utf-8")[:BOARD_BYTES].decode("utf-8", "ignore")\n'
    '    return cut.encode("utf-8").ljust(BOARD_BYTES)',
    'name[:BOARD_BYTES]\n    return cut.encode("utf-8")[:BOARD_BYTES].ljust(BOARD_BYTES)',
    """With some long foreign names of boats the board goes black until it is switched off and on.
    The maker says that we send it half a letter. Short names never do any harm.""",
)
def encoding(rng, knobs):
    calls, wanted = [], knobs["BOARD_BYTES"]
    while len(calls) < 10:
        name = "".join(rng.choice(LETTERS) for _ in range(rng.randint(wanted // 2, wanted)))
        data = name.encode()
        if len(data) > wanted and data[wanted] & 0xC0 == 0x80:
            calls.append(call("frame", name))
            calls.append(call("frame", name[: rng.randint(1, 3)]))
    return calls


@regatta.fault(
    "early_return",
    "entries.py",
    """        if value is None or not lowest <= value <= highest:
            return False
""",
    """        return value is not None and lowest <= value <= highest
""",
    """A boat with a mast that is far too high has been measured as "keeps the limits". Other boats
    with a single fault were refused as they should be.""",
)
def early_return(rng, knobs):
    calls = []
    for number in range(9):
        names = sorted(rng.sample(["beam", "draught", "length", "mast", "sail", "weight"], 3))
        limits = {name: [rng.randint(2, 5), rng.randint(6, 9)] for name in names}
        boat = {name: rng.randint(*limits[name]) for name in names}
        if number % 3:
            wrong = rng.choice(names[1:])
            boat[wrong] = rng.choice([limits[wrong][0] - 1, limits[wrong][1] + 1])
            if number % 3 == 2:
                del boat[wrong]
        calls.append(call("measured", boat, limits))
    return calls


@regatta.fault(
    "sort_stability",
    "entries.py",
    """    by_number = sorted(rows, key=lambda row: row[1])
    return sorted(by_number, key=lambda row: row[0])
""",
    """    by_class = sorted(rows, key=lambda row: row[0])
    return sorted(by_class, key=lambda row: row[1])
""",
    """In the start lists of days on which several classes sail, the classes are mixed up. The list
    of a single class is right.""",
)
def sort_stability(rng, knobs):
    calls = []
    for _ in range(8):
        classes = rng.sample(CLASSES, rng.randint(2, 3))
        numbers = [rng.randint(1, 30) for _ in range(rng.randint(5, 7))]
        # The highest number sails in the first class; one sail is there twice.
        rows = [[rng.choice(classes), number, rng.choice(BOATS)] for number in numbers]
        rows += [[min(classes), 31, rng.choice(BOATS)], [max(classes), 2, rng.choice(BOATS)]]
        rows.append([*rng.choice(rows)[:2], rng.choice(BOATS)])
        rng.shuffle(rows)
        calls.append(call("start_list", rows))
    return calls


@regatta.fault(
    "integer_division",
    "points.py",
    "return (20 * sum(points) + len(points)) // (2 * len(points))",
    "return sum(points) // len(points) * 10",
    """A boat that was given its average as redress got less than its average. It only fits when the
    average is a whole number.""",
)
def integer_division(rng, knobs):
    calls = []
    while len(calls) < 8:
        points = [rng.randint(1, 20) for _ in range(rng.randint(2, 8))]
        if sum(points) % len(points):
            calls.append(call("redress", points))
    return calls


@regatta.fault(
    "concurrency",
    "judges.py",
    """        mark = await _asked(wanted)
        totals[boat] = totals.get(boat, 0) + mark
""",
    """        totals[boat] = totals.get(boat, 0) + await _asked(wanted)
""",
    """With one judge the sums of the marks are right. With several, marks get lost: the sum of a
    boat is less than what the judges have on their slips.""",
)
def concurrency(rng, knobs):
    calls = []
    for _ in range(8):
        boats = rng.sample(BOATS, 3)
        judges = []
        for _ in range(rng.randint(2, 4)):
            # All begin with the same boat, so that they do meet.
            rest = rng.sample(boats[1:], 2)
            judges.append([[boat, rng.randint(1, 9)] for boat in [boats[0], *rest]])
        calls.append(call("collect", judges))
    return calls
