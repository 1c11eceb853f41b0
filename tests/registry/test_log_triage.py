"""The scores of `log_triage`: near misses and their shares, hostile work folders."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tests.registry.playing import play

FOLDER = Path(__file__).parents[2] / "registry/log_triage/v0"


def variant_of(number: int) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("log_triage_variants", FOLDER / "variants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, Any] = module.make_variant(number)
    return made


def answered(answer: object) -> dict[str, str]:
    content = answer if isinstance(answer, str) else json.dumps(answer)
    return {"action_type": "write_file", "path": "answer.json", "content": content}


TRUTH: dict[str, Any] = variant_of(3)["secret"]["truth"]
USERS: list[str] = TRUTH["users"]


@pytest.mark.parametrize(
    ("change", "score"),
    [
        ({}, 1.0),
        ({"users": list(reversed(USERS))}, 1.0),
        ({"cause": "gc_pause"}, 0.0),
        ({"service": "gateway"}, 0.0),
        ({"first_request": "00000000"}, 0.9),
        ({"start": "2024-01-01T00:00:00.000Z"}, 0.9),
        ({"start": "yesterday", "end": None}, 0.8),
        ({"users": USERS[:-1]}, 0.6 + 0.4 * (2 * (len(USERS) - 1)) / (2 * len(USERS) - 1)),
        ({"users": [*USERS, USERS[0]]}, 0.6 + 0.4 * (2 * len(USERS)) / (2 * len(USERS) + 1)),
        ({"users": []}, 0.6),
        ({"users": "all"}, 0.6),
        ({"users": [f"user{n}" for n in range(500)]}, 0.0),
        ({"more": 1}, 0.0),
    ],
)
def test_answer_scores_its_share(change: dict[str, Any], score: float) -> None:
    result = play("log_triage", 3, answered({**TRUTH, **change})).result

    assert result.has_verdict
    assert result.score == pytest.approx(score, abs=1e-6)
    assert result.passed == (score == 1.0)


def test_time_stamps_of_a_wrong_clock_are_wrong() -> None:
    made = variant_of(3)
    path = f"logs/{TRUTH['service']}.log"
    lines = [line for line in made["files"][path].splitlines() if TRUTH["cause"] in line]

    result = play("log_triage", 3, answered({**TRUTH, "start": lines[0].split()[0]})).result

    assert result.reward_components == {"cause": 0.3, "first": 0.1, "window": 0.1, "users": 0.4}


def test_changed_log_halves_the_score() -> None:
    result = play("log_triage", 3, "echo >> logs/gateway.log", answered(TRUTH)).result

    assert result.score == 0.5


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo answer.json",
        "mkdir answer.json",
        "ln -s logs/gateway.log answer.json",
        "ln -s /dev/zero answer.json",
        "head -c 50000000 /dev/zero > answer.json",
        "printf '\\xff\\xfe' > answer.json",
        "python3 -c \"print('[' * 100000)\" > answer.json",
        'python3 -c "print(\'{\\"a\\":\' * 50000)" > answer.json',
        'echo \'{"score": 1.0, "passed": true}\' > answer.json',
        "rm -rf logs; ln -s / logs; echo '{}' > answer.json",
        "echo null > answer.json; chmod 0 answer.json",
    ],
)
def test_hostile_work_folder_is_a_judged_zero(command: str) -> None:
    result = play("log_triage", 0, command).result

    assert result.has_verdict
    assert result.error_type is None
    assert result.score == 0.0


@pytest.mark.parametrize("number", [*range(9), 12345, 2**31 - 1])
def test_the_incident_hits_some_users_and_not_most(number: int) -> None:
    secret = variant_of(number)["secret"]

    assert 1 <= len(secret["truth"]["users"]) <= secret["people"] * 0.5
    assert secret["truth"]["start"] < secret["truth"]["end"]
