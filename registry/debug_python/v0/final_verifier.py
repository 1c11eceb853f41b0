"""Does the package do now what it should? Its code is only ever run in the solver's box.

Each planted fault has probes (inputs that went wrong) and controls (inputs of the same functions
that did not). A repair counts from the half of its probes on, and loses where controls go wrong, so
that an answer that is always the same is worth nothing. The other parts count as far as the repair
does, so that an untouched package scores 0.
"""

import hashlib
import json
import os
import stat

from deepgym_solution import SolutionError, load_solution

CASE_TIMEOUT_S = 3.0
# A package that hangs is not waited for again and again.
MAX_TIMEOUTS = 2
FILE_LIMIT = 1 << 18


class Caller:
    """The agent's package, called case by case."""

    def __init__(self):
        path = PARAMS["package"] + "/__init__.py"
        self.solution = load_solution(path, case_timeout=CASE_TIMEOUT_S)
        self.timeouts = 0

    def right(self, case):
        """Say whether a call `[function, arguments, wanted outcome]` has that outcome."""
        function, arguments, (kind, wanted) = case
        if self.timeouts >= MAX_TIMEOUTS:
            return False
        try:
            value = self.solution.call(function, *decoded(arguments))
        except SolutionError as error:
            if error.kind == "launch":
                raise
            self.timeouts += error.kind == "timeout"
            name = error.message.split(":")[0].strip()
            return kind == "raises" and error.kind == "error" and name == wanted
        return kind == "value" and equal(decoded(wanted), value)

    def share(self, cases):
        """Return which share of the cases comes out right; 1 for none."""
        return sum(self.right(case) for case in cases) / len(cases) if cases else 1.0


def decoded(value):
    """Return a JSON value with its bytes as bytes."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"hex"}:
            return bytes.fromhex(value["hex"])
        return {key: decoded(item) for key, item in value.items()}
    return value


def equal(wanted, value):
    """Compare plain data: 1 is 1.0 but not True, a tuple is a list, floats may differ by noise."""
    if isinstance(wanted, list):
        return (
            isinstance(value, (list, tuple))
            and len(wanted) == len(value)
            and all(map(equal, wanted, value))
        )
    if isinstance(wanted, dict):
        return (
            isinstance(value, dict)
            and len(wanted) == len(value)
            and all(key in value and equal(item, value[key]) for key, item in wanted.items())
        )
    if isinstance(wanted, bool) or not isinstance(wanted, (int, float)):
        return type(value) is type(wanted) and value == wanted
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    if isinstance(wanted, int) and isinstance(value, int):
        return value == wanted
    return abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted)) if abs(value) < 1e300 else False


def untouched(path, digest):
    """Say whether a regular file, that no link leads to, has that content."""
    parts = path.split("/")
    try:
        for count in range(1, len(parts)):
            if not stat.S_ISDIR(os.lstat("/".join(parts[:count])).st_mode):
                return False
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            return hashlib.sha256(file.read(FILE_LIMIT)).hexdigest() == digest
    except OSError:
        return False


def judge():
    """Return (parts, details)."""
    parts = {"fixed": 0.0, "kept": 0.0, "tests": 0.0, "api": 0.0}
    try:
        caller = Caller()
    except SolutionError as error:
        if error.kind == "launch":
            raise
        return parts, f"the package cannot be imported: {error.kind}"
    repairs, details = [], []
    for fault in PARAMS["faults"]:
        probes = caller.share(fault["probes"])
        details.append(f"{fault['kind']}: {probes:.0%} of the probes")
        repaired = max(0.0, 2 * probes - 1)
        if repaired:
            repaired *= max(0.0, 2 * caller.share(fault["controls"]) - 1)
        repairs.append(repaired)
    fixed = sum(repairs) / len(repairs)
    if fixed:
        kept = caller.share(PARAMS["kept"])
        same = all(untouched(path, digest) for path, digest in PARAMS["tests"].items())
        names = set(caller.solution.names())
        missing = [name for name in PARAMS["names"] if name not in names]
        details.append(f"{kept:.0%} of what worked")
        if not same:
            details.append("tests changed")
        if missing:
            details.append("missing: " + ", ".join(missing[:5]))
        parts["fixed"] = 0.5 * fixed
        parts["kept"] = 0.25 * fixed * max(0.0, 2 * kept - 1)
        parts["tests"] = 0.15 * fixed * same
        parts["api"] = 0.1 * fixed * (not missing)
    return {name: round(part, 6) for name, part in parts.items()}, "; ".join(details)


parts, details = judge()
score = round(sum(parts.values()), 6)
print(
    json.dumps(
        {
            "score": score,
            "passed": score == 1.0,
            "details": details,
            "reward_components": parts,
        }
    )
)
