"""What varies: the package, the kinds of fault, how much the report tells, settings and inputs.

Easy: one fault, an exact example and a visible test that fails. Medium: one fault and an example;
every visible test passes. Hard: two or three faults, told apart by what their users noticed alone.
"""

import hashlib
import json
import random
from functools import lru_cache
from pprint import pformat
from textwrap import indent

from .faults_grades import grades
from .faults_kitchen import kitchen
from .faults_ledger import ledger
from .faults_lending import lending
from .faults_parcels import parcels
from .faults_regatta import regatta
from .planting import decoded, same

PACKAGES = {
    package.name: package for package in (ledger, lending, parcels, kitchen, regatta, grades)
}

# (package, kinds of fault, difficulty)
TABLE = [
    ("ledger", ("off_by_one",), "easy"),
    ("lending", ("mutable_default",), "easy"),
    ("parcels", ("aliasing",), "easy"),
    ("kitchen", ("float_compare",), "easy"),
    ("regatta", ("wrong_key",), "medium"),
    ("grades", ("time_zone",), "medium"),
    ("ledger", ("recursion_base",), "medium"),
    ("lending", ("encoding",), "medium"),
    ("parcels", ("early_return",), "medium"),
    ("kitchen", ("sort_stability",), "medium"),
    ("regatta", ("integer_division", "time_zone"), "hard"),
    ("grades", ("concurrency", "aliasing"), "hard"),
    ("lending", ("concurrency", "wrong_key"), "hard"),
    ("ledger", ("concurrency", "mutable_default", "float_compare"), "hard"),
]
KINDS = tuple(sorted(ledger.faults))
# How many inputs of a report are shown, and how many steps there are.
SHOWN = {"easy": 2, "medium": 1, "hard": 0}
MAX_STEPS = {"easy": 14, "medium": 16, "hard": 24}
# Hidden inputs: so many that a fault gets wrong, those that it gets right, and those of each other
# kind, which must stay right.
PROBES, CONTROLS, KEPT = 6, 4, 2
WRONG = {1: "something is wrong", 2: "two things are wrong", 3: "three things are wrong"}
CAUSES = {1: "the cause", 2: "both causes", 3: "all three causes"}
# Fewer than this could be passed by luck.
FEWEST_PROBES = 3


def drawn(rng):
    """Draw a row as those of the table."""
    level = rng.choice(["easy", "medium", "medium", "hard", "hard"])
    count = rng.choice([2, 2, 3]) if level == "hard" else 1
    return rng.choice(sorted(PACKAGES)), tuple(rng.sample(KINDS, count)), level


def sorted_out(package, knobs, kinds, calls):
    """Run every call in the right package and in the faulty ones.

    Returns `{kind: (probes, controls)}` for the planted kinds, and `{kind: cases}` with what stays
    right of all other calls. A case is `[function, arguments, right outcome]`, a probe has the
    wrong outcome, too. A probe goes wrong by its own fault and by no other, so that each repair is
    worth its share alone.
    """
    flat = [(kind, wanted) for kind, listed in calls.items() for wanted in listed]
    outcomes = {}

    def right_with(planted, at):
        """Say whether a call has the right outcome with these faults."""
        if planted not in outcomes:
            outcomes[planted] = package.outcomes(knobs, planted, [wanted for _, wanted in flat])
        return same(outcomes[planted][at], outcomes[()][at])

    right_with((), 0)
    groups, others = {kind: ([], []) for kind in kinds}, {}
    for at, (kind, wanted) in enumerate(flat):
        case, fine = [*wanted, outcomes[()][at]], right_with(kinds, at)
        if kind not in kinds:
            if fine and all(right_with((one,), at) for one in kinds):
                others.setdefault(kind, []).append(case)
        elif right_with(tuple(one for one in kinds if one != kind), at):
            if fine and right_with((kind,), at):
                groups[kind][1].append(case)
            elif not fine and not right_with((kind,), at):
                groups[kind][0].append([*case, outcomes[kinds][at]])
    return groups, others


def shortest(cases):
    """Return different cases, those with the least text first."""
    different = {json.dumps(case[:2]): case for case in cases}
    return [different[text] for text in sorted(different, key=lambda text: (len(text), text))]


