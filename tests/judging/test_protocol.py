"""The fields of protocol JSON: what is taken, what is made fit, what is refused."""

import json

import pytest

from deepgym_gym import limits
from deepgym_gym.fields import Invalid, Unusable, clean
from deepgym_gym.protocol import Verdict, read_final, read_step
from deepgym_gym.results import CaseResult


def line(**members: object) -> bytes:
    return json.dumps({"score": 1.0, "passed": True, **members}).encode()


def raw(members: str) -> bytes:
    return f'{{"score": 1.0, "passed": true, {members}}}'.encode()


def read(stdout: bytes) -> Verdict:
    answer = read_final(stdout)
    assert isinstance(answer, Verdict), answer
    return answer


def test_unknown_and_null_members_count_as_left_out() -> None:
    null = dict.fromkeys(
        ("details", "reward_components", "metrics", "seed", "truncated", "error_type", "cases")
    )

    assert read(line(**null, surprise=[1])) == read(line()) == Verdict(score=1.0, passed=True)


@pytest.mark.parametrize(
    ("member", "value", "expected"),
    [
        ("details", 5, "details must be text, got int"),
        ("error_type", ["x"], "error_type must be text, got list"),
        ("truncated", 1, "truncated must be true or false, got int"),
        ("seed", 1.5, "seed must be a whole number, got float"),
        ("seed", True, "seed must be a whole number, got bool"),
        ("metrics", [1], "metrics must be an object, got list"),
        ("reward_components", [1], "reward_components must be an object, got list"),
        ("reward_components", {"a": "1"}, "reward_components 'a' must be a number, got str"),
        ("reward_components", {"a": True}, "reward_components 'a' must be a number, got bool"),
        ("reward_components", {"a": None}, "reward_components 'a' must be a number, got nothing"),
        ("cases", {}, "cases must be a list, got dict"),
        ("cases", [[]], "cases number 1: must be an object, got list"),
        ("cases", [{"passed": True}, {}], "cases number 2: passed must be true or false, got"),
        ("cases", [{"passed": True, "id": 1}], "cases number 1: id must be text, got int"),
        ("cases", [{"passed": True, "score": True}], "cases number 1: score must be a number"),
        ("cases", [{"passed": True, "error": 0}], "cases number 1: error must be text, got int"),
    ],
)
def test_member_of_another_type_makes_the_verdict_unusable(
    member: str, value: object, expected: str
) -> None:
    answer = read_final(line(**{member: value}))

    assert isinstance(answer, Unusable)
    assert expected in answer.reason


def test_explanation_names_what_was_expected_and_what_came() -> None:
    assert read_final(b'{"score": "1"}') == Unusable(
        "The verifier's JSON: score must be a number, got str."
    )
    assert read_final(b'{"score": 1.5}') == Invalid(
        "The verifier's JSON: score must be within 0 and 1, got 1.5."
    )
    nothing = read_final(b"oh no\n")
    assert isinstance(nothing, Unusable)
    assert nothing.reason.endswith("output ended with 'oh no\\n'.")


def test_case_score_follows_passed_where_it_is_left_out() -> None:
    assert read(line(cases=[{"passed": True}, {"passed": False, "score": None}])).cases == (
        CaseResult(passed=True, score=1.0),
        CaseResult(passed=False, score=0.0),
    )


def test_case_knows_its_fields_and_ignores_others() -> None:
    case = {
        "passed": False,
        "id": "c1",
        "score": 0.5,
        "input_summary": "in",
        "expected_summary": "want",
        "actual_summary": "got",
        "error": "no",
        "execution_time_ms": 3,
    }

    assert read(line(cases=[{**case, "other": 1}])).cases == (CaseResult.model_validate(case),)


@pytest.mark.parametrize("time", ["NaN", "1e999", "-Infinity"])
def test_case_time_that_is_no_time_loses_no_verdict(time: str) -> None:
    cases = read(raw(f'"cases": [{{"passed": true, "execution_time_ms": {time}}}]')).cases

    assert cases == (CaseResult(passed=True, score=1.0),)


