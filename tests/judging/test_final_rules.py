"""Section A of the reward contract, row by row: what a final verifier's run is worth.

A20 to A22 are about sessions and sandboxes; they are in `test_running_verifiers`.
"""

from dataclasses import replace

import pytest

from deepgym_gym.results import MODEL_FAULT, CaseResult, RunResult
from deepgym_gym.sandbox.base import VerifierOutcome
from deepgym_gym.verdict import judge_final, no_verifier
from tests.judging.outcomes import (
    KILLED,
    PERFECT,
    TIMED_OUT,
    Essence,
    crashed,
    essence,
    judged_zero,
    no_verdict,
    printed,
    verdict,
)

FAILED_RUN = {"score": 0.25, "passed": False}


def judged(outcome: VerifierOutcome, *, touched: bool = False) -> Essence:
    """Judge a run; who had acted makes no difference."""
    outcome = replace(outcome, touched=touched)
    result = judge_final(outcome, acted=True)
    assert judge_final(outcome, acted=False) == result
    return essence(result)


def test_a1_clean_exit_with_protocol_json_is_its_score() -> None:
    outcome = printed(
        {
            "schema_version": "1.0",
            "score": 0.75,
            "passed": True,
            "details": "3 of 4",
            "reward_components": {"tests": 0.5, "style": 0.25},
            "metrics": {"lines": 12, "nested": {"list": [1, None, "x"]}},
            "seed": 7,
            "truncated": True,
            "error_type": None,
            "cases": [
                {"id": "one", "passed": True, "execution_time_ms": 1.5},
                {"passed": False, "score": 0.5, "error": "no", "input_summary": "in"},
            ],
        },
        touched=True,
    )

    result = judge_final(replace(outcome, stderr=b"a note\n"), acted=True)

    assert result == RunResult(
        score=0.75,
        passed=True,
        output="3 of 4",
        stderr="a note\n",
        exit_code=0,
        reward_components={"tests": 0.5, "style": 0.25},
        metrics={"lines": 12, "nested": {"list": [1, None, "x"]}},
        seed=7,
        truncated=True,
        cases=(
            CaseResult(id="one", passed=True, score=1.0, execution_time_ms=1.5),
            CaseResult(passed=False, score=0.5, error="no", input_summary="in"),
        ),
    )
    assert result.has_verdict


def test_a1_clean_exit_counts_also_where_passed_is_false() -> None:
    assert judged(printed(FAILED_RUN)) == verdict(0.25, False)


@pytest.mark.parametrize("touched", [False, True])
def test_a2_exit_1_with_passed_false_is_its_partial_score(touched: bool) -> None:
    assert judged(printed(FAILED_RUN, exit_code=1), touched=touched) == verdict(0.25, False, 1)


WRONG_EXITS = [
    pytest.param(1, {"score": 1.0, "passed": True}, id="exit-1-passed"),
    pytest.param(1, {"score": 0.0, "passed": True}, id="exit-1-passed-score-0"),
    pytest.param(2, {"score": 0.25, "passed": False}, id="exit-2-score-above-0"),
    pytest.param(2, {"score": 0.0, "passed": True}, id="exit-2-passed"),
    pytest.param(3, {"score": 1.0, "passed": True}, id="exit-3"),
    pytest.param(3, {"score": 0.0, "passed": False}, id="exit-3-score-0"),
    pytest.param(137, {"score": 0.0, "passed": False}, id="exit-137-by-itself"),
    pytest.param(255, {"score": 0.0, "passed": False, "error_type": "own"}, id="exit-255-own-name"),
]


@pytest.mark.parametrize(("exit_code", "payload"), WRONG_EXITS)
def test_a3_exit_code_outside_the_protocol_untouched_is_no_verdict(
    exit_code: int, payload: dict[str, object]
) -> None:
    assert judged(printed(payload, exit_code=exit_code)) == no_verdict("verifier_error")


@pytest.mark.parametrize(("exit_code", "payload"), WRONG_EXITS)
def test_a3_exit_code_outside_the_protocol_touched_is_judged_zero(
    exit_code: int, payload: dict[str, object]
) -> None:
    outcome = printed(payload, exit_code=exit_code)

    assert judged(outcome, touched=True) == judged_zero("solution_error")


