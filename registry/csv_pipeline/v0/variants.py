"""What varies: the subject, the files' forms, the dirt, and the rules of the summary.

The truth is computed here from clean rows; the files are those rows, made dirty.
"""

import base64
import datetime
import hashlib
import random
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

SUBJECTS = [
    {
        "things": "web shop orders",
        "id": "order",
        "key": "region",
        "amount": "amount",
        "base": "EUR",
        "units": {"EUR": "1", "USD": "0.92", "GBP": "1.17", "SEK": "0.088"},
        "names": ["north", "south", "east", "west", "île-de-france", "zürich", "são paulo"],
        "excluded": ["cancelled", "test"],
    },
    {
        "things": "freight waybills",
        "id": "waybill",
        "key": "depot",
        "amount": "weight",
        "base": "kg",
        "units": {"kg": "1", "g": "0.001", "t": "1000", "lb": "0.45359237"},
        "names": ["aarhus", "bremen", "cádiz", "dunkirk", "esbjerg", "gävle", "køge"],
        "excluded": ["returned", "void"],
    },
    {
        "things": "energy meter readings",
        "id": "reading",
        "key": "site",
        "amount": "energy",
        "base": "kWh",
        "units": {"kWh": "1", "Wh": "0.001", "MWh": "1000", "MJ": "0.2777777778"},
        "names": ["mill", "harbour", "school", "bakery", "depot", "brücke", "café"],
        "excluded": ["faulty", "estimated"],
    },
    {
        "things": "gifts to a charity",
        "id": "gift",
        "key": "campaign",
        "amount": "amount",
        "base": "CHF",
        "units": {"CHF": "1", "EUR": "0.95", "USD": "0.88", "JPY": "0.0059"},
        "names": ["spring", "wells", "reading aloud", "forêt", "night bus", "señales", "roof"],
        "excluded": ["refunded", "pledge"],
    },
]
FORMS = [
    # encoding, separator, decimal mark, date format
    ("utf-8", ",", ".", "%Y-%m-%d"),
    ("cp1252", ";", ",", "%d.%m.%Y"),
    ("utf-8-sig", ";", ",", "%d/%m/%Y"),
    ("utf-16", "\t", ".", "%m/%d/%Y"),
    ("latin-1", "|", ".", "%Y%m%d"),
]
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
DATE_WORDS = {
    "%Y-%m-%d": "year-month-day, as 2024-03-31",
    "%d.%m.%Y": "day.month.year, as 31.03.2024",
    "%d/%m/%Y": "day/month/year, as 31/03/2024",
    "%m/%d/%Y": "month/day/year, as 03/31/2024",
    "%Y%m%d": "year, month, day without anything between, as 20240331",
}
DUPLICATES = {
    "first": "the first one counts (files in the order of FORMS.txt, rows from top to bottom)",
    "last": "the last one counts (files in the order of FORMS.txt, rows from top to bottom)",
    "newest": "the one with the latest `date` counts, the last of them if there are several"
    " (files in the order of FORMS.txt, rows from top to bottom)",
}
ROUNDING = {
    "row-up": (
        "Round each converted amount to {n} decimals, halves away from zero, before adding.",
        ROUND_HALF_UP,
    ),
    "row-even": (
        "Round each converted amount to {n} decimals, halves to the even digit, before adding.",
        ROUND_HALF_EVEN,
    ),
    "total-up": (
        "Add the converted amounts unrounded; round totals to {n} decimals, halves away from zero.",
        ROUND_HALF_UP,
    ),
    "total-down": (
        "Add the converted amounts unrounded; cut totals after {n} decimals.",
        ROUND_DOWN,
    ),
}
ORDERS = {
    "name": "its name (plain comparison of characters)",
    "total": "its total, largest first, equal totals by name (plain comparison of characters)",
    "rows": "its number of rows, largest first, then its name (plain comparison of characters)",
}

