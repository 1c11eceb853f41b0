"""Is the summary right, line by line?

Parts: rows 0.6 (the share of right groups, nothing below half), totals 0.2 (the last line), order
0.1 and schema 0.1; the last three count only with right rows. A changed input halves what is left.
"""

import csv
import hashlib
import io
import json
import os
import stat

LIMIT = 1 << 20
INPUT_LIMIT = 8 << 20


def read_plain(path, limit):
    """Return the bytes of a regular file that no link leads to, or None."""
    parts = path.split("/")
    try:
        for count in range(1, len(parts)):
            if not stat.S_ISDIR(os.lstat("/".join(parts[:count])).st_mode):
                return None
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(limit + 1)
    except OSError:
        return None
    return None if len(data) > limit else data


def lines_of(data):
    """Return the cells of each line, or None if it is no CSV text."""
    try:
        text = data.decode("utf-8")
        return [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    except (UnicodeDecodeError, csv.Error):
        return None


def judge(params):
    """Return (parts, details)."""
    parts = {"schema": 0.0, "rows": 0.0, "totals": 0.0, "order": 0.0}
    data = read_plain("summary.csv", LIMIT)
    if data is None:
        return parts, "summary.csv is no regular file of a reasonable size"
    lines = lines_of(data)
    if not lines:
        return parts, "summary.csv is no CSV text"
    expected = params["summary"]
    groups, total = expected[:-1], expected[-1]
    body = lines[1:] if lines[0] == params["header"] else lines
    given = [line for line in body if line and line[0] != "TOTAL"]
    right = [line for line in groups if given.count(line) == 1]
    # A wrong line costs as much as a missing one: answering everything earns nothing.
    share = len(right) / max(len(groups), len(given), 1)
    if share < 0.5:
        return parts, f"{len(right)} of {len(groups)} groups are right"
    parts["rows"] = 0.6 * share
    if lines[0] == params["header"] and all(len(line) == 3 for line in lines):
        parts["schema"] = 0.1
    if lines[-1] == total and sum(line[0] == "TOTAL" for line in lines) == 1:
        parts["totals"] = 0.2
    if [line[0] for line in given] == [line[0] for line in groups]:
        parts["order"] = 0.1
    details = f"{len(right)} of {len(groups)} groups are right"
    changed = [
        path
        for path, digest in params["inputs"].items()
        if hashlib.sha256(read_plain(path, INPUT_LIMIT) or b"").hexdigest() != digest
    ]
    if changed:
        parts = {name: value / 2 for name, value in parts.items()}
        details += f"; changed: {', '.join(sorted(changed))}"
    return parts, details


parts, details = judge(PARAMS)
score = min(1.0, round(sum(parts.values()), 6))
print(
    json.dumps(
        {
            "score": score,
            "passed": score == 1.0,
            "details": details,
            "reward_components": {name: round(value, 6) for name, value in parts.items()},
        }
    )
)
