"""Every shipped environment keeps the rules that `deepgym_gym.registry.checking` knows."""

import pytest

from deepgym_gym.registry import find_environment, list_environments
from deepgym_gym.registry.checking import DRAWN_VARIANTS, check_environment
from tests.registry.playing import play_player

NAMES = list_environments()
RULES = {
    "variant table",
    "variants differ",
    "deterministic definition",
    "sources parse as Python 3.9",
    "hacks",
    "equal files",
    "equal first observations",
    "nothing hidden is readable",
    "reference scores 1",
    "idle scores 0",
    "random scores near 0",
}


def whole_checks() -> list[tuple[str, int]]:
    """Variants that are proven by every rule: two of the table and one that was drawn."""
    return [
        (name, variant)
        for name in NAMES
        for variant in (0, find_environment(name).table_size - 1, DRAWN_VARIANTS[0])
    ]


def reference_plays() -> list[tuple[str, int]]:
    """The other variants of the table, and more that were drawn, which the reference must solve."""
    return [
        (name, variant)
        for name in NAMES
        for variant in (*range(1, find_environment(name).table_size - 1), *DRAWN_VARIANTS[1:])
    ]


@pytest.mark.parametrize(("name", "variant"), whole_checks())
def test_environment_keeps_every_rule_in_this_variant(name: str, variant: int) -> None:
    report = check_environment(name, variants=[variant])

    assert [str(failure) for failure in report.failures] == []
    rules = {finding.rule for finding in report.findings}
    assert rules >= RULES
    assert sum(rule.startswith("hack ") for rule in rules) >= 2


@pytest.mark.parametrize(("name", "variant"), reference_plays())
def test_reference_scores_one_in_every_variant(name: str, variant: int) -> None:
    played = play_player(name, variant, find_environment(name).reference(variant))

    assert played.result.has_verdict
    assert (played.result.score, played.result.passed) == (1.0, True), played.result.output


@pytest.mark.parametrize("name", NAMES)
def test_reference_scores_the_same_without_isolation(name: str) -> None:
    reference = find_environment(name).reference(1)

    result = play_player(name, 1, reference, backend="local").result

    assert (result.score, result.passed) == (1.0, True), result.output
