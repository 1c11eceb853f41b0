"""`debug_python`: every fault shows where it should, repairs get their share, shortcuts nothing."""

import ast
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deepgym_gym.registry import find_environment
from deepgym_gym.results import RunResult
from tests.registry.playing import play

ENVIRONMENT = find_environment("debug_python")
HOST: dict[str, Any] = ENVIRONMENT.load_function("variants.py", "make_variant").__globals__
PACKAGES: dict[str, Any] = HOST["PACKAGES"]
KINDS: tuple[str, ...] = HOST["KINDS"]
TABLE = range(ENVIRONMENT.table_size)


def write(path: str, text: str) -> dict[str, Any]:
    return {"action_type": "write_file", "path": path, "content": text}


def kinds_of(variant: int) -> list[str]:
    return [fault["kind"] for fault in ENVIRONMENT.variant(variant)["secret"]["faults"]]


def repairs(variant: int, kinds: list[str]) -> list[dict[str, Any]]:
    """The actions that repair some of a variant's faults."""
    package = PACKAGES[ENVIRONMENT.variant(variant)["secret"]["package"]]
    left = tuple(kind for kind in kinds_of(variant) if kind not in kinds)
    texts = package.texts({}, left)
    return [write(path, texts[path]) for path in {package.changes(kind)[0] for kind in kinds}]


def edited(variant: int, path: str, *changes: tuple[str, str]) -> dict[str, Any]:
    """An action that changes a file of a repaired package."""
    text = PACKAGES[ENVIRONMENT.variant(variant)["secret"]["package"]].texts({})[path]
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return write(path, text)


def scored(variant: int, *actions: str | dict[str, Any]) -> RunResult:
    result = play("debug_python", variant, *actions).result
    assert result.has_verdict
    assert result.error_type is None
    return result


# ------------------------------------------------------------------------------ the packages


def test_six_packages_have_a_place_for_each_of_twelve_kinds() -> None:
    assert len(PACKAGES) == 6
    assert len(KINDS) == 12
    for package in PACKAGES.values():
        assert set(package.faults) == set(KINDS)


@pytest.mark.parametrize("name", PACKAGES)
def test_package_is_small_and_runs_on_python_39(name: str) -> None:
    texts = {
        path: text
        for path, text in PACKAGES[name].texts({}).items()
        if path.startswith(f"{name}/") and path.endswith(".py")
    }

    assert 4 <= len(texts) <= 8
    assert 150 <= sum(text.count("\n") for text in texts.values()) <= 300
    for text in texts.values():
        ast.parse(text, feature_version=(3, 9))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PACKAGES)
def test_fault_shows_in_inputs_of_its_own_and_in_no_visible_test(
    name: str, kind: str, tmp_path: Path
) -> None:
    package = PACKAGES[name]
    rng = random.Random(f"{name}:{kind}")  # noqa: S311  # no secret depends on it
    knobs = {knob: rng.choice(values) for knob, values in package.knobs.items()}
    calls = {one: package.faults[one].probes(rng, knobs) for one in KINDS}

    groups, others = HOST["sorted_out"](package, knobs, (kind,), calls)
    for path, text in package.texts(knobs, (kind,)).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=tmp_path, capture_output=True, text=True
    )

    assert len(groups[kind][0]) >= 5
    # The inputs of the other kinds stay right, but for a few that use what is faulty.
    assert len(others) >= 10
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("variant", TABLE)
def test_visible_tests_say_what_the_task_says(variant: int) -> None:
    command = "python3 -m unittest 2>&1 | tail -1"

    before = play("debug_python", variant, command).observations[1].content.strip()
    repaired: list[str | dict[str, Any]] = [*repairs(variant, kinds_of(variant)), command]
    after = play("debug_python", variant, *repaired).observations[-2].content.strip()

    easy = ENVIRONMENT.variant(variant)["difficulty"] == "easy"
    assert before == ("FAILED (failures=2)" if easy else "OK")
    assert after == "OK"


