"""Does the report hold the right rows, in the right order and form, and is the database unchanged?

Parts: `most_rows` 0.15 for F1 of 0.8 or more, without which nothing is given; `columns` 0.1 for the
header; and, with exactly the right rows only, `rows` 0.35, `order` 0.15, `format` 0.1, `untouched`
0.15. Nothing is read from the agent's database but its bytes: they are compared with those of a
database built here, from the verifier's own rows, in the same way.
"""

import csv
import io
import json
import os
import re
import sqlite3
import stat
import tempfile
from fractions import Fraction

MOST = 0.8
WEIGHTS = {
    "most_rows": 0.15,
    "columns": 0.1,
    "rows": 0.35,
    "order": 0.15,
    "format": 0.1,
    "untouched": 0.15,
}
NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,12})?")
LIMIT = 1 << 18


def read_plain(path, limit):
    """Return (bytes, None), or (None, reason) unless it is a regular file that no link leads to."""
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        part = "/".join(parts[:count])
        try:
            mode = os.lstat(part).st_mode
        except OSError as error:
            return None, f"{part}: {error.strerror}"
        if count < len(parts) and not stat.S_ISDIR(mode):
            return None, f"{part} is not a folder"
        if count == len(parts) and not stat.S_ISREG(mode):
            return None, f"{part} is not a regular file"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        return None, f"{path} cannot be read: {error.strerror}"
    return (None, f"{path} is too long") if len(data) > limit else (data, None)


def parse(data, most):
    """Return (rows of cells, None) or (None, reason); at most `most` rows are read."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None, "the report is not UTF-8"
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), strict=True):
            if len(rows) > most:
                return None, "the report has far too many rows"
            if row:
                rows.append(row)
    except csv.Error as error:
        return None, f"the report is not CSV: {error}"
    return rows, None


def matches(cell, wanted):
    """Whether a cell of the report says what is wanted, whatever its number of decimals."""
    if isinstance(wanted, str):
        return cell == wanted
    if not NUMBER.fullmatch(cell):
        return False
    exact = Fraction(wanted[0], wanted[1])
    half = Fraction(1, 2 * 10 ** wanted[2]) if wanted[2] else 0
    # A sum of floating point numbers may end just beyond half a unit.
    return abs(Fraction(cell) - exact) <= half + (Fraction(1, 10**9) if half else 0)


def in_form(cell, wanted):
    """Whether a cell is written as asked: so many decimals, no sign or zeros too many."""
    if isinstance(wanted, str):
        return True
    decimals = rf"\.[0-9]{{{wanted[2]}}}" if wanted[2] else ""
    return re.fullmatch(r"-?(0|[1-9][0-9]*)" + decimals, cell) is not None


def pair_up(rows, wanted):
    """Return for each row of the report the index of the wanted row that it is, or None."""
    left = list(range(len(wanted)))
    found = []
    for row in rows:
        index = None
        for candidate in left:
            target = wanted[candidate]
            if len(row) == len(target) and all(map(matches, row, target)):
                index = candidate
                left.remove(candidate)
                break
        found.append(index)
    return found


def own_database(tables):
    """Return the bytes of the database as setup made it, from a copy built here."""
    with tempfile.TemporaryDirectory() as folder:
        build(os.path.join(folder, "own.db"), tables)
        with open(os.path.join(folder, "own.db"), "rb") as file:
            return file.read()


def build(path, tables):
    """Build a database exactly as setup does, so that equal rows give equal bytes."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    for table, statement, rows in tables:
        connection.execute(statement)
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608
    connection.execute("COMMIT")
    connection.close()


def changed(params):
    """Return why the database is not as it was, or nothing."""
    own = own_database(params["tables"])
    name = params["database"]
    data, reason = read_plain(name, len(own))
    if data is None:
        return reason
    if data[:96] + data[100:] != own[:96] + own[100:]:
        # Bytes 96 to 99 name the SQLite release that wrote the file.
        return f"{name} has changed"
    for end in ("-wal", "-journal"):
        if os.path.lexists(name + end) and os.lstat(name + end).st_size:
            return f"{name}{end} holds changes"
    return ""


def judge(params):
    """Return (parts, details)."""
    parts = dict.fromkeys(WEIGHTS, 0.0)
    wanted = params["rows"]
    data, reason = read_plain(params["report"], LIMIT)
    if data is None:
        return parts, reason
    rows, reason = parse(data, 4 * len(wanted) + 50)
    if rows is None:
        return parts, reason
    if not rows:
        return parts, "the report is empty"
    header, body = rows[0], rows[1:]
    found = pair_up(body, wanted)
    hits = sum(index is not None for index in found)
    details = [f"{hits} of {len(wanted)} rows, and {len(body) - hits} that do not belong"]
    if 2 * hits < MOST * (len(body) + len(wanted)):
        return parts, details[0]
    earned = {"most_rows"}
    if header == params["columns"]:
        earned.add("columns")
    else:
        details.append("another header")
    if hits == len(wanted) == len(body):
        earned.add("rows")
        if not params["ordered"] or found == sorted(found):
            earned.add("order")
        else:
            details.append("another order")
        if all(map(in_form, [c for row in body for c in row], cells_in_order(found, wanted))):
            earned.add("format")
        else:
            details.append("numbers in another form")
        reason = changed(params)
        if reason:
            details.append(reason)
        else:
            earned.add("untouched")
    for part in earned:
        parts[part] = WEIGHTS[part]
    return parts, "; ".join(details)


def cells_in_order(found, wanted):
    """Return the wanted cells in the order of the report's rows."""
    return [cell for index in found for cell in wanted[index]]


parts, details = judge(PARAMS)
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