@pytest.mark.parametrize("extra", [0, 1])
def test_cases_beyond_their_limit_are_refused(extra: int) -> None:
    answer = read_final(line(cases=[{"passed": True}] * (limits.VERDICT_CASES + extra)))

    assert isinstance(answer, Unusable if extra else Verdict)


def test_numbers_without_json_words_become_none_in_metrics() -> None:
    metrics = read(raw('"metrics": {"a": NaN, "b": [1e999, 2], "c": 1%s}' % ("0" * 9999))).metrics

    assert metrics == {"a": None, "b": [None, 2], "c": None}


@pytest.mark.parametrize("extra", [0, 1])
def test_metrics_nested_beyond_their_limit_are_refused(extra: int) -> None:
    depth = limits.VERDICT_DEPTH - 1 + extra

    answer = read_final(raw(f'"metrics": {{"a": {"[" * depth}1{"]" * depth}}}'))

    assert isinstance(answer, Unusable if extra else Verdict)


@pytest.mark.parametrize("extra", [0, 1])
def test_metrics_beyond_their_number_of_values_are_refused(extra: int) -> None:
    answer = read_final(line(metrics={"a": [0] * (limits.VERDICT_VALUES - 1 + extra)}))

    assert isinstance(answer, Unusable if extra else Verdict)


def test_seed_of_any_size_is_kept() -> None:
    assert read(line(seed=-(2**70))).seed == -(2**70)


def test_long_error_type_is_cut() -> None:
    assert read(line(error_type="e" * 1000)).error_type == "e" * 200


SURROGATES = '"\\ud800 \\ud83d\\ude00 \\udfff"'
SHOWN = "\ufffd \U0001f600 \ufffd"


def test_lone_surrogates_become_replacement_characters_everywhere() -> None:
    verdict = read(
        raw(
            f'"details": {SURROGATES}, "error_type": {SURROGATES}, '
            f'"reward_components": {{{SURROGATES}: 1}}, '
            f'"metrics": {{{SURROGATES}: [{{{SURROGATES}: {SURROGATES}}}]}}, '
            f'"cases": [{{"passed": true, "id": {SURROGATES}, "error": {SURROGATES}}}]'
        )
    )

    assert verdict.details == verdict.error_type == SHOWN
    assert verdict.reward_components == {SHOWN: 1.0}
    assert verdict.metrics == {SHOWN: [{SHOWN: SHOWN}]}
    assert verdict.cases == (CaseResult(passed=True, score=1.0, id=SHOWN, error=SHOWN),)


def test_explanation_about_a_surrogate_name_can_be_encoded() -> None:
    answer = read_final(raw(f'"reward_components": {{{SURROGATES}: "x"}}'))

    assert isinstance(answer, Unusable)
    assert answer.reason.encode("utf-8")


def test_bytes_that_are_no_utf_8_become_replacement_characters() -> None:
    assert read(b'{"score": 1.0, "passed": true, "details": "\xff\xc3"}').details == "\ufffd\ufffd"


def test_only_lines_with_a_brace_count_towards_the_limit_of_lines() -> None:
    verdict = line()
    within = verdict + b"\n\n{x}" * (limits.VERDICT_LINES - 1) + b"\n" * limits.VERDICT_LINES

    assert read(within) == read(verdict)
    assert isinstance(read_final(within + b"{x}"), Unusable)


def test_step_reads_a_number_of_bounded_length() -> None:
    assert read_step(b"0." + b"5" * 398) == Verdict(score=5 / 9, passed=False, bare=True)
    assert isinstance(read_step(b"0." + b"5" * 399), Unusable)


@pytest.mark.parametrize("text", ["", "plain", "\U0001f600", "\ufffd"])
def test_clean_leaves_text_that_can_be_encoded(text: str) -> None:
    assert clean(text) == text