# ------------------------------------------------------------------------------ shares


def test_each_repair_of_several_faults_is_worth_its_share() -> None:
    # Variant 10 has two faults, variant 13 three.
    for kind in kinds_of(10):
        assert scored(10, *repairs(10, [kind])).score == 0.5
    for kind in kinds_of(13):
        result = scored(13, *repairs(13, [kind]))
        assert result.score == pytest.approx(1 / 3, abs=1e-5)
        assert not result.passed
    assert scored(13, *repairs(13, kinds_of(13)[:2])).score == pytest.approx(2 / 3, abs=1e-5)
    assert scored(13, *repairs(13, kinds_of(13))).score == 1.0


def test_parts_of_a_whole_repair() -> None:
    result = scored(0, *repairs(0, kinds_of(0)))

    assert result.reward_components == {"fixed": 0.5, "kept": 0.25, "tests": 0.15, "api": 0.1}
    assert (result.score, result.passed) == (1.0, True)


@pytest.mark.parametrize(
    "command",
    [
        "echo >> tests/test_ledger.py",
        "rm tests/test_reported.py",
        "rm -r tests",
        "mv tests t && ln -s t tests",
        "mv tests/test_ledger.py x.py && ln -s ../x.py tests/test_ledger.py",
        "rm tests/__init__.py && mkdir tests/__init__.py",
        "rm tests/test_ledger.py && mkfifo tests/test_ledger.py",
        "chmod 0 tests/test_ledger.py",
        "head -c 3000000 /dev/zero > tests/test_ledger.py",
    ],
)
def test_changed_tests_cost_their_part(command: str) -> None:
    result = scored(0, *repairs(0, kinds_of(0)), command)

    assert result.score == 0.85
    assert result.reward_components is not None
    assert result.reward_components["tests"] == 0.0


def test_more_tests_and_files_cost_nothing() -> None:
    more = "cp tests/test_ledger.py tests/test_more.py; echo notes > NOTES; python3 -m unittest"

    assert scored(0, *repairs(0, kinds_of(0)), more).score == 1.0


def test_missing_public_name_costs_the_api() -> None:
    hidden = edited(0, "ledger/__init__.py", ("import Rates, allocate", "import allocate"))

    result = scored(0, *repairs(0, kinds_of(0)), hidden)

    assert result.score == 0.9
    assert "missing: Rates" in result.output


def test_broken_neighbours_cost_what_worked() -> None:
    kept = ENVIRONMENT.variant(0)["secret"]["kept"]
    broken = sum(case[0] == "split" for case in kept)
    worse = edited(0, "ledger/money.py", ("    share, rest = divmod(cents, ways)", "    return []"))

    result = scored(0, *repairs(0, kinds_of(0)), worse)

    assert broken > 0
    assert result.score == pytest.approx(0.75 + 0.25 * (1 - 2 * broken / len(kept)), abs=1e-5)


def test_repair_of_some_inputs_gets_what_exceeds_half_of_the_probes() -> None:
    # Only the first two pages of a statement are repaired.
    probes = ENVIRONMENT.variant(0)["secret"]["faults"][0]["probes"]
    first = sum(arguments[0][-1][2] <= 2 for _, arguments, _ in probes)
    change = ("end = min(first + PAGE_SIZE, len(numbers))", "end = first + PAGE_SIZE")
    later = (change[0], f"{change[1]} if page <= 2 else len(numbers) - 1")

    result = scored(0, edited(0, "ledger/book.py", later))

    assert len(probes) / 2 < first < len(probes)
    assert result.score == pytest.approx(2 * first / len(probes) - 1, abs=1e-5)


