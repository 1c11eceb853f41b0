"""How the reference and the hacks run a SELECT in the sandbox and write what it gives."""

from .domains import DOMAINS
from .queries import query
from .world import TRAPS

WRITE = """
import csv, os, sqlite3

header, report, sql = HEADER, REPORT, SQL
rows = sqlite3.connect("file:DATABASE?mode=ro", uri=True).execute(sql).fetchall()
os.makedirs(os.path.dirname(report) or ".", exist_ok=True)
with open(report, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\\n")
    writer.writerow(header)
    writer.writerows(rows)
print(len(rows), rows[:3])
"""


def select(variant, clean):
    """Return the variant's question as SQL."""
    trade, kind, level, arguments = variant["secret"]["sql"]
    return query(DOMAINS[trade], TRAPS[level], kind, arguments, clean)


def write_report(variant, sql, header=None):
    """Return the action that runs a SELECT and writes the report."""
    task = variant["task"]
    program = (
        WRITE.replace("HEADER", ascii(header or task["header"].split(",")))
        .replace("REPORT", ascii(task["report"]))
        .replace("DATABASE", task["database"])
        .replace("SQL", ascii(sql))
    )
    return {"action_type": "code", "content": program}
