"""What varies: the subject, the files' forms, the dirt, and the rules of the summary.

Easy: one file, little dirt. Medium: two or three files in different forms, with marks for
thousands, quoted names, comments and subtotals. Hard: four or five files, amounts below zero,
headers within the data, other names for some groups, and rates that change by the month.

The truth is computed here from clean rows; the files are those rows, made dirty.
"""

import base64
import datetime
import hashlib
import json
import random
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import lru_cache

from .dirty import file_bytes, make_rows
from .subjects import DATES, FORMS, MARKS, SUBJECTS

DUPLICATES = {
    "first": "the first one counts (files in the order of their numbers, rows from top to bottom)",
    "last": "the last one counts (files in the order of their numbers, rows from top to bottom)",
    "newest": "the one with the latest `date` counts, the last of them if there are several"
    " (files in the order of their numbers, rows from top to bottom)",
}
ROUNDING = {
    "row-up": (
        "Round each converted amount to {n} decimals, halves away from zero, before anything else "
        "is done with it; round the results in the same way.",
        ROUND_HALF_UP,
    ),
    "row-even": (
        "Round each converted amount to {n} decimals, halves to the even digit, before anything "
        "else is done with it; round the results in the same way.",
        ROUND_HALF_EVEN,
    ),
    "end-up": (
        "Do not round converted amounts; round the results to {n} decimals, halves away from zero.",
        ROUND_HALF_UP,
    ),
    "end-down": (
        "Do not round converted amounts; cut the results after {n} decimals, towards zero.",
        ROUND_DOWN,
    ),
}
AGGREGATES = {
    "total": "the sum of their amounts",
    "average": "the average of their amounts (their sum divided by their number)",
    "largest": "the largest of their amounts",
}
ORDERS = {
    "name": "name",
    "rows": "the number of rows, largest first, and then by name",
    "value": "`{column}`, largest first, and then by name",
}
DIRT = {
    "easy": (),
    "medium": ("quotes", "thousands", "comments", "subtotals"),
    "hard": (
        "quotes",
        "thousands",
        "comments",
        "subtotals",
        "brackets",
        "headers",
        "aliases",
        "monthly",
    ),
}
TOLD = {
    "quotes": "A cell that holds the separator is quoted with double quotes, as CSV files do it.",
    "thousands": "Numbers from 1000 on have a thousands mark, which `FORMS.txt` names, too.",
    "comments": "Empty lines, and lines that begin with `#`, are no rows.",
    "subtotals": "A line with `SUBTOTAL` as its `{id}` only sums up lines above it: it is no row.",
    "brackets": "An amount in round brackets is below zero: `(12.5)` is -12.5.",
    "headers": "The line of column names may come again within a file: that is no row.",
    "aliases": "Some values of `{key}` have other names, which `data/names.csv` lists (UTF-8, "
    "comma; `other` is to be read as `name`).",
}

# (difficulty, subject, number of files, forms' start, duplicates, rounding, aggregate, order,
# decimals, rows per file)
TABLE = [
    ("easy", 0, 1, 0, "first", "end-up", "total", "name", 2, 40),
    ("easy", 1, 1, 1, "last", "row-up", "total", "rows", 1, 50),
    ("easy", 2, 1, 3, "newest", "end-down", "largest", "value", 2, 50),
    ("easy", 3, 1, 4, "first", "row-even", "average", "name", 2, 60),
    ("medium", 1, 2, 0, "first", "row-up", "total", "name", 2, 40),
    ("medium", 2, 2, 1, "last", "end-down", "average", "value", 1, 60),
    ("medium", 3, 3, 0, "last", "row-even", "total", "rows", 2, 60),
    ("medium", 0, 3, 2, "newest", "row-up", "largest", "value", 0, 60),
    ("hard", 1, 4, 1, "newest", "end-up", "total", "rows", 3, 80),
    ("hard", 0, 4, 0, "first", "row-even", "total", "value", 2, 100),
    ("hard", 3, 5, 3, "last", "end-down", "average", "name", 0, 100),
    ("hard", 0, 5, 4, "newest", "row-up", "largest", "rows", 2, 100),
]