@pytest.mark.parametrize(
    ("variant", "path", "line", "instead"),
    [
        # `same_mix` says True, or the opposite of what it said before.
        (3, "kitchen/menu.py", "return abs(one[0] / one[1] -", "return True or abs(one[0] -"),
        (3, "kitchen/menu.py", "return abs(one[0] / one[1] -", "return one[0] / one[1] != abs("),
        (5, "grades/deadlines.py", "return here.date().isoformat() <=", "return True or"),
        (5, "grades/deadlines.py", "return here.date().isoformat() <=", "return '' >="),
    ],
)
def test_answer_that_ignores_the_input_is_worth_nothing(
    variant: int, path: str, line: str, instead: str
) -> None:
    assert scored(variant, edited(variant, path, (line, instead))).score == 0.0


def test_rewritten_package_counts_by_what_it_does() -> None:
    # The same answers from one module, in other types that mean the same.
    text = PACKAGES["kitchen"].texts({})["kitchen/menu.py"]
    mean = text.replace("return abs(one[0] / one[1] - other[0] / other[1]) < 1e-6", "x = 0")
    assert mean != text
    mean = mean.replace("x = 0", "import math\n    return math.isclose(*map(_q, (one, other)))")
    mean += "\n\ndef _q(pair):\n    return pair[0] / pair[1]\n"

    assert scored(3, write("kitchen/menu.py", mean)).score == 1.0


# ------------------------------------------------------------------------------ hostile folders

REPAIRED = repairs(0, kinds_of(0))[0]["content"]


@pytest.mark.parametrize(
    "actions",
    [
        ["rm -r ledger"],
        ["rm -r * .??* 2>/dev/null"],
        ["mv ledger l && ln -s l/nowhere ledger"],
        ["rm ledger/__init__.py && mkfifo ledger/__init__.py"],
        ["rm ledger/__init__.py && ln -s /dev/zero ledger/__init__.py"],
        ["rm ledger/__init__.py && mkdir ledger/__init__.py"],
        ["chmod 0 ledger/book.py ledger/__init__.py"],
        ["printf '\\xff\\xfe\\x00' > ledger/book.py"],
        ["head -c 60000000 /dev/zero > ledger/book.py"],
        [write("ledger/book.py", "def (")],
        [write("ledger/book.py", "x = " + "(" * 50_000 + ")" * 50_000)],
        [write("ledger/__init__.py", "while True:\n    pass\n")],
        [write("ledger/__init__.py", "import os\nos.kill(os.getpid(), 9)\n")],
        [write("ledger/__init__.py", "x = [b'x' * 2**30 for _ in range(99)]\n")],
        [write("ledger/__init__.py", 'print(\'{"score": 1.0, "passed": true}\' * 99)\n')],
        [write("ledger/__init__.py", "def run(*a):\n    return [0] * 10**7\n")],
        [write("ledger/__init__.py", "def run(*a):\n    x = []\n    x.append(x)\n    return x\n")],
        [write("ledger/__init__.py", "def run(*a):\n    return float('nan')\n")],
        [write("ledger/__init__.py", "def run(*a):\n    return 10**400\n")],
        [write("ledger/__init__.py", "def run(*a):\n    return run()\n")],
        [write("ledger/__init__.py", "def run(*a):\n    raise type('E', (Exception,), {})('x')\n")],
        [write("ledger/__init__.py", "raise SystemExit(0)\n")],
        [write("random.py", "x"), write("datetime.py", "import nothing\n"), "touch __init__.py"],
    ],
)
def test_hostile_package_is_a_judged_zero(actions: list[str | dict[str, Any]]) -> None:
    assert scored(0, *actions).score == 0.0


def test_package_that_hangs_is_not_waited_for_at_every_call() -> None:
    hanging = write(
        "ledger/book.py", REPAIRED + "\n\ndef run(commands):\n    while True:\n        pass\n"
    )

    assert scored(0, hanging).score == 0.0


def test_repair_counts_even_where_the_package_makes_noise() -> None:
    noisy = REPAIRED + (
        '\n\nimport sys\nprint(\'{"score": 0.0, "passed": false}\')\nsys.stdout.close()\n'
    )

    assert scored(0, write("ledger/book.py", noisy)).score == 1.0
