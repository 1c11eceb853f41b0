"""The scores of `sql_report`: near misses and their shares, forgotten rules, hostile folders."""

import csv
import importlib
import io
import sqlite3
from fractions import Fraction
from typing import Any

import pytest

from deepgym_gym.registry import find_environment
from deepgym_gym.registry.folder import package_of
from tests.registry.playing import play

ENVIRONMENT = find_environment("sql_report")
TOUCHED = {"most_rows": 0.15, "columns": 0.1, "rows": 0.35, "order": 0.15, "format": 0.1}
FULL = {**TOUCHED, "untouched": 0.15}
Rows = list[list[str]]


def secret(variant: int) -> dict[str, Any]:
    value = ENVIRONMENT.variant(variant)["secret"]
    assert isinstance(value, dict)
    return value


def right_rows(variant: int) -> Rows:
    """Return the header and the right rows, as text in the asked form."""

    def text(cell: Any) -> str:
        if isinstance(cell, str):
            return cell
        return f"{cell[0] / cell[1]:.{cell[2]}f}" if cell[2] else str(cell[0])

    known = secret(variant)
    return [known["columns"], *([text(cell) for cell in row] for row in known["rows"])]


def report(variant: int, rows: Rows, **form: Any) -> dict[str, Any]:
    """Return the action that writes rows as the report."""
    text = io.StringIO()
    csv.writer(text, **{"lineterminator": "\n", **form}).writerows(rows)
    path = secret(variant)["report"]
    return {"action_type": "write_file", "path": path, "content": text.getvalue()}


def playing_module() -> Any:
    return importlib.import_module(package_of(ENVIRONMENT.folder) + ".playing")


def with_forgotten(variant: int, part: str, instead: str) -> dict[str, Any]:
    """Return the reference's action, one rule of its SELECT left out."""
    module = playing_module()
    sql = module.select(ENVIRONMENT.variant(variant), True)
    assert part in sql
    action = module.write_report(ENVIRONMENT.variant(variant), sql.replace(part, instead))
    assert isinstance(action, dict)
    return action


@pytest.mark.parametrize("variant", [0, 5, 8])
@pytest.mark.parametrize("form", [{}, {"lineterminator": "\r\n"}, {"quoting": csv.QUOTE_ALL}])
def test_right_rows_score_one_in_any_csv(variant: int, form: dict[str, Any]) -> None:
    # The folder of some reports does not exist, and write_file makes it.
    result = play("sql_report", variant, report(variant, right_rows(variant), **form)).result

    assert (result.score, result.passed) == (1.0, True), result.output
    assert result.reward_components == FULL


@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_changed_rows_score_their_share(backend: str) -> None:
    header, *rows = right_rows(0)
    assert len(rows) == 6
    wrong = [[rows[0][0], rows[0][1], "1.00"], *rows[1:]]
    longer = [[name, amount, value + "00"] for name, amount, value in rows]
    for change, score in [
        ([["Category", "Orders", "Revenue"], *rows], 0.9),
        ([header, *reversed(rows)], 0.85),
        ([header, *longer], 0.9),
        ([header, *rows, rows[0]], 0.25),
        ([header, *rows, ["Total", "1", "1.00"]], 0.25),
        ([header, *rows[1:]], 0.25),
        ([header, *wrong], 0.25),
        ([["a", "b", "c"], *wrong], 0.15),
        (rows, 0.15),
        ([header, *wrong[:1], *rows[2:]], 0.0),
        ([header, *rows[:3]], 0.0),
        ([header, *rows, *rows], 0.0),
        ([header, *([*row, "x"] for row in rows)], 0.0),
        ([header, *([name, value, amount] for name, amount, value in rows)], 0.0),
        ([header], 0.0),
    ]:
        result = play("sql_report", 0, report(0, change), backend=backend).result
        assert result.score == score, (change, result.output)
        assert not result.passed


def test_order_is_free_where_the_task_says_so() -> None:
    header, *rows = right_rows(8)

    assert "does not matter" in ENVIRONMENT.variant(8)["task"]["order"]
    assert play("sql_report", 8, report(8, [header, *reversed(rows)])).result.score == 1.0


@pytest.mark.parametrize(
    ("template", "score"),
    [("{0}", 1.0), ("{0}5", 0.9), ("{0}4", 0.9), ("0{0}", 0.9), ("+{0}", 0.9), ("{0}6", 0.25)]
    + [(text, 0.25) for text in ("-{0}", " {0}", "{0}e0", "{1}", "{1}/100", "nan", "٥{0}", "")],
)
def test_a_number_is_right_within_half_of_its_last_place(template: str, score: float) -> None:
    header, first, *rows = right_rows(0)
    value = template.format(first[2], first[2].replace(".", ""))

    result = play("sql_report", 0, report(0, [header, [*first[:2], value], *rows])).result

    assert result.score == score, result.output