def test_a3_unknown_exit_code_is_no_clean_exit() -> None:
    assert judged(replace(PERFECT, exit_code=None)) == no_verdict("verifier_error")


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize(
    ("printed_type", "error_type"),
    [
        (None, "verifier_error"),
        ("out_of_disk", "out_of_disk"),
        # What has no verdict is nobody's fault, so it does not bear such a name.
        ("solution_error", "verifier_error"),
    ],
)
def test_a4_exit_2_with_score_0_is_no_verdict(
    printed_type: str | None, error_type: str, touched: bool
) -> None:
    payload = {"score": 0.0, "passed": False, "error_type": printed_type, "details": "no model"}

    result = judge_final(printed(payload, exit_code=2, touched=touched), acted=True)

    assert essence(result) == no_verdict(error_type)
    assert result.output == "no model"


@pytest.mark.parametrize(
    ("name", "error_type"),
    [
        ("ValueError", "runtime_error"),
        ("SyntaxError", "runtime_error"),
        ("MemoryError", "runtime_error"),
        ("KeyboardInterrupt", "runtime_error"),
        ("ImportErrorOfMine", "runtime_error"),
        ("ImportError", "import_error"),
        ("ModuleNotFoundError", "import_error"),
        ("TimeoutError", "timeout"),
    ],
)
def test_a5_crash_before_touching_is_no_verdict(name: str, error_type: str) -> None:
    result = judge_final(replace(crashed(name), stdout=b""), acted=True)

    assert essence(result) == no_verdict(error_type)
    assert name in result.output


CRASHES = ["ValueError", "ImportError", "ModuleNotFoundError", "TimeoutError"]


@pytest.mark.parametrize("name", CRASHES)
def test_a6_crash_after_touching_is_judged_zero(name: str) -> None:
    outcome = replace(crashed(name), stdout=b"")

    assert judged(outcome, touched=True) == judged_zero("solution_error")


def test_a7_score_printed_before_a_crash_is_dropped() -> None:
    outcome = crashed("ValueError")
    assert outcome.stdout == PERFECT.stdout

    assert judged(outcome) == no_verdict("runtime_error")
    assert judged(outcome, touched=True) == judged_zero("solution_error")


def test_a7_failed_run_printed_before_a_crash_is_dropped() -> None:
    # A crash exits 1, as a failed run does: only its report tells them apart.
    outcome = replace(printed(FAILED_RUN, exit_code=1), crash="KeyError")

    assert judged(outcome) == no_verdict("runtime_error")
    assert judged(outcome, touched=True) == judged_zero("solution_error")


NOTHING_USABLE = [
    pytest.param(KILLED, id="killed"),
    pytest.param(replace(PERFECT, output_lost=True), id="output-lost"),
    pytest.param(VerifierOutcome(exit_code=0), id="nothing"),
    pytest.param(VerifierOutcome(exit_code=1), id="nothing-exit-1"),
    pytest.param(VerifierOutcome(exit_code=2), id="nothing-exit-2"),
    pytest.param(printed("", "  ", "\t"), id="blank-lines"),
    pytest.param(printed("all good"), id="no-json"),
    pytest.param(printed("1.0"), id="bare-number"),
    pytest.param(printed([{"score": 1.0, "passed": True}]), id="list"),
    pytest.param(printed('{"score": 1.0, "passed": true'), id="cut-off"),
    pytest.param(printed('{"score": 1.0, "passed": true} trailing'), id="trailing-words"),
    pytest.param(printed('{"score": 1.0,', '"passed": true}'), id="on-two-lines"),
    pytest.param(printed("{'score': 1.0, 'passed': True}"), id="python-repr"),
    pytest.param(printed({"passed": True}), id="no-score"),
    pytest.param(printed({"score": 1.0}), id="no-passed"),
    pytest.param(printed({"score": 1.0, "passed": None}), id="passed-null"),
    pytest.param(printed({"score": 1.0, "passed": 1}), id="passed-number"),
    pytest.param(printed({"score": 1.0, "passed": "true"}), id="passed-text"),
    pytest.param(printed({"score": None, "passed": True}), id="score-null"),
    pytest.param(printed({"score": True, "passed": True}), id="score-bool"),
    pytest.param(printed({"score": "1.0", "passed": True}), id="score-text"),
    pytest.param(printed({"score": [1.0], "passed": True}), id="score-list"),
]