def chosen_controls(rng, controls, probes):
    """Draw controls, half of them with answers that no probe has, where there are such."""
    answers = [case[2] for case in probes]
    order = rng.sample(controls, len(controls))
    unlike = [case for case in order if case[2] not in answers][: CONTROLS // 2]
    return (unlike + [case for case in order if case not in unlike])[:CONTROLS]


def shown_value(value):
    """Return the Python text of a value, in lines of less than 90 characters where it can be."""
    return pformat(decoded(value), width=88, compact=True, sort_dicts=False)


def written(package, function, arguments):
    """Return the Python text of a call."""
    given = [shown_value(value) for value in arguments]
    line = f"{package.name}.{function}({', '.join(given)})"
    if len(line) < 80 and "\n" not in line:
        return line
    return f"{package.name}.{function}(\n" + indent("".join(f"{v},\n" for v in given), "    ") + ")"


def said(outcome):
    """Return the Python text of an outcome."""
    kind, value = outcome
    return f"(raises {value})" if kind == "raises" else shown_value(value)


def example(package, case):
    """Return a call, what it gives and what it should give, for the report."""
    function, arguments, right, wrong = case
    called = written(package, function, arguments).replace("\n", "\n... ")
    return f"""
```python
>>> import {package.name}
>>> {called}
{said(wrong)}
```

The right answer is:

```python
{said(right)}
```"""


def visible_test(package, cases):
    """Return a test file that shows the fault."""
    tests = []
    for number, (function, arguments, right, _) in enumerate(cases, 1):
        answer = said(right)
        expected = f"expected = (\n{indent(answer, '    ')}\n)"
        if "\n" not in answer:
            expected = f"expected = {answer}"
        body = f"{expected}\ngot = {written(package, function, arguments)}\n"
        tests.append(
            f"    def test_report_{number}(self):\n"
            + indent(f"{body}self.assertEqual(got, expected)\n", " " * 8)
        )
    return (
        f"import unittest\n\nimport {package.name}\n\n\n"
        "class ReportedTest(unittest.TestCase):\n" + "\n".join(tests)
    )


@lru_cache(maxsize=64)
def _variant(variant):
    rng = random.Random(f"debug_python:{variant}")
    name, kinds, level = TABLE[variant] if variant < len(TABLE) else drawn(rng)
    package = PACKAGES[name]
    knobs = {knob: rng.choice(values) for knob, values in package.knobs.items()}
    calls = {kind: package.faults[kind].probes(rng, knobs) for kind in KINDS}
    calls["rest"] = package.others(rng, knobs)
    groups, others = sorted_out(package, knobs, kinds, calls)

    hidden, shown = [], []
    for kind in kinds:
        probes, controls = groups[kind]
        probes = shortest(probes)
        shown += probes[: SHOWN[level]]
        rest = probes[SHOWN[level] :]
        if len(rest) < FEWEST_PROBES:
            raise ValueError(f"{name}: only {len(rest)} inputs show {kind} beside {kinds}")
        hidden.append(
            {
                "kind": kind,
                "probes": [case[:3] for case in rng.sample(rest, min(PROBES, len(rest)))],
                "controls": chosen_controls(rng, controls, rest),
            }
        )
    kept = others.pop("rest", [])
    for kind in sorted(others):
        kept += rng.sample(others[kind], min(KEPT, len(others[kind])))

    files = package.texts(knobs, kinds)
    reports = [package.faults[kind].symptom for kind in kinds]
    if level == "easy":
        files["tests/test_reported.py"] = visible_test(package, shown)
    if level == "hard":
        report = "\n\n".join(f"> {number}. {text}" for number, text in enumerate(reports, 1))
        tests = "All of them pass: they show none of this."
    else:
        report = f"> {reports[0]}\n{example(package, shown[0])}"
        tests = "All of them pass: they do not show the fault."
        if level == "easy":
            tests = "Those in `tests/test_reported.py` show the fault and fail."
    return json.dumps(
        {
            "task": {
                "package": name,
                "report": report,
                "causes": CAUSES[len(kinds)],
                "wrong": WRONG[len(kinds)],
                "tests": tests,
            },
            "files": files,
            "secret": {
                "package": name,
                "faults": hidden,
                "kept": kept,
                "tests": {
                    path: hashlib.sha256(text.encode()).hexdigest()
                    for path, text in sorted(files.items())
                    if path.startswith("tests/")
                },
                "names": public_names(package, knobs),
                "shown": [case[:3] for case in shown],
            },
            "difficulty": level,
            "max_steps": MAX_STEPS[level],
        }
    )


def public_names(package, knobs):
    """Return the names that the package exports."""
    lines = package.texts(knobs)[f"{package.name}/__init__.py"].split("__all__ = [")[1]
    return sorted(line.strip().strip('",') for line in lines.split("\n") if '"' in line)


def make_variant(variant):
    """Return the parameters of one variant."""
    return json.loads(_variant(variant))


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