def drawn(rng):
    """Draw a row as those of the table."""
    level = rng.choice(["easy", "medium", "medium", "hard", "hard"])
    count = {"easy": 1, "medium": rng.randint(2, 3), "hard": rng.randint(4, 5)}[level]
    return (
        level,
        rng.randrange(len(SUBJECTS)),
        count,
        rng.randrange(len(FORMS)),
        rng.choice(sorted(DUPLICATES)),
        rng.choice(sorted(ROUNDING)),
        rng.choice(sorted(AGGREGATES)),
        rng.choice(sorted(ORDERS)),
        rng.randint(0, 3),
        rng.choice([40, 60, 80]),
    )


def rates_of(rng, subject, months, monthly):
    """Return {unit: {month: rate as text}}; without `monthly` all months have the same."""
    rates = {}
    for unit, rate in subject["units"].items():
        places = -Decimal(rate).as_tuple().exponent
        rates[unit] = dict.fromkeys(months, rate)
        if monthly and unit != subject["base"]:
            for month in months:
                factor = Decimal(rng.randint(80, 120)).scaleb(-2)
                rates[unit][month] = str(round(Decimal(rate) * factor, places + 1))
    return rates


def summary_of(files, subject, rules):
    """Return the right lines of the summary, that of all rows last."""
    step, mode = Decimal(1).scaleb(-rules["places"]), ROUNDING[rules["rounding"]][1]
    kept = {}
    for row in (row for rows in files for row in rows):
        if not rules["start"] <= row["date"].isoformat() <= rules["end"]:
            continue
        if row["status"].lower() in subject["excluded"] or row["amount"] is None:
            continue
        held = kept.get(row["id"])
        if held and rules["duplicates"] == "first":
            continue
        if held and rules["duplicates"] == "newest" and row["date"] < held["date"]:
            continue
        kept[row["id"]] = row
    groups, everything = {}, []
    for row in kept.values():
        rate = rules["rates"][row["unit"]][row["date"].isoformat()[:7]]
        value = row["amount"] * Decimal(rate)
        if rules["rounding"].startswith("row"):
            value = value.quantize(step, mode)
        groups.setdefault(row["key"], []).append(value)
        everything.append(value)

    def line(name, values):
        total = sum(values, Decimal(0))
        result = {"total": total, "average": total / len(values), "largest": max(values)}
        value = result[rules["aggregate"]].quantize(step, mode)
        # Never "-0.00".
        return [name, len(values), value if value else abs(value)]

    order = {
        "name": lambda cells: cells[0],
        "rows": lambda cells: (-cells[1], cells[0]),
        "value": lambda cells: (-cells[2], cells[0]),
    }[rules["order"]]
    lines = sorted((line(name, values) for name, values in groups.items()), key=order)
    return [[str(cell) for cell in cells] for cells in [*lines, line("TOTAL", everything)]]


def forms_text(subject, forms, dirt):
    """Return FORMS.txt."""
    lines = []
    for number, (encoding, separator, decimal, thousands, dates, _) in enumerate(forms, 1):
        marks = f"decimal mark {MARKS[decimal]}"
        if "thousands" in dirt:
            marks += f"; thousands mark {MARKS[thousands]}"
        lines.append(
            f"{subject['id']}s-{number}.csv: encoding {encoding}; separator {MARKS[separator]}; "
            f"{marks}; dates {DATES[dates]}\n"
        )
    return "".join(lines)


def convert_text(subject, monthly):
    """Return what the task says about units."""
    if monthly:
        return (
            "`data/rates.csv` (UTF-8, comma) says what one `unit` is worth in the `month` of the "
            "row's `date`."
        )
    rates = [f"1 {unit} is {rate}" for unit, rate in subject["units"].items() if rate != "1"]
    return "; ".join(rates) + "."


