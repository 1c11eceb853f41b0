"""The scores of `csv_pipeline`: near misses and their shares, hostile work folders, true dirt."""

import base64
import csv
import io
from typing import Any

import pytest

from deepgym_gym.registry import find_environment
from tests.registry.playing import play

ENVIRONMENT = find_environment("csv_pipeline")
HOST: dict[str, Any] = ENVIRONMENT.load_function("variants.py", "make_variant").__globals__
TABLE = range(ENVIRONMENT.table_size)
# Medium, three files, one of its names with a comma.
VARIANT = 6
SECRET: dict[str, Any] = ENVIRONMENT.variant(VARIANT)["secret"]
HEADER: list[str] = SECRET["header"]
GROUPS: list[list[str]] = SECRET["summary"][:-1]
LAST: list[str] = SECRET["summary"][-1]
COUNT = len(GROUPS)


def summary(*lines: list[str], end: str = "\n", quotes: bool = False) -> dict[str, str]:
    out = io.StringIO(newline="")
    if quotes:
        csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(lines)
    else:
        csv.writer(out, lineterminator=end).writerows(lines)
    return {"action_type": "write_file", "path": "summary.csv", "content": out.getvalue()}


def changed(at: int, cell: int, text: str) -> list[list[str]]:
    """The right groups but for one cell."""
    lines = [list(line) for line in GROUPS]
    lines[at][cell] = text
    return lines


def part(right: int, given: int = COUNT) -> float:
    share = right / max(COUNT, given)
    return share if share >= 0.5 else 0.0


TWICE = [*GROUPS, GROUPS[0]]
GUESSES = [[GROUPS[0][0], str(number), f"{number}.00"] for number in range(50)]
OTHERS = [[f"name {number}", "4", "1.00"] for number in range(COUNT)]


@pytest.mark.parametrize(
    ("action", "score"),
    [
        (summary(HEADER, *GROUPS, LAST), 1.0),
        (summary(HEADER, *GROUPS, LAST, quotes=True), 1.0),
        (summary(HEADER, *GROUPS, LAST, end="\r\n"), 0.9),
        (summary(HEADER, *GROUPS, [], LAST), 0.9),
        (summary(*GROUPS, LAST), 0.9),
        (summary(["name", *HEADER[1:]], *GROUPS, LAST), 0.2 + 0.7 * part(COUNT, COUNT + 1) - 0.1),
        (summary(HEADER, *GROUPS), 0.9),
        (summary(HEADER, LAST, *GROUPS), 0.9),
        (summary(HEADER, *GROUPS, LAST, LAST), 0.9),
        (summary(HEADER, *GROUPS, ["TOTAL", LAST[1], "0"]), 0.9),
        (summary(HEADER, *reversed(GROUPS), LAST), 0.9),
        # One amount or one number of rows is wrong: that name's share of the part.
        (summary(HEADER, *changed(0, 2, "0.00"), LAST), 0.6 + 0.4 * part(COUNT - 1)),
        (summary(HEADER, *changed(0, 2, GROUPS[0][2] + "0"), LAST), 0.6 + 0.4 * part(COUNT - 1)),
        (summary(HEADER, *changed(0, 1, "1"), LAST), 0.7 + 0.3 * part(COUNT - 1)),
        (summary(HEADER, *changed(0, 0, "x"), LAST), 0.2 + 0.7 * part(COUNT - 1)),
        # The amounts alone, then the numbers of rows alone.
        (summary(HEADER, *([n, "", v] for n, _, v in GROUPS), LAST), 0.7),
        (summary(HEADER, *([n, r, ""] for n, r, _ in GROUPS), LAST), 0.6),
        (summary(HEADER, *([n, r] for n, r, _ in GROUPS), LAST), 0.0),
        (summary(HEADER, *([n.upper(), r, v] for n, r, v in GROUPS), LAST), 0.0),
        (summary(HEADER, *TWICE, LAST), 0.2 + 0.7 * part(COUNT - 1, COUNT + 1) - 0.0),
        (summary(HEADER, *GROUPS, *GROUPS, LAST), 0.0),
        (summary(HEADER, *GROUPS, *GUESSES, LAST), 0.0),
        (summary(HEADER, *GROUPS, *OTHERS, LAST), 0.2 + 0.35),
        (summary(HEADER, *OTHERS, LAST), 0.0),
        (summary(HEADER, LAST), 0.0),
        (summary(HEADER), 0.0),
    ],
)
def test_summary_scores_its_share(action: dict[str, str], score: float) -> None:
    result = play("csv_pipeline", VARIANT, action).result

    assert result.has_verdict
    assert result.score == pytest.approx(score, abs=1e-6), result.output
    assert result.passed == (score == 1.0)


