"""What varies: the trade, the question, the level of awkwardness, the year and all rows."""

import functools
import random

from .answers import RULES, answer
from .domains import DOMAINS
from .questions import question, rules
from .world import TRAPS, make_world, tables

# (trade, question, level)
TABLE = [
    ("shop", "group_sales", "easy"),
    ("theatre", "pairs", "easy"),
    ("school", "ratings", "easy"),
    ("clinic", "busiest_hour", "medium"),
    ("garage", "unpaid", "medium"),
    ("hire", "median", "medium"),
    ("shop", "growth", "medium"),
    ("theatre", "top_parties", "hard"),
    ("clinic", "lapsed", "hard"),
    ("school", "new_returning", "hard"),
    ("garage", "group_sales", "hard"),
    ("hire", "ratings", "hard"),
    ("school", "unpaid", "hard"),
]
KINDS = sorted({kind for _, kind, _ in TABLE})
# Where a rule of a level can change the answer, it does in every world.
MATTERS = {
    "zones": {"group_sales", "busiest_hour", "growth", "median", "new_returning"},
    "copies": {"unpaid", "ratings"},
    "merged": {"top_parties", "lapsed", "new_returning"},
}
REPORTS = ["report.csv", "answer.csv", "result.csv", "out/report.csv", "figures.csv"]
MAX_ROWS = 60
# A naive answer shares at most this much (F1) with the right one; the verifier pays from 0.8.
MAX_NAIVE = 0.5


def arguments_of(rng, kind, year):
    """Draw what the question leaves open."""
    if kind == "group_sales":
        return {"year": year, "quarter": rng.randint(1, 4)}
    if kind == "top_parties":
        return {"year": year, "count": rng.choice([5, 8, 10])}
    if kind == "lapsed":
        return {"day": f"{year}-{rng.randint(1, 4):02}-{rng.choice(['01', '15'])}"}
    if kind == "pairs":
        return {"least": rng.randint(3, 4)}
    if kind == "ratings":
        return {"least": rng.randint(3, 5)}
    return {"year": year} if kind != "busiest_hour" else {}


def f1(rows, wanted):
    """Return how much two lists of rows share, from 0 to 1."""
    left = [repr(row) for row in wanted]
    hits = 0
    for row in rows:
        if repr(row) in left:
            left.remove(repr(row))
            hits += 1
    return 2 * hits / max(1, len(rows) + len(wanted))


@functools.lru_cache(maxsize=16)
def drawn(variant):
    """Return (trade, question, level, arguments, world, right rows) of a variant number."""
    row = TABLE[variant] if variant < len(TABLE) else None
    for attempt in range(1000):
        rng = random.Random(f"sql_report:{variant}:{attempt}")
        trade, kind, level = row or (
            rng.choice(sorted(DOMAINS)),
            rng.choice(KINDS),
            rng.choice(sorted(TRAPS)),
        )
        year = rng.randint(2015, 2024)
        world = make_world(rng, DOMAINS[trade], level, year)
        arguments = arguments_of(rng, kind, year)
        wanted = answer(world, kind, arguments)
        if not 3 <= len(wanted) <= MAX_ROWS:
            continue
        naive = answer(world, kind, arguments, RULES)
        decisive = all(
            answer(world, kind, arguments, [rule]) != wanted
            for rule in ["cancelled", *TRAPS[level]]
            if kind in MATTERS.get(rule, KINDS)
        )
        if decisive and f1(naive, wanted) <= MAX_NAIVE:
            return trade, kind, level, arguments, world, wanted
    raise RuntimeError(f"no world for variant {variant}")


def make_variant(variant):
    """Return the parameters of one variant."""
    trade, kind, level, arguments, world, wanted = drawn(variant)
    rng = random.Random(f"sql_report:{variant}:names")
    domain = DOMAINS[trade]
    made = tables(world, domain, level, {"unpaid": "payments", "ratings": "reviews"}.get(kind, ""))
    database, report = f"{trade}.db", REPORTS[0] if variant == 0 else rng.choice(REPORTS)
    columns, text, order, numbers = question(domain, kind, arguments)
    folder = " (make the folder `out` for it)" if "/" in report else ""
    return {
        "task": {
            "database": database,
            "about": domain["about"],
            "question": text,
            "report": report,
            "folder": folder,
            "header": ",".join(columns),
            "order": order,
            "numbers": numbers,
            "rules": rules(domain, TRAPS[level], kind),
            "tables": ", ".join(f"`{table[0]}`" for table in made),
        },
        "setup": {"database": database, "tables": made},
        "secret": {
            "database": database,
            "tables": made,
            "report": report,
            "columns": columns,
            "rows": wanted,
            "ordered": order.startswith("The rows"),
            "sql": [trade, kind, level, arguments],
        },
        "difficulty": level,
    }


VARIANTS = TABLE