# (subject, number of files, forms' start, duplicates, rounding, order, places, rows per file)
TABLE = [
    (0, 1, 0, "first", "total-up", "name", 2, 40),
    (1, 2, 0, "first", "row-up", "name", 2, 40),
    (2, 2, 1, "last", "total-down", "total", 1, 60),
    (3, 3, 0, "last", "row-even", "rows", 2, 60),
    (0, 3, 2, "newest", "row-up", "total", 2, 80),
    (1, 4, 1, "newest", "total-up", "rows", 3, 80),
    (2, 4, 0, "first", "row-even", "total", 2, 120),
    (3, 5, 3, "last", "total-down", "name", 0, 120),
    (0, 5, 4, "newest", "row-even", "rows", 2, 160),
]


def spelled(rng, name):
    """The same name in another spelling."""
    name = rng.choice([name, name, name.upper(), name.title()])
    return rng.choice(["", "", " ", "  "]) + name + rng.choice(["", "", " "])


def make_rows(rng, subject, rules, sizes):
    """Make the files' rows (lists of dicts), with dirt of each kind in each group."""
    start = datetime.date.fromisoformat(rules["start"])
    days = (datetime.date.fromisoformat(rules["end"]) - start).days
    names = rng.sample(subject["names"], min(len(subject["names"]), 3 + len(sizes) // 2))
    units = list(subject["units"])
    number = rng.randint(1000, 5000)
    files = []
    for size in sizes:
        rows = []
        for index in range(size):
            number += rng.randint(1, 3)
            places = rng.choice([0, 1, 2, 3])
            rows.append(
                {
                    "id": f"{subject['id'][:2].upper()}{number}",
                    "key": names[index % len(names)],
                    "date": start + datetime.timedelta(rng.randint(0, days)),
                    "status": rng.choice(["ok", "ok", "OK", "paid", "open"]),
                    "amount": f"{rng.randint(1, 900)}.{rng.randint(0, 10**places - 1):0{places}d}"
                    if places
                    else str(rng.randint(1, 900)),
                    "unit": rng.choice(units),
                }
            )
        files.append(rows)
    for place, rows in enumerate(files):
        for name in names:
            own = [row for row in rows if row["key"] == name]
            own[0]["unit"] = units[1]
            dropped = dict(rng.choice(own), id=own[0]["id"] + "X")
            dropped["status"] = rng.choice(subject["excluded"]).upper()
            outside = dict(rng.choice(own), id=own[0]["id"] + "Y")
            outside["date"] = start + datetime.timedelta(rng.choice([-1, days + 1, days + 40]))
            empty = dict(rng.choice(own), id=own[0]["id"] + "Z", amount="")
            # The same id again, with another amount and date, here or in another file.
            twin = dict(rng.choice(own), amount=str(rng.randint(1000, 2000)))
            twin["date"] = start + datetime.timedelta(rng.randint(0, days))
            for row in (dropped, outside, empty):
                rows.insert(rng.randint(0, len(rows)), row)
            other = files[rng.randrange(place, len(files))]
            other.insert(rng.randint(0, len(other)), twin)
    return files


def summary_of(files, subject, rules):
    """The truth: (rows of the summary, the last one TOTAL)."""
    step = Decimal(1).scaleb(-rules["places"])
    mode = ROUNDING[rules["rounding"]][1]
    kept = {}
    for row in (row for rows in files for row in rows):
        if not rules["start"] <= row["date"].isoformat() <= rules["end"]:
            continue
        if row["status"].lower() in subject["excluded"] or not row["amount"]:
            continue
        held = kept.get(row["id"])
        if held is not None:
            if rules["duplicates"] == "first":
                continue
            if rules["duplicates"] == "newest" and row["date"] < held["date"]:
                continue
        kept[row["id"]] = row
    groups = {}
    for row in kept.values():
        value = Decimal(row["amount"]) * Decimal(subject["units"][row["unit"]])
        if rules["rounding"].startswith("row"):
            value = value.quantize(step, mode)
        count, total = groups.get(row["key"], (0, Decimal(0)))
        groups[row["key"]] = (count + 1, total + value)
    order = {
        "name": lambda item: item[0],
        "rows": lambda item: (-item[1][0], item[0]),
        "total": lambda item: (-item[1][1].quantize(step, mode), item[0]),
    }[rules["order"]]
    lines = [[name, count, total] for name, (count, total) in sorted(groups.items(), key=order)]
    lines.append(["TOTAL", sum(line[1] for line in lines), sum(line[2] for line in lines)])
    return [[name, str(count), str(total.quantize(step, mode))] for name, count, total in lines]


def written(rng, rows, subject, form):
    """One file's bytes: its rows in its form."""
    encoding, separator, mark, dates = form
    columns = ["id", "key", "date", "status", "amount", "unit"]
    rng.shuffle(columns)
    titles = {"id": subject["id"], "key": subject["key"], "amount": subject["amount"]}
    header = [titles.get(name, name) for name in columns]
    header = [rng.choice([name, name.upper(), f" {name}", name.title()]) for name in header]
    lines = [separator.join(header)]
    for row in rows:
        cells = {
            **row,
            "key": spelled(rng, row["key"]),
            "date": row["date"].strftime(dates),
            "amount": row["amount"].replace(".", mark),
        }
        values = [cells[name] for name in columns]
        # A decimal comma in a file separated by commas would need quotes; no form has both.
        lines.append(separator.join(values))
    return ("\n".join(lines) + "\n").encode(encoding)


def make_variant(variant):
    """Return the parameters of one variant."""
    rng = random.Random(f"csv_pipeline:{variant}")
    if variant < len(TABLE):
        which, count, first, duplicates, rounding, order, places, size = TABLE[variant]
    else:
        which, count, first = rng.randrange(4), rng.randint(1, 5), rng.randrange(5)
        duplicates, order = rng.choice(sorted(DUPLICATES)), rng.choice(sorted(ORDERS))
        rounding, places = rng.choice(sorted(ROUNDING)), rng.randint(0, 3)
        size = rng.choice([40, 60, 80, 120])
    subject = SUBJECTS[which]
    start = datetime.date(rng.randint(2019, 2024), rng.randint(1, 9), rng.randint(1, 28))
    rules = {
        "start": start.isoformat(),
        "end": (start + datetime.timedelta(rng.choice([30, 61, 90]))).isoformat(),
        "duplicates": duplicates,
        "rounding": rounding,
        "order": order,
        "places": places,
    }
    files = make_rows(rng, subject, rules, [size] * count)
    forms = [FORMS[(first + place) % len(FORMS)] for place in range(count)]
    contents, words = {}, []
    for place, (rows, form) in enumerate(zip(files, forms, strict=True)):
        name = f"{subject['id']}s-{place + 1}.csv"
        contents[f"data/{name}"] = written(rng, rows, subject, form)
        words.append(
            f"{name}: encoding {form[0]}; separator {SEPARATORS[form[1]]}; "
            f"decimal mark {'point' if form[2] == '.' else 'comma'}; dates {DATE_WORDS[form[3]]}"
        )
    contents["data/FORMS.txt"] = ("\n".join(words) + "\n").encode()
    rates = [f"1 {unit} = {rate} {subject['base']}" for unit, rate in subject["units"].items()]
    return {
        "task": {
            "count": "1 export" if count == 1 else f"{count} exports",
            "things": subject["things"],
            "start": rules["start"],
            "end": rules["end"],
            "excluded": " or ".join(f"`{word}`" for word in subject["excluded"]),
            "amount": subject["amount"],
            "id": subject["id"],
            "key": subject["key"],
            "duplicates": DUPLICATES[duplicates],
            "base": subject["base"],
            "rates": "; ".join(rates[1:]),
            "rounding": ROUNDING[rounding][0].format(n=places),
            "places": str(places),
            "order": ORDERS[order],
        },
        "setup": {path: base64.b64encode(data).decode("ascii") for path, data in contents.items()},
        "secret": {
            "header": [subject["key"], "rows", "total"],
            "summary": summary_of(files, subject, rules),
            "inputs": {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()},
            # For the reference alone: what the task says, as data.
            "rules": {**rules, "forms": [list(form) for form in forms], "subject": subject},
        },
        "difficulty": "easy" if count == 1 else "medium" if count < 4 else "hard",
    }


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
