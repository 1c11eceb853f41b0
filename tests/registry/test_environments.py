"""Every shipped environment keeps the rules that `deepgym_gym.registry.checking` knows."""

import pytest

from deepgym_gym.registry import find_environment, list_environments
from deepgym_gym.registry.checking import DRAWN_VARIANTS, check_environment

WORLDS = [
    (name, variant)
    for name in list_environments()
    for variant in (*range(find_environment(name).table_size), *DRAWN_VARIANTS)
]


@pytest.mark.parametrize(("name", "variant"), WORLDS)
def test_environment_keeps_every_rule_in_this_variant(name: str, variant: int) -> None:
    report = check_environment(name, variants=[variant])

    assert [str(failure) for failure in report.failures] == []
    assert {finding.rule for finding in report.findings} >= {
        "variant table",
        "variants differ",
        "deterministic definition",
        "equal files",
        "equal first observations",
        "nothing hidden is readable",
        "reference scores 1",
        "idle scores 0",
        "random scores near 0",
    }


@pytest.mark.parametrize("name", list_environments())
def test_environment_scores_the_same_on_the_local_backend(name: str) -> None:
    report = check_environment(name, backend="local", variants=[1])

    assert [str(failure) for failure in report.failures] == []
    assert report.backend == "local"
