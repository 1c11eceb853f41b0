"""Look at the files, then compute the summary from them by the rules of the task."""

import json

LOOK = "ls -l data; cat data/FORMS.txt; for f in data/*.csv; do echo; head -c 400 $f; done"
PROGRAM = r"""
import csv, datetime, decimal, json, os
from decimal import Decimal

rules = json.loads(RULES)
subject = rules["subject"]


def table(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


other_names = {row["other"]: row["name"] for row in table("data/names.csv")}
monthly = {(row["unit"], row["month"]): row["rate"] for row in table("data/rates.csv")}


def rows_of(number, encoding, separator, mark, thousands, dates, end):
    # Rows as they stand there, without lines that are none: (id, day, status, name, amount, unit).
    path = f"data/{subject['id']}s-{number}.csv"
    with open(path, encoding=encoding, newline="") as file:
        lines = [cells for cells in csv.reader(file, delimiter=separator) if cells]
    header = [name.strip().lower() for name in lines[0]]
    for cells in lines:
        if cells[0].startswith("#") or [name.strip().lower() for name in cells] == header:
            continue
        row = dict(zip(header, cells))
        if row[subject["id"]] == "SUBTOTAL":
            continue
        name = row[subject["key"]].strip().lower()
        amount = row[subject["amount"]].strip()
        if amount not in ("", "n/a", "-", "?"):
            sign = -1 if amount.startswith("(") else 1
            amount = amount.strip("()").replace(thousands, "").replace(mark, ".")
            amount = sign * Decimal(amount)
        else:
            amount = None
        day = datetime.datetime.strptime(row["date"], dates).date().isoformat()
        yield (row[subject["id"]], day, row["status"].lower(), other_names.get(name, name),
               amount, row["unit"])


kept = {}
for number, form in enumerate(rules["forms"], 1):
    for key, day, status, name, amount, unit in rows_of(number, *form):
        if not rules["start"] <= day <= rules["end"]:
            continue
        if status in subject["excluded"] or amount is None:
            continue
        if key in kept and rules["duplicates"] == "first":
            continue
        if key in kept and rules["duplicates"] == "newest" and day < kept[key][0]:
            continue
        rate = monthly[unit, day[:7]] if monthly else rules["rates"][unit]
        kept[key] = (day, name, amount * Decimal(rate))

step = Decimal(1).scaleb(-rules["places"])
modes = {"up": "ROUND_HALF_UP", "even": "ROUND_HALF_EVEN", "down": "ROUND_DOWN"}
when, how = rules["rounding"].split("-")
groups = {}
for _, name, value in kept.values():
    value = value.quantize(step, modes[how]) if when == "row" else value
    groups.setdefault(name, []).append(value)


def line(name, values):
    result = {"total": sum, "largest": max, "average": lambda v: sum(v) / len(v)}
    return name, len(values), result[rules["aggregate"]](values).quantize(step, modes[how])


order = {"name": lambda c: c[0], "rows": lambda c: (-c[1], c[0]), "value": lambda c: (-c[2], c[0])}
lines = sorted((line(*item) for item in groups.items()), key=order[rules["order"]])
lines.append(line("TOTAL", [value for values in groups.values() for value in values]))
with open("summary.csv", "w", encoding="utf-8", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow([subject["key"], "rows", rules["aggregate"]])
    out.writerows(lines)
"""


def play(variant, observation):
    yield {"action_type": "bash", "content": LOOK}
    # The rules as a reader of the task and of FORMS.txt knows them.
    rules = json.dumps(variant["secret"]["rules"])
    yield {"action_type": "code", "content": f"RULES = {rules!r}\n{PROGRAM}"}
    yield {"action_type": "bash", "content": "cat summary.csv"}