@pytest.mark.parametrize("outcome", NOTHING_USABLE)
def test_a8_killed_or_nothing_usable_before_touching_is_no_verdict(
    outcome: VerifierOutcome,
) -> None:
    assert judged(outcome) == no_verdict("verifier_error")


@pytest.mark.parametrize("outcome", NOTHING_USABLE)
def test_a9_killed_or_nothing_usable_after_touching_is_judged_zero(
    outcome: VerifierOutcome,
) -> None:
    assert judged(outcome, touched=True) == judged_zero("solution_error")


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(KILLED, id="killed"),
        pytest.param(VerifierOutcome(exit_code=0), id="nothing"),
        pytest.param(crashed("SolutionError"), id="crashed"),
        pytest.param(TIMED_OUT, id="timed-out"),
        pytest.param(printed(FAILED_RUN, exit_code=1), id="failed-run"),
    ],
)
def test_a10_agents_code_that_we_could_not_launch_is_no_verdict(outcome: VerifierOutcome) -> None:
    outcome = replace(outcome, launch_failed=True)

    assert judged(outcome, touched=True) == no_verdict("sandbox_error")


def test_a11_timeout_before_touching_is_no_verdict() -> None:
    assert judged(TIMED_OUT) == no_verdict("timeout")


def test_a12_timeout_after_touching_is_judged_zero() -> None:
    assert judged(TIMED_OUT, touched=True) == judged_zero("solution_timeout")


def test_a13_timeout_whose_output_was_lost_after_touching_is_judged_zero() -> None:
    outcome = replace(TIMED_OUT, output_lost=True)

    assert judged(outcome, touched=True) == judged_zero("solution_error")
    assert judged(outcome) == no_verdict("timeout")


INVALID = [
    pytest.param('{"score": NaN, "passed": true}', id="nan"),
    pytest.param('{"score": Infinity, "passed": true}', id="infinity"),
    pytest.param('{"score": -Infinity, "passed": true}', id="minus-infinity"),
    pytest.param('{"score": 1e999, "passed": true}', id="1e999"),
    pytest.param('{"score": -1e999, "passed": true}', id="minus-1e999"),
    pytest.param('{"score": 1.0000011, "passed": true}', id="above-the-tolerance"),
    pytest.param('{"score": -0.0000011, "passed": true}', id="below-the-tolerance"),
    pytest.param('{"score": 2, "passed": true}', id="whole-2"),
    pytest.param('{"score": 1%s, "passed": true}' % ("0" * 350), id="beyond-floats"),
    pytest.param('{"score": 1%s, "passed": true}' % ("0" * 9999), id="beyond-the-digit-limit"),
    pytest.param('{"score": -1%s, "passed": true}' % ("0" * 9999), id="minus-beyond-it"),
    pytest.param(
        '{"score": 1, "passed": true, "reward_components": {"a": NaN}}', id="component-nan"
    ),
    pytest.param(
        '{"score": 1, "passed": true, "reward_components": {"a": 1, "b": -1e999}}',
        id="component-1e999",
    ),
    pytest.param('{"score": 1, "passed": true, "cases": [{"passed": true, "score": NaN}]}', id="c"),
    pytest.param('{"score": 1, "passed": true, "cases": [{"passed": true, "score": 2}]}', id="c2"),
]


@pytest.mark.parametrize("line", INVALID)
def test_a14_invalid_score_untouched_is_no_verdict(line: str) -> None:
    assert judged(printed(line)) == no_verdict("invalid_score")


@pytest.mark.parametrize("line", INVALID)
def test_a14_invalid_score_touched_is_judged_zero(line: str) -> None:
    assert judged(printed(line), touched=True) == judged_zero("solution_error")


