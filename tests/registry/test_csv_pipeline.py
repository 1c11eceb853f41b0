"""The scores of `csv_pipeline`: near misses and their shares, hostile work folders."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from deepgym_gym.registry.loading import RegistryEnvironment
from tests.registry.playing import play

FOLDER = "registry/csv_pipeline/v0"


def secret(variant: int) -> dict[str, Any]:
    """The variant's truth, from the folder's own module."""
    path = Path(__file__).parents[2] / FOLDER / "variants.py"
    spec = importlib.util.spec_from_file_location("csv_pipeline_variants", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    truth: dict[str, Any] = module.make_variant(variant)["secret"]
    return truth


def summary(lines: list[list[str]]) -> dict[str, str]:
    text = "".join(",".join(line) + "\n" for line in lines)
    return {"action_type": "write_file", "path": "summary.csv", "content": text}


def test_truth_scores_one_and_each_part_has_its_share() -> None:
    truth = secret(0)
    header, groups, total = truth["header"], truth["summary"][:-1], truth["summary"][-1]
    wrong = [groups[0][0], groups[0][1], "0.00"]
    cases = {
        "all": ([header, *groups, total], 1.0),
        "no header": ([*groups, total], 0.9),
        "other header": ([["a", "b", "c"], *groups, total], 0.0),
        "no total": ([header, *groups], 0.8),
        "other order": ([header, *reversed(groups), total], 0.9),
        "one wrong": ([header, wrong, *groups[1:], total], 0.4 + 0.6 * (1 - 1 / len(groups))),
        "doubled": ([header, *groups, *groups, total], 0.0),
        "total first": ([header, total, *groups], 0.8),
        "guesses beside": ([header, *groups, *[["x", "1", str(n)] for n in range(9)], total], 0.0),
    }

    for name, (lines, score) in cases.items():
        result = play("csv_pipeline", 0, summary(lines)).result

        assert result.has_verdict, name
        if name == "other header":
            # An unknown first line is one more wrong group.
            score = 0.6 * len(groups) / (len(groups) + 1) + 0.2
        assert result.score == pytest.approx(score, abs=1e-6), name
        assert result.passed == (result.score == 1.0), name


def test_changed_input_halves_the_score() -> None:
    truth = secret(1)

    result = play(
        "csv_pipeline",
        1,
        "echo >> data/FORMS.txt",
        summary([truth["header"], *truth["summary"]]),
    ).result

    assert result.score == 0.5
    assert "FORMS.txt" in result.output


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo summary.csv",
        "mkdir summary.csv",
        "ln -s data/FORMS.txt summary.csv",
        "ln -s /dev/zero summary.csv",
        "head -c 50000000 /dev/zero > summary.csv",
        "printf '\\xff\\xfe\\0' > summary.csv",
        "yes '\"' | head -c 900000 > summary.csv",
        "rm -rf data; ln -s / data; touch summary.csv",
        "touch summary.csv; chmod 0 summary.csv",
    ],
)
def test_hostile_work_folder_is_a_judged_zero(command: str) -> None:
    result = play("csv_pipeline", 0, command).result

    assert result.has_verdict
    assert result.error_type is None
    assert result.score == 0.0


def test_forms_differ_over_the_table() -> None:
    environment = RegistryEnvironment(Path(__file__).parents[2] / FOLDER)
    tasks = {environment.definition(variant).task for variant in range(9)}

    assert len(tasks) == 9
