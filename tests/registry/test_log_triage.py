"""The scores of `log_triage`: near misses and their shares, hostile work folders, fair worlds."""

import datetime
import json
import re
from collections import Counter
from typing import Any

import pytest

from deepgym_gym.registry import find_environment
from tests.registry.playing import play

ENVIRONMENT = find_environment("log_triage")
TABLE = range(ENVIRONMENT.table_size)
HOST: dict[str, Any] = ENVIRONMENT.load_function("variants.py", "make_variant").__globals__
# Medium: clocks that differ, sessions, an all-day failure.
VARIANT = 4
SECRET: dict[str, Any] = ENVIRONMENT.variant(VARIANT)["secret"]
TRUTH: dict[str, Any] = SECRET["truth"]
USERS: list[str] = TRUTH["users"]


def answered(answer: object) -> dict[str, str]:
    content = answer if isinstance(answer, str) else json.dumps(answer)
    return {"action_type": "write_file", "path": "answer.json", "content": content}


def moved(stamp: str, seconds: float) -> str:
    time = datetime.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%fZ")
    return (time + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def users_share(named: int, right: int) -> float:
    """The part for a list of so many names, so many of them right."""
    match = 2 * right / (named + len(USERS))
    return 0.4 * max(0.0, (match - 0.6) / 0.4)


@pytest.mark.parametrize(
    ("change", "score"),
    [
        ({}, 1.0),
        ({"users": USERS[::-1]}, 1.0),
        ({"cause": "disk_full"}, 0.7),
        ({"service": "gateway"}, 0.7),
        ({"service": None, "cause": [TRUTH["cause"]]}, 0.7),
        ({"first_request": "00000000"}, 0.9),
        ({"start": moved(TRUTH["start"], 0.45), "end": moved(TRUTH["end"], -0.45)}, 1.0),
        ({"start": moved(TRUTH["start"], 0.55)}, 0.9),
        ({"start": TRUTH["end"], "end": TRUTH["start"]}, 0.8),
        ({"start": "yesterday", "end": None}, 0.8),
        ({"start": TRUTH["start"].replace("T", " ")}, 0.9),
        ({"users": USERS[:-1]}, 0.6 + users_share(len(USERS) - 1, len(USERS) - 1)),
        ({"users": [*USERS, "nobody"]}, 0.6 + users_share(len(USERS) + 1, len(USERS))),
        ({"users": [*USERS, USERS[0]]}, 0.6 + users_share(len(USERS) + 1, len(USERS))),
        ({"users": USERS[:2]}, 0.6),
        ({"users": [name.upper() for name in USERS]}, 0.6),
        ({"users": []}, 0.6),
        ({"users": "all"}, 0.6),
        ({"users": [*USERS, None]}, 0.6),
        ({"users": dict.fromkeys(USERS)}, 0.6),
        ({"service": "", "cause": "", "start": "", "end": "", "first_request": ""}, 0.4),
        ({"users": [*USERS, *(f"user{number}" for number in range(40))]}, 0.0),
        ({"more": 1}, 0.0),
    ],
)
def test_answer_scores_its_share(change: dict[str, Any], score: float) -> None:
    result = play("log_triage", VARIANT, answered({**TRUTH, **change})).result

    assert result.has_verdict
    assert result.score == pytest.approx(score, abs=1e-6)
    assert result.passed == (score == 1.0)


def test_answer_without_a_key_scores_nothing() -> None:
    answer = {key: value for key, value in TRUTH.items() if key != "end"}

    assert play("log_triage", VARIANT, answered(answer)).result.score == 0.0


def test_times_of_a_wrong_clock_are_wrong() -> None:
    # What the failing service's own log says, read as if its clock were right.
    files = ENVIRONMENT.variant(VARIANT)["files"]
    check = re.search(r"([\d.]+) s (ahead of|behind)", files[f"logs/{TRUTH['service']}.log"])
    assert check is not None
    off = float(check[1]) * (1 if check[2] == "ahead of" else -1)
    times = {key: moved(TRUTH[key], off) for key in ("start", "end")}

    result = play("log_triage", VARIANT, answered({**TRUTH, **times})).result

    assert result.reward_components == {"cause": 0.3, "first": 0.1, "window": 0.0, "users": 0.4}


@pytest.mark.parametrize(
    "command",
    [
        "echo >> logs/gateway.log",
        "rm -r logs",
        "mv logs l && ln -s l logs",
        "cp logs/gateway.log x && rm logs/gateway.log && ln -s ../x logs/gateway.log",
        "rm logs/gateway.log && mkfifo logs/gateway.log",
        "chmod 0 logs/gateway.log",
    ],
)
def test_changed_logs_halve_the_score(command: str) -> None:
    result = play("log_triage", VARIANT, command, answered(TRUTH)).result

    assert result.score == 0.5
    assert "changed: logs/" in result.output


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo answer.json",
        "mkdir answer.json",
        "ln -s logs/gateway.log answer.json",
        "ln -s /dev/zero answer.json",
        "ln -s answer.json answer.json",
        "head -c 50000000 /dev/zero > answer.json",
        "printf '\\xff\\xfe' > answer.json",
        "python3 -c \"print('[' * 100000)\" > answer.json",
        "python3 -c \"print('9' * 100000)\" > answer.json",
        'python3 -c "print(\'{\\"a\\":\' * 50000)" > answer.json',
        'echo \'{"score": 1.0, "passed": true}\' > answer.json',
        "rm -rf logs; ln -s / logs; echo '{}' > answer.json",
        "echo null > answer.json; chmod 0 answer.json",
        "echo '[NaN]' > answer.json",
    ],
)
def test_hostile_work_folder_is_a_judged_zero(command: str) -> None:
    result = play("log_triage", 0, command).result

    assert result.has_verdict
    assert result.error_type is None
    assert result.score == 0.0


