"""Clean rows, and the dirty files that are made of them. Host side.

`dirt` is the set of kinds of dirt: quotes, thousands, comments, subtotals, brackets, headers,
aliases.
"""

import csv
import datetime
import io
from decimal import Decimal

COLUMNS = ("id", "key", "date", "status", "amount", "unit")
# How a missing amount can be written.
MISSING = ("", "n/a", "-", "?")
SUBTOTAL = "SUBTOTAL"


def make_rows(rng, subject, rules, sizes, dirt):
    """Make the rows of each file, among them for each name some that must not count.

    A row is a dict with the keys of COLUMNS; its amount is None where it is missing.
    """
    start = datetime.date.fromisoformat(rules["start"])
    days = (datetime.date.fromisoformat(rules["end"]) - start).days
    names = rng.sample(subject["names"][:-1], 3 + len(sizes) // 2)
    if "quotes" in dirt:
        names[-1] = subject["names"][-1]
    units, number = list(subject["units"]), rng.randint(1000, 5000)
    files = []
    for size in sizes:
        rows = []
        for index in range(size):
            number += rng.randint(1, 3)
            amount = Decimal(rng.randint(1, 4_500_000)).scaleb(-3)
            row = {
                "id": f"{subject['id'][:2].upper()}{number}",
                "key": names[index % len(names)],
                "date": start + datetime.timedelta(rng.randint(0, days)),
                "status": rng.choice(["ok", "ok", "OK", "paid", "open"]),
                "amount": round(amount, rng.choice([0, 1, 2, 3])),
                "unit": rng.choice(units),
            }
            if "brackets" in dirt and rng.random() < 0.15:
                row["amount"] = -row["amount"]
            rows.append(row)
        files.append(rows)
    for place, rows in enumerate(files):
        for name in names:
            own = [row for row in rows if row["key"] == name]
            own[0]["unit"] = units[1]
            first = own[0]["id"]
            dropped = dict(rng.choice(own), id=first + "X")
            dropped["status"] = rng.choice(subject["excluded"]).upper()
            outside = dict(rng.choice(own), id=first + "Y")
            outside["date"] = start + datetime.timedelta(rng.choice([-1, days + 1, days + 40]))
            empty = dict(rng.choice(own), id=first + "Z", amount=None)
            # The same id again, with another amount and date, here or in a later file.
            twin = dict(rng.choice(own), amount=Decimal(rng.randint(5000, 9000)))
            twin["date"] = start + datetime.timedelta(rng.randint(0, days))
            for row in (dropped, outside, empty):
                rows.insert(rng.randint(0, len(rows)), row)
            other = files[rng.randrange(place, len(files))]
            other.insert(rng.randint(0, len(other)), twin)
    return files


def spelled(rng, name, aliases):
    """Return the same name in another spelling, or by another name."""
    name = rng.choice([name, name, *aliases.get(name, [])])
    name = rng.choice([name, name, name.upper(), name.title()])
    return rng.choice(["", "", " ", "  "]) + name + rng.choice(["", "", " "])


def number_text(amount, form, dirt):
    """Return an amount as a file writes it."""
    _, _, decimal, thousands, _, _ = form
    whole, _, rest = str(abs(amount)).partition(".")
    if "thousands" in dirt and len(whole) > 3:
        whole = whole[:-3] + thousands + whole[-3:]
    text = whole + (decimal + rest if rest else "")
    return f"({text})" if amount < 0 else text


def file_bytes(rng, rows, subject, form, dirt, aliases):
    """Return one file: its rows in its form, with the dirt that is no row at all."""
    encoding, separator, _, _, dates, end = form
    columns = list(COLUMNS)
    rng.shuffle(columns)
    titles = {"id": subject["id"], "key": subject["key"], "amount": subject["amount"]}
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator=end)

    def header():
        names = [titles.get(name, name) for name in columns]
        writer.writerow(
            rng.choice([name, name.upper(), f" {name}", name.title()]) for name in names
        )

    header()
    since = Decimal(0)
    for number, row in enumerate(rows, 1):
        missing = row["amount"] is None
        cells = {
            **row,
            "key": spelled(rng, row["key"], aliases),
            "date": row["date"].strftime(dates),
            "amount": rng.choice(MISSING) if missing else number_text(row["amount"], form, dirt),
        }
        writer.writerow(cells[name] for name in columns)
        since += row["amount"] or 0
        if "subtotals" in dirt and number % 17 == 0:
            cells |= {"id": SUBTOTAL, "amount": number_text(since, form, dirt), "status": "ok"}
            writer.writerow(cells[name] for name in columns)
            since = Decimal(0)
        if "comments" in dirt and rng.random() < 0.06:
            out.write(rng.choice(["", f"# page {number}", "# checked by hand"]) + end)
        if "headers" in dirt and number % 40 == 0:
            header()
    return out.getvalue().encode(encoding)