@pytest.mark.parametrize(
    "command",
    [
        "echo >> data/FORMS.txt",
        "rm -r data",
        "mv data d && ln -s d data",
        "mv data/FORMS.txt x && ln -s ../x data/FORMS.txt",
        "rm data/FORMS.txt && mkfifo data/FORMS.txt",
        "chmod 0 data/FORMS.txt",
    ],
)
def test_changed_input_halves_the_score(command: str) -> None:
    result = play("csv_pipeline", VARIANT, command, summary(HEADER, *GROUPS, LAST)).result

    assert result.score == 0.5
    assert "FORMS.txt" in result.output


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo summary.csv",
        "mkdir summary.csv",
        "ln -s data/FORMS.txt summary.csv",
        "ln -s /dev/zero summary.csv",
        "ln -s summary.csv summary.csv",
        "head -c 50000000 /dev/zero > summary.csv",
        "head -c 900000 /dev/zero > summary.csv",
        "printf '\\xff\\xfe\\0' > summary.csv",
        "yes '\"' | head -c 900000 > summary.csv",
        "yes , | head -c 900000 > summary.csv",
        "yes a | head -c 900000 > summary.csv",
        "yes | tr -d '\\n' | head -c 900000 > summary.csv",
        "rm -rf data; ln -s / data; touch summary.csv",
        "touch summary.csv; chmod 0 summary.csv",
    ],
)
def test_hostile_work_folder_is_a_judged_zero(command: str) -> None:
    result = play("csv_pipeline", 0, command).result

    assert result.has_verdict
    assert result.error_type is None
    assert result.score == 0.0


# ------------------------------------------------------------------------------ the worlds


def files_of(variant: int) -> dict[str, bytes]:
    setup = ENVIRONMENT.variant(variant)["setup"]
    return {path: base64.b64decode(text) for path, text in setup.items()}


def test_table_shows_each_difficulty_subject_rule_and_form() -> None:
    rows = HOST["TABLE"]
    choices = {1: 4, 3: 5, 4: 3, 5: 4, 6: 3, 7: 3}

    for column, count in choices.items():
        assert len({row[column] for row in rows}) == count
    assert [row[0] for row in rows] == ["easy"] * 4 + ["medium"] * 4 + ["hard"] * 4


@pytest.mark.parametrize("variant", [*TABLE, 700, 701])
def test_files_are_as_the_task_and_the_forms_say(variant: int) -> None:
    made = ENVIRONMENT.variant(variant)
    rules, task = made["secret"]["rules"], made["task"]
    files = files_of(variant)
    tables = []
    for number, (encoding, separator, *_) in enumerate(rules["forms"], 1):
        text = files[f"data/{task['id']}s-{number}.csv"].decode(encoding)
        tables.append(list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)))
    forms = files["data/FORMS.txt"].decode()
    cells = [cell for table in tables for line in table for cell in line]
    dirty = {
        "quotes": any(separator in cell for separator in ",;" for cell in cells),
        "comments": any(line and line[0].startswith("#") for table in tables for line in table),
        "subtotals": "SUBTOTAL" in cells,
        "brackets": any(cell.startswith("(") for cell in cells),
        "aliases": "data/names.csv" in files,
        "monthly": "data/rates.csv" in files,
    }
    wanted = set(HOST["DIRT"][made["difficulty"]])

    assert forms.count("\n") == len(tables)
    for kind in ("subtotals", "brackets", "aliases", "comments"):
        assert dirty[kind] == (kind in wanted), kind
    assert dirty["monthly"] == ("monthly" in wanted and rules["subject"]["monthly"])
    assert dirty["quotes"] or "quotes" not in wanted
    assert sum(map(len, files.values())) < 200_000


@pytest.mark.parametrize("variant", TABLE)
def test_last_line_counts_the_rows_of_all_names(variant: int) -> None:
    *groups, last = ENVIRONMENT.variant(variant)["secret"]["summary"]

    assert len(groups) >= 3
    assert all(int(rows) >= 4 for _, rows, _ in groups)
    assert int(last[1]) == sum(int(rows) for _, rows, _ in groups)


@pytest.mark.parametrize("rule", ["start", "end", "excluded", "duplicates", "rates"])
def test_leaving_out_a_rule_changes_most_lines(rule: str) -> None:
    rng = HOST["random"].Random("one rule left out")
    subject = HOST["SUBJECTS"][0]
    months = [f"2024-{month:02d}" for month in range(1, 13)]
    rules = {
        "start": "2024-03-01",
        "end": "2024-03-31",
        "duplicates": "first",
        "rounding": "row-up",
        "aggregate": "total",
        "order": "name",
        "places": 2,
        "rates": HOST["rates_of"](rng, subject, months, True),
    }
    files = HOST["make_rows"](rng, subject, rules, [60, 60], set(HOST["DIRT"]["hard"]))
    right = HOST["summary_of"](files, subject, rules)
    less: dict[str, dict[str, Any]] = {
        "start": {"start": "2024-01-01"},
        "end": {"end": "2024-12-31"},
        "duplicates": {"duplicates": "last"},
        "rates": {"rates": {unit: dict.fromkeys(months, "1") for unit in subject["units"]}},
    }
    if rule == "excluded":
        subject = {**subject, "excluded": []}

    wrong = HOST["summary_of"](files, subject, {**rules, **less.get(rule, {})})

    assert sum(line not in right for line in wrong) > len(right) / 3