def test_odd_values_are_wrong_and_crash_nothing() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    odd: list[Any] = [deep, {"a": deep}, 10**300, -1, True, "\ud800", "x" * 200_000]

    for value in odd:
        answer = dict.fromkeys(TRUTH, value)
        result = play("log_triage", VARIANT, answered(answer)).result
        assert (result.score, result.error_type) == (0.0, None)
        users = {**TRUTH, "users": [value, *USERS]}
        assert play("log_triage", VARIANT, answered(users)).result.error_type is None


# ------------------------------------------------------------------------------ the worlds


def test_table_shows_every_difficulty_service_and_cause() -> None:
    rows = HOST["TABLE"]

    assert Counter(row[0] for row in rows) == {"easy": 4, "medium": 4, "hard": 4}
    assert {row[1] for row in rows} == {"gateway", "middle", "store"}
    assert {row[2] for row in rows} == set(HOST["CAUSES"])


@pytest.mark.parametrize("variant", [*TABLE, *range(500, 520)])
def test_incident_hits_a_minority_and_is_not_the_loudest_trouble(variant: int) -> None:
    made = ENVIRONMENT.variant(variant)
    truth, services = made["secret"]["truth"], made["secret"]["services"]
    patterns = ENVIRONMENT.load_function("catalog.py", "patterns")(services)
    lines: Counter[tuple[str, str]] = Counter()
    for path, text in made["files"].items():
        for line in text.splitlines():
            for code, forms in patterns.items():
                if any(re.search(form, line) for form in forms):
                    lines[path, code] += 1

    incident = (f"logs/{truth['service']}.log", truth["cause"])

    assert 4 <= len(truth["users"]) <= 0.3 * made["secret"]["people"] + 1
    assert lines[incident] >= 12
    assert lines.most_common(1)[0][1] >= 1.25 * lines[incident]
    assert truth["start"] < truth["end"]
    assert sum(len(text) for text in made["files"].values()) < 1_000_000


def test_clocks_are_told_as_the_difficulty_says() -> None:
    told = {
        ENVIRONMENT.variant(variant)["difficulty"]: sum(
            text.count("clock check") for text in ENVIRONMENT.variant(variant)["files"].values()
        )
        for variant in TABLE
    }

    assert told == {"easy": 0, "medium": 6, "hard": 0}
