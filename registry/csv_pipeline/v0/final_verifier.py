"""Is the summary right, line by line?

Parts: rows 0.3 and amounts 0.4 (by the share of names with the right number and the right amount,
nothing below half, and a wrong name costs as much as a missing one); schema, order and last 0.1
each, which count only where one of the first two gives something. A changed input halves all.
"""

import csv
import hashlib
import io
import json
import os
import stat
from collections import Counter

LIMIT = 1 << 20
INPUT_LIMIT = 8 << 20
MOST_LINES = 2000


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
    """Return (text, cells of each line that is not empty), or None if it is no CSV text."""
    try:
        text = data.decode("utf-8")
        return text, [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    except (UnicodeDecodeError, csv.Error):
        return None


def amount(text):
    """Return an amount's text; minus nothing is nothing."""
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def share(right, given, wanted):
    """Return the share of right names, 0 below half."""
    part = right / max(given, wanted)
    return part if part >= 0.5 else 0.0


def judge(params):
    """Return (parts, details)."""
    parts = {"rows": 0.0, "amounts": 0.0, "schema": 0.0, "order": 0.0, "last": 0.0}
    data = read_plain("summary.csv", LIMIT)
    if data is None:
        return parts, "summary.csv is no regular file of a reasonable size"
    read = lines_of(data)
    if not read or not read[1] or len(read[1]) > MOST_LINES:
        return parts, "summary.csv is no CSV text"
    text, lines = read
    header, (*groups, last) = params["header"], params["summary"]
    given = lines[1:] if lines[0] == header else lines
    given = [line for line in given if line[0] != "TOTAL"]
    names = [line[0] for line in given]
    # A name that comes twice is never right.
    times = Counter(names)
    once = {line[0]: line for line in given if len(line) == 3 and times[line[0]] == 1}
    counted = sum(once.get(name, ["", ""])[1] == rows for name, rows, _ in groups)
    summed = sum(amount(once.get(name, ["", "", ""])[2]) == value for name, _, value in groups)
    parts["rows"] = 0.3 * share(counted, len(given), len(groups))
    parts["amounts"] = 0.4 * share(summed, len(given), len(groups))
    details = f"of {len(groups)} names {counted} have the right rows, {summed} the right amount"
    if not parts["rows"] and not parts["amounts"]:
        return parts, details
    plain = "\r" not in text and text.endswith("\n") and "\n\n" not in text
    if plain and lines[0] == header and all(len(line) == 3 for line in lines):
        parts["schema"] = 0.1
    if names == [line[0] for line in groups]:
        parts["order"] = 0.1
    if [*lines[-1][:2], amount(lines[-1][-1])] == last and sum(
        line[0] == "TOTAL" for line in lines
    ) == 1:
        parts["last"] = 0.1
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
