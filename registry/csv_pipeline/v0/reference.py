"""Looks at the forms, then computes the summary from the files by the task's rules."""

import json

PROGRAM = """
import csv, datetime, decimal, io, json
from decimal import Decimal

rules = json.loads(RULES)
subject = rules["subject"]
kept = {}
for number, (encoding, separator, mark, dates) in enumerate(rules["forms"], 1):
    with open(f"data/{subject['id']}s-{number}.csv", encoding=encoding, newline="") as file:
        table = csv.reader(file, delimiter=separator)
        header = [name.strip().lower() for name in next(table)]
        for cells in table:
            row = dict(zip(header, cells))
            day = datetime.datetime.strptime(row["date"], dates).date().isoformat()
            if not rules["start"] <= day <= rules["end"]:
                continue
            amount = row[subject["amount"]].replace(mark, ".")
            if row["status"].lower() in subject["excluded"] or not amount:
                continue
            key = row[subject["id"]]
            if key in kept:
                if rules["duplicates"] == "first":
                    continue
                if rules["duplicates"] == "newest" and day < kept[key][0]:
                    continue
            value = Decimal(amount) * Decimal(subject["units"][row["unit"]])
            kept[key] = (day, row[subject["key"]].strip().lower(), value)

step = Decimal(1).scaleb(-rules["places"])
mode = {"up": decimal.ROUND_HALF_UP, "even": decimal.ROUND_HALF_EVEN, "down": decimal.ROUND_DOWN}[
    rules["rounding"].split("-")[1]
]
groups = {}
for _, name, value in kept.values():
    if rules["rounding"].startswith("row"):
        value = value.quantize(step, mode)
    count, total = groups.get(name, (0, Decimal(0)))
    groups[name] = (count + 1, total + value)
everything = (sum(c for c, _ in groups.values()), sum(t for _, t in groups.values()))
order = {
    "name": lambda name: name,
    "rows": lambda name: (-groups[name][0], name),
    "total": lambda name: (-groups[name][1].quantize(step, mode), name),
}[rules["order"]]
with open("summary.csv", "w", encoding="utf-8", newline="") as file:
    out = csv.writer(file, lineterminator="\\n")
    out.writerow([subject["key"], "rows", "total"])
    for name in sorted(groups, key=order):
        out.writerow([name, groups[name][0], groups[name][1].quantize(step, mode)])
    out.writerow(["TOTAL", everything[0], everything[1].quantize(step, mode)])
"""


def play(variant, observation):
    """Act as a capable agent would."""
    yield {
        "action_type": "bash",
        "content": "cat data/FORMS.txt; ls -l data; head -c 300 data/*.csv",
    }
    program = f"RULES = {json.dumps(variant['secret']['rules'])!r}\n{PROGRAM}"
    yield {"action_type": "code", "content": program}
    yield {"action_type": "bash", "content": "cat summary.csv"}