@pytest.mark.parametrize(
    ("score", "clamped"),
    [
        ("1.000001", 1.0),
        ("1.0000000000000002", 1.0),
        ("-0.000001", 0.0),
        ("-1e-320", 0.0),
        ("-0.0", 0.0),
        ("1", 1.0),
        ("0", 0.0),
        ("0.30000000000000004", 0.30000000000000004),
    ],
)
def test_a14_noise_within_the_tolerance_is_clamped(score: str, clamped: float) -> None:
    case = f'{{"passed": true, "score": {score}}}'
    outcome = printed(f'{{"score": {score}, "passed": true, "cases": [{case}]}}')

    result = judge_final(outcome, acted=True)

    assert result.cases is not None
    for got in (result.score, result.cases[0].score):
        # `repr` tells 0.0 from -0.0.
        assert repr(got) == repr(clamped)


def test_a14_components_may_leave_the_range_of_scores() -> None:
    outcome = printed({"score": 0.5, "passed": True, "reward_components": {"penalty": -3}})

    assert judge_final(outcome, acted=True).reward_components == {"penalty": -3.0}


def test_a15_json_on_stderr_is_no_verdict_and_is_kept() -> None:
    outcome = replace(PERFECT, stdout=b"", stderr=PERFECT.stdout + b"\xff")

    result = judge_final(outcome, acted=True)

    assert essence(result) == no_verdict("verifier_error")
    assert result.stderr == '{"score": 1.0, "passed": true}\n\ufffd'


def test_a15_json_on_stderr_does_not_replace_the_verdict() -> None:
    result = judge_final(replace(printed(FAILED_RUN), stderr=PERFECT.stdout), acted=True)

    assert essence(result) == verdict(0.25, False)


@pytest.mark.parametrize(
    "outcome",
    [
        KILLED,
        TIMED_OUT,
        crashed("ValueError"),
        printed("x"),
        printed(FAILED_RUN, exit_code=1),
        printed({"score": 0, "passed": False, "error_type": "own"}),
    ],
)
@pytest.mark.parametrize("touched", [False, True])
def test_a15_stderr_is_kept_however_it_ended(outcome: VerifierOutcome, touched: bool) -> None:
    outcome = replace(outcome, stderr=b"why", touched=touched)

    assert judge_final(outcome, acted=True).stderr == "why"


JUNK = b"x" * 10_000_000


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([{"score": 1.0, "passed": True}, FAILED_RUN], id="several"),
        pytest.param(["junk", FAILED_RUN, "junk", "[1]", "{", "}", "{}}", "{x}"], id="junk"),
        pytest.param([JUNK, FAILED_RUN, JUNK], id="10-mb-lines"),
        pytest.param([FAILED_RUN, b"{" + JUNK + b"}"], id="10-mb-line-in-braces"),
        pytest.param(["", FAILED_RUN, "", "   ", "\t\r", ""], id="blank-lines"),
        pytest.param([b'\t {"score": 0.25, "passed": false} \r'], id="crlf-and-spaces"),
        pytest.param([FAILED_RUN, b"\xff\xfe{\x80}"], id="no-utf-8"),
        pytest.param([FAILED_RUN, b"1.0"], id="number-after-it"),
        pytest.param([FAILED_RUN, b'{"a": 1}{"b": 2}'], id="two-objects-on-one-line"),
        pytest.param([FAILED_RUN, *[b"{x}"] * 5_000], id="many-lines-in-braces"),
    ],
)
def test_a16_last_line_that_is_an_object_decides(lines: list[object]) -> None:
    assert judged(printed(*lines)) == verdict(0.25, False)


def test_a16_verdict_needs_no_newline_at_its_end() -> None:
    assert judged(replace(PERFECT, stdout=PERFECT.stdout.strip())) == verdict(1.0, True)


def test_a16_ten_megabytes_of_details_are_a_verdict() -> None:
    outcome = printed({"score": 0.5, "passed": True, "details": JUNK.decode()})

    result = judge_final(outcome, acted=True)

    assert (result.score, len(result.output)) == (0.5, 10_000_000)