@pytest.mark.parametrize(
    ("variant", "part", "instead", "score"),
    [
        # The status, guests' and goods' NULLs, discounts; zones; imports twice; merged accounts.
        (0, "e.status = 'delivered'", "1", 0.0),
        (0, "SELECT NULL, '(none)'", "SELECT -1, '(none)'", 0.25),
        (0, "COALESCE(l.discount_percent, 0)", "l.discount_percent", 0.0),
        (3, ", p.utc_offset_minutes || ' minutes'", "", 0.0),
        (4, "SELECT DISTINCT $", "SELECT $", 0.0),
        (
            7,
            "SELECT id, id FROM members WHERE merged_into IS NULL",
            "SELECT id, id FROM members",
            0,
        ),
        (10, " AND COALESCE(c.is_test, 0) = 0", "", 0.0),
        (11, "later.written_at > r.written_at", "0", 0.0),
    ],
)
def test_forgotten_rule_scores_its_share(
    variant: int, part: str, instead: str, score: float
) -> None:
    event = secret(variant)["tables"][4][0].removesuffix("s")
    action = with_forgotten(
        variant, part.replace("$", event + "_id"), instead.replace("$", event + "_id")
    )

    assert play("sql_report", variant, action).result.score == score


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"import sqlite3; c = sqlite3.connect('shop.db'); "
        "c.execute('CREATE INDEX i ON orders (status)')\"",
        "python3 -c \"import sqlite3; c = sqlite3.connect('shop.db'); "
        "c.execute('PRAGMA journal_mode = wal')\"",
        "python3 -c \"import sqlite3; c = sqlite3.connect('shop.db'); "
        "c.execute('DELETE FROM orders WHERE id = (SELECT MAX(id) FROM orders)'); c.commit()\"",
        "echo >> shop.db",
        "truncate -s 5000000000 shop.db",
        "echo x > shop.db-wal",
        "mkdir shop.db-journal",
        "cp shop.db x; ln -sf x shop.db",
        "rm shop.db",
        "rm shop.db; mkfifo shop.db",
        "rm shop.db; mkdir shop.db",
        "chmod 0 shop.db",
    ],
)
def test_changed_database_costs_its_part(command: str) -> None:
    result = play("sql_report", 0, report(0, right_rows(0)), command).result

    assert (result.score, result.passed) == (0.85, False)
    assert result.reward_components == {**TOUCHED, "untouched": 0.0}


def test_reading_the_database_and_making_other_files_changes_nothing() -> None:
    command = (
        "python3 -c \"import sqlite3; print(sqlite3.connect('shop.db').execute("
        "'SELECT COUNT(*) FROM orders').fetchall())\"; cp shop.db copy.db; touch -d 2001-01-01 "
        "shop.db; mkdir notes; : > shop.db-wal"
    )

    assert play("sql_report", 0, command, report(0, right_rows(0))).result.score == 1.0


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo report.csv",
        "mkdir report.csv",
        "ln -s /dev/zero report.csv",
        "ln -s report.csv report.csv",
        "cp right.csv /tmp/x; ln -s /tmp/x report.csv",
        "ln -s right.csv report.csv",
        "cp right.csv report.csv; chmod 0 report.csv",
        "iconv -t utf-16 right.csv > report.csv",
        "(cat right.csv; printf '\\xff') > report.csv",
        "(cat right.csv; printf '\"') > report.csv",
        "(printf 'a\\0b\\n'; tail -n +2 right.csv | tr ',' ';') > report.csv",
        "tr '\\n' '\\r' < right.csv | tr ',' '\\t' > report.csv",
        "head -c 50000000 /dev/zero > report.csv",
        "yes , | head -c 200000 > report.csv",
        "yes 1,1,1 | head -100000 > report.csv",
        "python3 -c \"print('9' * 200000)\" > report.csv",
        "python3 -c \"print('a,b,c'); print('x,1,' + '1' * 5000 + '.' + '1' * 9000)\" > report.csv",
        "cp right.csv REPORT.CSV",
        ": > report.csv",
    ],
)
def test_hostile_report_is_a_judged_zero(command: str) -> None:
    right = {**report(0, right_rows(0)), "path": "right.csv"}

    result = play("sql_report", 0, right, command).result

    assert result.has_verdict
    assert result.error_type is None
    assert result.score == 0.0


def test_byte_order_mark_costs_the_header() -> None:
    action = report(0, right_rows(0))
    action["content"] = "\ufeff" + action["content"]

    assert play("sql_report", 0, action).result.score == 0.9


@pytest.mark.parametrize("variant", [*range(13), *range(500, 540)])
def test_two_ways_to_the_answer_agree(variant: int) -> None:
    """The answers are computed without SQL; here SQL finds them in the database itself."""
    connection = sqlite3.connect(":memory:")
    for table, statement, rows in secret(variant)["tables"]:
        connection.execute(statement)
        places = ",".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608

    sql = playing_module().select(ENVIRONMENT.variant(variant), True)
    found = connection.execute(sql).fetchall()
    connection.close()

    wanted = secret(variant)["rows"]
    assert len(found) == len(wanted)
    for row, target in zip(found, wanted, strict=True):
        for cell, exact in zip(row, target, strict=True):
            if isinstance(exact, str):
                assert cell == exact
            else:
                # Ties of the last place may be rounded either way.
                off = abs(Fraction(str(cell)) - Fraction(exact[0], exact[1]))
                assert off <= Fraction(1, 2 * 10 ** exact[2]) * bool(exact[2])
