"""Adds up all numbers by name, with no rule of the task but the files' forms."""

import json

PROGRAM = """
import csv, json
from decimal import Decimal
rules = json.loads(RULES)
subject, groups = rules["subject"], {}
for number, (encoding, separator, mark, _) in enumerate(rules["forms"], 1):
    with open(f"data/{subject['id']}s-{number}.csv", encoding=encoding, newline="") as file:
        table = csv.reader(file, delimiter=separator)
        header = [name.strip().lower() for name in next(table)]
        for cells in table:
            row = dict(zip(header, cells))
            name = row[subject["key"]].strip().lower()
            amount = Decimal(row[subject["amount"]].replace(mark, ".") or 0)
            count, total = groups.get(name, (0, Decimal(0)))
            groups[name] = (count + 1, total + amount)
with open("summary.csv", "w", encoding="utf-8") as file:
    print(f"{subject['key']},rows,total", file=file)
    for name, (count, total) in sorted(groups.items()):
        print(f"{name},{count},{total:.{rules['places']}f}", file=file)
    counts, totals = zip(*groups.values())
    print(f"TOTAL,{sum(counts)},{sum(totals)}", file=file)
"""


def play(variant, observation):
    """Sum without cleaning."""
    program = f"RULES = {json.dumps(variant['secret']['rules'])!r}\n{PROGRAM}"
    yield {"action_type": "code", "content": program}