@pytest.mark.parametrize(
    "last",
    [
        pytest.param(b"{}", id="empty"),
        pytest.param(b'{"event": "bye"}', id="another-object"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="too-deep"),
        pytest.param(b'{"score": 1, "passed": true, "score": 1}', id="name-twice"),
        pytest.param(b'{"score": 1, "passed": true, "metrics": {"a": 1, "a": 1}}', id="inside"),
    ],
)
def test_a16_earlier_line_never_speaks_for_the_last_object(last: bytes) -> None:
    outcome = printed({"score": 1.0, "passed": True}, last)

    assert judged(outcome) == no_verdict("verifier_error")
    assert judged(outcome, touched=True) == judged_zero("solution_error")


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize("name", ["my_error", "runtime_error", "sandbox_error", "Solution_Error"])
@pytest.mark.parametrize("exit_code", [0, 1])
def test_a17_printed_error_type_of_its_own_is_no_verdict(
    name: str, touched: bool, exit_code: int
) -> None:
    payload = {"score": 1.0, "passed": exit_code == 0, "error_type": name, "details": "why"}

    result = judge_final(printed(payload, exit_code=exit_code, touched=touched), acted=True)

    assert essence(result) == no_verdict(name)
    assert result.output == "why"


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize("name", sorted(MODEL_FAULT))
@pytest.mark.parametrize("exit_code", [0, 1])
def test_a17_printed_model_fault_is_judged_zero(name: str, touched: bool, exit_code: int) -> None:
    payload = {"score": 0.5, "passed": exit_code == 0, "error_type": str(name)}

    outcome = printed(payload, exit_code=exit_code)

    assert judged(outcome, touched=touched) == judged_zero(name)


def test_a17_model_fault_keeps_what_explains_it_and_drops_what_is_reward() -> None:
    outcome = printed(
        {
            "score": 0.5,
            "passed": True,
            "error_type": "test_infra_tampering",
            "details": "tests were edited",
            "metrics": {"edited": 3},
            "reward_components": {"style": 0.5},
            "cases": [{"passed": False, "error": "edited"}],
            "seed": 4,
        }
    )

    assert judge_final(outcome, acted=True) == RunResult(
        score=0.0,
        passed=False,
        exit_code=1,
        error_type="test_infra_tampering",
        output="tests were edited",
        metrics={"edited": 3},
        cases=(CaseResult(passed=False, score=0.0, error="edited"),),
        seed=4,
    )


@pytest.mark.parametrize("empty", ["", None])
def test_a17_empty_error_type_is_none(empty: str | None) -> None:
    outcome = printed({"score": 0.5, "passed": True, "error_type": empty})

    assert judged(outcome) == verdict(0.5, True)


def test_a18_no_verifier_is_no_verdict() -> None:
    result = no_verifier()

    assert essence(result) == Essence(0.0, False, 0, "no_verifier", False)


def test_a23_crash_after_a_failing_open_is_a6_and_after_a_stat_a5() -> None:
    # Which of them is a touch is the sandbox's to see: `test_running_verifiers`.
    assert judged(crashed("FileNotFoundError"), touched=True) == judged_zero("solution_error")
    assert judged(crashed("FileNotFoundError")) == no_verdict("runtime_error")


# What ends a run decides before anything that was printed, from the process inwards.


@pytest.mark.parametrize(
    ("outcome", "untouched", "touched"),
    [
        (replace(TIMED_OUT, crash="ValueError"), "timeout", "solution_timeout"),
        (replace(TIMED_OUT, signal=9), "timeout", "solution_timeout"),
        (replace(KILLED, crash="ImportError"), "verifier_error", "solution_error"),
        (replace(printed("1", exit_code=2), crash="ImportError"), "import_error", "solution_error"),
        (printed('{"score": 2, "passed": true}', exit_code=3), "invalid_score", "solution_error"),
    ],
)
def test_two_things_at_once_are_judged_by_the_outer_one(
    outcome: VerifierOutcome, untouched: str, touched: str
) -> None:
    assert judged(outcome) == no_verdict(untouched)
    assert judged(outcome, touched=True) == judged_zero(touched)
