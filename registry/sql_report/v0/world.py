"""Making the rows of a database, and the statements that create its tables.

A world is a dict of lists of plain tuples in one fixed shape for all trades; `tables` gives it the
trade's names. Amounts are whole cents: prices are multiples of 20 and discounts multiples of 5 %.
"""

import datetime

from .domains import FIRST, LAST, PLACES

# What makes a level's data awkward, beyond what every world has: cancelled events, NULL discounts,
# goods of no group, events of nobody.
TRAPS = {
    "easy": [],
    "medium": ["zones", "copies"],
    "hard": ["zones", "copies", "merged", "tests"],
}
SIZES = {"easy": (24, 150), "medium": (32, 260), "hard": (40, 380)}
OFFSETS = [-600, -480, -300, -210, -180, 0, 60, 120, 330, 345, 540, 600, 720]
EPOCH = datetime.datetime(1970, 1, 1)
MINUTE, DAY = 60, 86400


def seconds(moment):
    return int((moment - EPOCH).total_seconds())


def make_world(rng, domain, level, year):
    """Return the rows of all tables; the years `year - 1` and `year` are covered."""
    traps = TRAPS[level]
    zones = rng.sample(OFFSETS, 4) if "zones" in traps else [0] * 4
    names = rng.sample(PLACES, 4)
    world = {"places": [(at + 1, names[at], zones[at]) for at in range(4)]}
    world["parties"] = make_parties(rng, SIZES[level][0], traps)
    groups = list(domain["goods"])
    world["groups"] = [(at + 1, name) for at, name in enumerate(groups) if name]
    items = [(name, at) for at, group in enumerate(groups) for name in domain["goods"][group]]
    rng.shuffle(items)
    world["items"] = [
        (number, name, at + 1 if groups[at] else None, 20 * rng.randint(12, 400))
        for number, (name, at) in enumerate(items, 101)
    ]
    make_events(rng, domain, world, SIZES[level][1], year)
    make_payments(rng, world, "copies" in traps)
    make_reviews(rng, world, "copies" in traps)
    return world


def make_parties(rng, count, traps):
    """Make (id, name, e-mail, merged into, is test); some share a name."""
    numbers = sorted(rng.sample(range(2000, 2999), count))
    parties = []
    for number in numbers:
        name = rng.choice(FIRST) + " " + rng.choice(LAST)
        if parties and rng.random() < 0.08:
            name = rng.choice(parties)[1]
        email = f"mail{number}@example.org" if rng.random() < 0.7 else None
        parties.append([number, name, email, None, 0])
    chosen = rng.sample(range(count), 12)
    if "merged" in traps:
        # One chain of two steps, and four single ones.
        for old, new in zip(chosen[:5], [chosen[1], chosen[5], *chosen[5:8]], strict=True):
            parties[old][3] = parties[new][0]
            first, last = parties[new][1].split(" ", 1)
            parties[old][1] = f"{first[0]}. {last}"
    if "tests" in traps:
        for at in chosen[8:10]:
            parties[at][4] = 1
    return [tuple(party) for party in parties]


