"""A check passes a good environment and names what is wrong with a bad one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from deepgym_gym.errors import DefinitionError
from deepgym_gym.registry import checking
from deepgym_gym.registry.checking import CheckReport, check_environment

GOOD = {
    "env.toml": '[environment]\ntitle = "T"\nsummary = "S"\ndifficulty = "easy"\nmax_steps = 4\n',
    "task.md": "Double the number in number.txt into answer.txt, then send done.\n",
    "variants.py": """
def make_variant(variant):
    return {"task": {}, "setup": variant + 3, "secret": 2 * variant + 6}

VARIANTS = [make_variant(n) for n in range(8)]
""",
    "setup.py": "open('number.txt', 'w').write(str(PARAMS))\nprint('ready')\n",
    "final_verifier.py": """
import json
def answer_of_the_agent_or_nothing():
    try:
        with open("answer.txt") as the_file_with_the_answer:
            return the_file_with_the_answer.read(100).strip()
    except OSError as the_reason_why_it_is_missing:
        return ""
ok = answer_of_the_agent_or_nothing() == str(PARAMS)
print(json.dumps({"score": float(ok), "passed": ok, "details": "judged"}))
""",
    "reference.py": """
def play(variant, observation):
    command = "echo $((2 * $(cat number.txt))) > answer.txt  # the whole trick"
    yield {"action_type": "bash", "content": command}
""",
    "hacks/guess.py": "def play(variant, observation):\n    yield {'content': 'print(1)'}\n",
    "hacks/copy.py": (
        "def play(variant, observation):\n"
        "    yield {'action_type': 'bash', 'content': 'cp number.txt answer.txt'}\n"
    ),
}


def table_of(variant: str) -> str:
    """The text of a `variants.py` whose variant `n` is this expression."""
    function = f"def make_variant(n):\n    return {variant}\n"
    return function + "VARIANTS = [make_variant(n) for n in range(8)]\n"


def write(tmp_path: Path, changed: Mapping[str, str | None]) -> Path:
    """Write the good environment with some of its files changed; None leaves one out."""
    root = tmp_path / "doubling" / "v0"
    for name, text in {**GOOD, **changed}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    return root


def check(
    tmp_path: Path, changed: Mapping[str, str | None], variants: tuple[int, ...] = (1,)
) -> CheckReport:
    return check_environment(write(tmp_path, changed), variants=variants)


def broken(report: CheckReport) -> set[str]:
    return {finding.rule for finding in report.failures}


def test_good_environment_keeps_every_rule(tmp_path: Path) -> None:
    report = check(tmp_path, {}, variants=(0, 5))

    assert report.ok
    assert report.failures == ()
    assert (report.name, report.variants) == ("deepgym/doubling-v0", (0, 5))
    assert report.setup_s > 0.0
    assert report.verifier_s > 0.0
    assert {finding.variant for finding in report.findings} == {None, *range(8)}


def test_without_variants_the_table_and_two_drawn_ones_are_played(tmp_path: Path) -> None:
    table = "VARIANTS = [{'task': {}, 'setup': n, 'secret': 2 * n} for n in range(1, 3)]\n"
    code = (
        table
        + "def make_variant(n):\n    return {'task': {}, 'setup': n + 1, 'secret': 2 * n + 2}\n"
    )

    report = check_environment(write(tmp_path, {"variants.py": code}))

    assert report.variants == (0, 1, 1_000_003, 2_000_000_011)
    assert broken(report) == {"variant table"}


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        (
            "reference scores 1",
            {"reference.py": "def play(variant, observation):\n    yield {'content': 'pass'}\n"},
        ),
        (
            "idle scores 0",
            {"final_verifier.py": 'print(\'{"score": 0.1, "passed": false}\')\n'},
        ),
        (
            "hack copy scores 0",
            {
                "variants.py": table_of("{'task': {}, 'setup': n, 'secret': n}"),
                "reference.py": "def play(variant, observation):\n"
                "    yield {'action_type': 'bash', 'content': 'cp number.txt answer.txt'}\n",
            },
        ),
        (
            "variants differ",
            {"variants.py": table_of("{'task': {}, 'setup': 1, 'secret': 2}")},
        ),
        (
            "deterministic definition",
            {
                "variants.py": "import itertools\ncount = itertools.count(1)\n"
                + table_of("{'task': {}, 'setup': next(count), 'secret': 0}")
            },
        ),
        (
            "equal files",
            {
                "setup.py": GOOD["setup.py"]
                + "import uuid; open('id', 'w').write(str(uuid.uuid4()))\n"
            },
        ),
        (
            "equal first observations",
            {"setup.py": GOOD["setup.py"] + "import uuid; print(uuid.uuid4())\n"},
        ),
        (
            "nothing hidden is readable",
            {
                "setup.py": GOOD["setup.py"]
                + f"open('.judge', 'w').write({GOOD['final_verifier.py']!r})\n"
            },
        ),
        (
            "nothing hidden is readable",
            {
                "setup.py": GOOD["setup.py"]
                + f"open('/tmp/x', 'w').write({GOOD['final_verifier.py']!r})\n"
            },
        ),
        (
            "sources parse as Python 3.9",
            {"setup.py": GOOD["setup.py"] + "match 1:\n    case 1:\n        pass\n"},
        ),
        (
            "plays without errors",
            {"setup.py": "raise SystemExit('no world today')\n"},
        ),
        (
            "hacks",
            {"hacks/copy.py": None},
        ),
    ],
)
def test_broken_rule_is_named(tmp_path: Path, rule: str, changed: dict[str, str | None]) -> None:
    report = check(tmp_path, changed)

    assert not report.ok
    assert rule in broken(report)


def test_secret_of_the_verifiers_in_the_world_is_named(tmp_path: Path) -> None:
    secret = {"answer": "a word that nobody would guess"}
    variants = f"""
def make_variant(n):
    return {{"task": {{}}, "setup": n, "secret": dict({secret!r}, n=n)}}
VARIANTS = [make_variant(n) for n in range(8)]
"""
    setup = f"open('x', 'w').write('PARAMS = ' + ascii(dict({secret!r}, n=PARAMS)))\n"

    report = check(tmp_path, {"variants.py": variants, "setup.py": setup})

    assert "nothing hidden is readable" in broken(report)


def test_rewards_that_do_not_sum_to_the_score_are_named(tmp_path: Path) -> None:
    toml = GOOD["env.toml"] + '[gym]\nreward = "step"\n'

    report = check(tmp_path, {"env.toml": toml, "step_verifier.py": "print(0.25)\n"})

    assert "step rewards sum to the score" in broken(report)


def test_exceeded_budget_is_noted_and_breaks_no_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "VERIFIER_BUDGET_S", 0.0)

    report = check(tmp_path, {})

    assert report.ok
    assert any(note.startswith("the final verifier took ") for note in report.notes)


def test_local_backend_plays_no_hacks_and_says_so(tmp_path: Path) -> None:
    report = check_environment(write(tmp_path, {}), backend="local", variants=[1])

    assert report.ok
    assert not any(finding.rule.startswith("hack ") for finding in report.findings)
    assert any("the local backend is not isolated" in note for note in report.notes)


def test_unknown_backend_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="nowhere"):
        check_environment("notes", backend="nowhere", variants=[0])
