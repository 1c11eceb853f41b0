"""Add up every line that has a number, without any rule of the task but the files' forms."""

import json

PROGRAM = """
import csv, json
from decimal import Decimal
rules = json.loads(RULES)
subject, groups = rules["subject"], {}
for number, (encoding, separator, mark, thousands, _, _) in enumerate(rules["forms"], 1):
    with open(f"data/{subject['id']}s-{number}.csv", encoding=encoding, newline="") as file:
        table = csv.reader(file, delimiter=separator)
        header = [name.strip().lower() for name in next(table)]
        for cells in table:
            row = dict(zip(header, cells))
            name = row.get(subject["key"], "").strip().lower()
            text = row.get(subject["amount"], "").replace(thousands, "").replace(mark, ".")
            try:
                amount = Decimal(text.strip("()"))
            except ArithmeticError:
                amount = Decimal(0)
            groups.setdefault(name, []).append(amount)
groups["TOTAL"] = [amount for amounts in groups.values() for amount in amounts]
with open("summary.csv", "w", encoding="utf-8", newline="") as file:
    out = csv.writer(file, lineterminator="\\n")
    out.writerow([subject["key"], "rows", rules["aggregate"]])
    for name, amounts in groups.items():
        value = {"total": sum(amounts), "average": sum(amounts) / len(amounts),
                 "largest": max(amounts)}[rules["aggregate"]]
        out.writerow([name, len(amounts), f"{value:.{rules['places']}f}"])
"""


def play(variant, observation):
    rules = json.dumps(variant["secret"]["rules"])
    yield {"action_type": "code", "content": f"RULES = {rules!r}\n{PROGRAM}"}