@lru_cache(maxsize=64)
def _variant(variant):
    rng = random.Random(f"csv_pipeline:{variant}")
    row = TABLE[variant] if variant < len(TABLE) else drawn(rng)
    level, which, count, first, duplicates, rounding, aggregate, order, places, size = row
    subject, dirt = SUBJECTS[which], set(DIRT[level])
    if not subject["monthly"]:
        dirt.discard("monthly")
    start = datetime.date(rng.randint(2019, 2024), rng.randint(1, 9), rng.randint(1, 28))
    end = start + datetime.timedelta(rng.choice([30, 61, 90]))
    months = sorted({(start + datetime.timedelta(n)).isoformat()[:7] for n in range(91)})
    rules = {
        "start": start.isoformat(),
        "end": end.isoformat(),
        "duplicates": duplicates,
        "rounding": rounding,
        "aggregate": aggregate,
        "order": order,
        "places": places,
        "rates": rates_of(rng, subject, months, "monthly" in dirt),
    }
    files = make_rows(rng, subject, rules, [size] * count, dirt)
    names = sorted({row["key"] for rows in files for row in rows})
    aliases = {}
    if "aliases" in dirt:
        aliases = {name: [f"{name[:2]}{rng.randint(10, 99)}"] for name in rng.sample(names, 2)}
    forms = [FORMS[(first + place) % len(FORMS)] for place in range(count)]
    contents = {"data/FORMS.txt": forms_text(subject, forms, dirt).encode()}
    for number, (rows, form) in enumerate(zip(files, forms, strict=True), 1):
        data = file_bytes(rng, rows, subject, form, dirt, aliases)
        contents[f"data/{subject['id']}s-{number}.csv"] = data
    if aliases:
        pairs = [f'{other},"{name}"\n' for name, others in aliases.items() for other in others]
        contents["data/names.csv"] = ("other,name\n" + "".join(pairs)).encode()
    if "monthly" in dirt:
        rates = [
            f"{unit},{month},{rate}\n"
            for unit, by_month in rules["rates"].items()
            for month, rate in by_month.items()
        ]
        contents["data/rates.csv"] = ("unit,month,rate\n" + "".join(rates)).encode()
    told = [TOLD[kind].format(**subject) for kind in TOLD if kind in dirt]
    return json.dumps(
        {
            "task": {
                "count": "one export" if count == 1 else f"{count} exports",
                "things": subject["things"],
                "start": rules["start"],
                "end": rules["end"],
                "excluded": " or ".join(f"`{word}`" for word in subject["excluded"]),
                "amount": subject["amount"],
                "id": subject["id"],
                "key": subject["key"],
                "dirt": "".join(f"\n- {text}" for text in told),
                "duplicates": DUPLICATES[duplicates],
                "base": subject["base"],
                "rates": convert_text(subject, "monthly" in dirt),
                "rounding": ROUNDING[rounding][0].format(n=places),
                "places": str(places),
                "column": aggregate,
                "aggregate": AGGREGATES[aggregate],
                "order": ORDERS[order].format(column=aggregate),
            },
            "setup": {
                path: base64.b64encode(data).decode("ascii") for path, data in contents.items()
            },
            "secret": {
                "header": [subject["key"], "rows", aggregate],
                "summary": summary_of(files, subject, rules),
                "inputs": {
                    path: hashlib.sha256(data).hexdigest() for path, data in contents.items()
                },
                # For the reference and the hacks: what the task and FORMS.txt say, as data.
                "rules": {
                    **{key: value for key, value in rules.items() if key != "rates"},
                    "rates": None if "monthly" in dirt else subject["units"],
                    "forms": [list(form) for form in forms],
                    "subject": subject,
                },
            },
            "difficulty": level,
        }
    )


def make_variant(variant):
    """Return the parameters of one variant."""
    return json.loads(_variant(variant))


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
