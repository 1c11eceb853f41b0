"""Section C of the reward contract, and A19: whose fault it is that the machinery failed."""

import pytest

from deepgym_gym.errors import FailureKind
from deepgym_gym.verdict import FAILURE_ROWS, VERIFIER_ROWS, Ending, judge_failure
from tests.judging.outcomes import essence, judged_zero, no_verdict

AGENTS = judged_zero("policy_sandbox_failure")
OURS = no_verdict("sandbox_error")


@pytest.mark.parametrize("kind", [FailureKind.WRITE_FAILED])
def test_c3_failed_write_is_the_agents_doing(kind: FailureKind) -> None:
    assert essence(judge_failure(kind, acted=True)) == AGENTS


@pytest.mark.parametrize("acted", [False, True])
@pytest.mark.parametrize("kind", [FailureKind.PROVIDER, FailureKind.UNAVAILABLE])
def test_c6_provider_failure_is_no_verdict(kind: FailureKind, acted: bool) -> None:
    assert essence(judge_failure(kind, acted=acted, agent_share=1.0)) == OURS


@pytest.mark.parametrize(
    ("acted", "agent_share", "agents"),
    [
        (True, 0.0, False),
        (True, 0.4999, False),
        (True, 0.5, True),
        (True, 1.0, True),
        (True, float("nan"), False),
        (False, 1.0, False),
    ],
)
def test_c7_retired_sandbox_is_the_agents_doing_if_it_took_half_the_time(
    acted: bool, agent_share: float, agents: bool
) -> None:
    result = judge_failure(FailureKind.RETIRED, acted=acted, agent_share=agent_share)

    assert essence(result) == (AGENTS if agents else OURS)


@pytest.mark.parametrize("agent_share", [0.0, 1.0])
@pytest.mark.parametrize("kind", [FailureKind.LOST, FailureKind.EXHAUSTED])
def test_c8_a19_sandbox_that_dies_once_the_agent_acted_is_its_doing(
    kind: FailureKind, agent_share: float
) -> None:
    assert essence(judge_failure(kind, acted=True, agent_share=agent_share)) == AGENTS


@pytest.mark.parametrize("kind", FailureKind)
def test_c9_a19_nothing_is_the_doing_of_an_agent_that_has_not_acted(kind: FailureKind) -> None:
    result = judge_failure(kind, acted=False, agent_share=1.0)

    assert not result.has_verdict
    assert (result.score, result.exit_code) == (0.0, 2)


@pytest.mark.parametrize("acted", [False, True])
@pytest.mark.parametrize(
    ("kind", "error_type"),
    [(FailureKind.SETUP, "setup_error"), (FailureKind.INTERRUPTED, "interrupted")],
)
def test_c10_c16_setup_and_interruption_are_no_verdict(
    kind: FailureKind, error_type: str, acted: bool
) -> None:
    assert essence(judge_failure(kind, acted=acted)) == no_verdict(error_type)


@pytest.mark.parametrize("acted", [False, True])
def test_message_is_kept_and_can_be_encoded(acted: bool) -> None:
    result = judge_failure(FailureKind.LOST, acted=acted, message="gone: \ud800")

    assert result.output == "gone: \ufffd"


def test_every_kind_and_every_ending_has_a_row() -> None:
    assert set(FAILURE_ROWS) == set(FailureKind)
    assert set(VERIFIER_ROWS) == set(Ending)