def make_events(rng, domain, world, count, year):
    """Make events (id, party, place, time, status word or None) and their lines."""
    parties = [party[0] for party in world["parties"]]
    middle = seconds(datetime.datetime(year, 1, 1))
    # A few come often, and some have stopped coming.
    weights = [6 if party[4] else rng.choice([1, 1, 2, 3, 6]) for party in world["parties"]]
    stopped = set(rng.sample(parties, len(parties) // 3))
    # Some come late, at any time of the second year.
    starts = dict.fromkeys(parties, 0)
    for party in rng.sample(parties, len(parties) // 2):
        starts[party] = middle + rng.randrange(365 * DAY)
    peaks = {place[0]: rng.sample(range(7, 22), 3) for place in world["places"]}
    start = datetime.datetime(year - 1, 1, 1)
    moments = set()
    while len(moments) < count:
        place, _, offset = rng.choice(world["places"])
        if rng.random() < 0.25:
            # Close to a month's end, where the zone decides the month.
            moment = datetime.datetime(year - rng.randint(0, 1), rng.randint(1, 12), 1)
            moment += datetime.timedelta(minutes=rng.randint(-600, 600))
        else:
            hour = rng.choice(peaks[place]) if rng.random() < 0.6 else rng.randint(6, 22)
            moment = start + datetime.timedelta(
                days=rng.randrange(730), hours=hour, minutes=rng.randrange(60)
            )
        moments.add((seconds(moment) - offset * MINUTE + rng.randrange(60), place))
    events, lines = [], []
    number = 5000 + rng.randint(0, 400)
    prices = {item[0]: item[3] for item in world["items"]}
    # Some go together, so that pairs stand out.
    partners = [rng.sample(sorted(prices), 2) for _ in range(6)]
    for at, place in sorted(moments):
        number += rng.randint(1, 4)
        party = None
        if rng.random() > 0.08:
            party = rng.choices(parties, weights)[0]
            while (at >= middle and party in stopped) or at < starts[party]:
                party = rng.choices(parties, weights)[0]
        undone = rng.choice(domain.get("undone", ["cancelled"])) if rng.random() < 0.24 else None
        events.append((number, party, place, at, undone))
        bought = rng.sample(sorted(prices), rng.choice([1, 1, 2, 3]))
        if rng.random() < 0.45:
            bought = list(dict.fromkeys(rng.choice(partners) + bought[1:]))
        for item in bought:
            unit = max(20, prices[item] + 20 * rng.randint(-3, 3))
            discount = rng.choice([None, None, None, 0, 5, 10, 15, 20, 25, 50])
            lines.append((len(lines) + 1, number, item, rng.choice([1, 1, 2, 3]), unit, discount))
    world["events"], world["lines"] = events, lines


def make_payments(rng, world, copies):
    """Make payments (id, event, reference, cents, state, time): parts, failures, refunds, gaps."""
    totals = {}
    for _, event, _, quantity, unit, discount in world["lines"]:
        amount = quantity * unit * (100 - (discount or 0)) // 100
        totals[event] = totals.get(event, 0) + amount
    rows = []
    for number, _, _, at, undone in world["events"]:
        total, luck = totals[number], rng.random()
        if undone:
            # Paid back, or never paid.
            parts = [(total, "settled"), (-total, "settled")] if luck < 0.4 else []
        elif luck < 0.1:
            parts = [(total, "failed")]
        elif luck < 0.2:
            parts = [(total - 5 * rng.randint(1, max(1, total // 10)), "settled")]
        elif luck < 0.3:
            first = total // 3
            parts = [(first, "settled"), (total - first, "settled")]
        elif luck < 0.4:
            parts = [(total, "failed"), (total, "settled")]
        elif luck < 0.5:
            back = 5 * rng.randint(1, max(1, total // 20))
            parts = [(total, "settled"), (-back, "settled")]
        else:
            parts = [(total, "settled")]
        for count, (cents, state) in enumerate(parts):
            reference = f"R{number}-{count + 1}"
            row = (number, reference, cents, state, at + rng.randint(60, 90000) + count * 90000)
            rows.append(row)
            # An import that ran twice: each in its own row, with the same reference.
            part_only = state == "settled" and abs(cents) < total
            if copies and rng.random() < (0.6 if part_only else 0.1):
                rows.append((*row[:4], row[4] + rng.randint(1, 600)))
    rows.sort(key=lambda row: (row[4], row[1]))
    world["payments"] = [(at + 1, *row) for at, row in enumerate(rows)]


def make_reviews(rng, world, copies):
    """Make reviews (id, event, item, stars or None, time); no two at the same time."""
    rows, times = [], set()
    at_of = {event[0]: event[3] for event in world["events"]}
    taste = {item[0]: rng.choice([2, 3, 4, 5]) for item in world["items"]}
    for _, event, item, _, _, _ in world["lines"]:
        if rng.random() > 0.7:
            continue
        again = 2 if copies and rng.random() < 0.25 else 1
        for _ in range(again):
            at = at_of[event] + rng.randint(3600, 900000)
            while at in times:
                at += 1
            times.add(at)
            stars = min(5, max(1, taste[item] + rng.choice([-1, 0, 0, 1])))
            rows.append((event, item, None if rng.random() < 0.15 else stars, at))
    rng.shuffle(rows)
    world["reviews"] = [(at + 1, *row) for at, row in enumerate(rows)]


def clock_value(at, clock):
    """Return a moment as the trade's database holds it."""
    if at is None or clock == "epoch":
        return at
    moment = EPOCH + datetime.timedelta(seconds=at)
    return moment.strftime("%Y-%m-%d %H:%M:%S" if clock == "iso" else "%Y-%m-%dT%H:%M:%SZ")


def tables(world, domain, level, needed):
    """Return (name, statement, rows) of each table; `needed` names those an easy world keeps."""
    traps, clock = TRAPS[level], domain["clock"]
    places, place = domain["place"]
    parties, party = domain["party"]
    groups, group = domain["group"]
    items, item = domain["item"]
    events, event = domain["event"]
    reviews, _ = domain["review"]
    time = "INTEGER" if clock == "epoch" else "TEXT"
    zone = ["utc_offset_minutes INTEGER NOT NULL"] if "zones" in traps else []
    merged = [f"merged_into INTEGER REFERENCES {parties} (id)"] if "merged" in traps else []
    tests = ["is_test INTEGER NOT NULL DEFAULT 0"] if "tests" in traps else []
    by_status = domain["cancel"] == "status"
    status = "status TEXT NOT NULL" if by_status else f"cancelled_at {time}"

    def state(row):
        if by_status:
            return row[4] or domain["done"]
        return clock_value(row[3] + 7200 + row[0] % 5000 if row[4] else None, clock)

    made = [
        (places, ["name TEXT NOT NULL", *zone], [row[: 2 + len(zone)] for row in world["places"]]),
        (
            parties,
            ["name TEXT NOT NULL", "email TEXT", *merged, *tests],
            [row[: 3 + len(merged) + len(tests)] for row in world["parties"]],
        ),
        (groups, ["name TEXT NOT NULL"], world["groups"]),
        (
            items,
            [
                "name TEXT NOT NULL",
                f"{group}_id INTEGER REFERENCES {groups} (id)",
                "list_cents INTEGER NOT NULL",
            ],
            world["items"],
        ),
        (
            events,
            [
                f"{party}_id INTEGER REFERENCES {parties} (id)",
                f"{place}_id INTEGER NOT NULL REFERENCES {places} (id)",
                f"{domain['at']} {time} NOT NULL",
                status,
            ],
            [(*row[:3], clock_value(row[3], clock), state(row)) for row in world["events"]],
        ),
        (
            domain["line"],
            [
                f"{event}_id INTEGER NOT NULL REFERENCES {events} (id)",
                f"{item}_id INTEGER NOT NULL REFERENCES {items} (id)",
                "quantity INTEGER NOT NULL",
                "unit_cents INTEGER NOT NULL",
                "discount_percent INTEGER",
            ],
            world["lines"],
        ),
        (
            domain["payment"],
            [
                f"{event}_id INTEGER NOT NULL REFERENCES {events} (id)",
                "reference TEXT NOT NULL",
                "cents INTEGER NOT NULL",
                "state TEXT NOT NULL",
                f"entered_at {time} NOT NULL",
            ],
            [(*row[:5], clock_value(row[5], clock)) for row in world["payments"]],
        ),
        (
            reviews,
            [
                f"{event}_id INTEGER NOT NULL REFERENCES {events} (id)",
                f"{item}_id INTEGER NOT NULL REFERENCES {items} (id)",
                "stars INTEGER",
                f"written_at {time} NOT NULL",
            ],
            [(*row[:4], clock_value(row[4], clock)) for row in world["reviews"]],
        ),
    ]
    optional = {domain["payment"]: "payments", reviews: "reviews"}
    result = []
    for name, columns, rows in made:
        if level == "easy" and name in optional and optional[name] not in needed:
            continue
        body = ",\n  ".join(["id INTEGER PRIMARY KEY", *columns])
        result.append([name, f"CREATE TABLE {name} (\n  {body}\n)", [list(row) for row in rows]])
    return result
