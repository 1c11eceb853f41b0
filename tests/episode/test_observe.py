"""From what a command did to what the agent reads; and when its output ends the episode (C11)."""

import asyncio
import json
import threading

import hypothesis.strategies as st
import pytest
from hypothesis import given

from deepgym_gym import observe
from deepgym_gym.actions import Observation
from deepgym_gym.sandbox.base import ExecResult
from tests.fakes import ran


def content(result: ExecResult) -> str:
    return observe.content_of(result, 2.0, 1024)


@pytest.mark.parametrize(
    ("stdout", "stderr", "expected"),
    [
        (b"", b"", ""),
        (b"out", b"", "out"),
        (b"out\n", b"", "out\n"),
        (b"", b"err\n", "err\n"),
        (b"out", b"err", "out\nerr"),
        (b"out\n", b"err\n", "out\nerr\n"),
        (b"a\0\x1b[2J\r\n", b"", "a\0\x1b[2J\r\n"),
        (b"\xff\xfe caf\xc3\xa9", b"", "\ufffd\ufffd caf\xe9"),
    ],
)
def test_content_is_stdout_and_then_stderr_on_a_new_line(
    stdout: bytes, stderr: bytes, expected: str
) -> None:
    assert content(ran(stdout, stderr)) == expected


@pytest.mark.parametrize(
    ("result", "note"),
    [
        (
            ExecResult(exit_code=0, stdout=b"x", stdout_dropped=7),
            "x\n[7 bytes of stdout dropped: the limit is 1024 bytes]",
        ),
        (
            ExecResult(exit_code=0, stderr=b"x\n", stderr_dropped=1),
            "x\n[1 bytes of stderr dropped: the limit is 1024 bytes]",
        ),
        (ExecResult(exit_code=None, timed_out=True), "[timed out after 2s]"),
        (ExecResult(exit_code=0, background=1), "[1 background process is running]"),
        (ExecResult(exit_code=0, background=2), "[2 background processes are running]"),
        (ExecResult(exit_code=137, signal=9, oom_killed=True), "[killed: out of memory]"),
    ],
)
def test_what_there_is_to_say_about_a_command_is_a_line_of_its_own(
    result: ExecResult, note: str
) -> None:
    assert content(result) == note


def test_time_limits_are_written_without_idle_digits() -> None:
    late = ExecResult(exit_code=None, timed_out=True)

    assert observe.content_of(late, 2.0, 1) == "[timed out after 2s]"
    assert observe.content_of(late, 0.5, 1) == "[timed out after 0.5s]"


def test_character_that_the_limit_cut_leaves_no_trace_but_other_bytes_are_replaced() -> None:
    cut = ExecResult(exit_code=0, stdout="é".encode() * 2 + b"\xc3", stdout_dropped=9)
    foreign = ExecResult(exit_code=0, stdout=b"\xffa\xc3", stdout_dropped=9)

    assert content(cut).startswith("éé\n[9 bytes")
    assert content(foreign).startswith("\ufffda\n[9 bytes")


@given(st.binary(), st.binary(), st.integers(0, 3), st.booleans())
def test_any_output_becomes_an_observation_that_json_can_carry(
    stdout: bytes, stderr: bytes, dropped: int, timed_out: bool
) -> None:
    result = ExecResult(
        exit_code=None if timed_out else 0,
        timed_out=timed_out,
        stdout=stdout,
        stderr=stderr,
        stdout_dropped=dropped,
    )

    seen = asyncio.run(observe.observed(result, 1.0, 10))

    observation = Observation(content=seen.content, metadata=observe.metadata_of(result))
    assert Observation.model_validate_json(observation.model_dump_json()) == observation


def test_metadata_holds_the_exit_code_and_only_what_there_is_to_say() -> None:
    plain = observe.metadata_of(ran(exit_code=3))
    full = observe.metadata_of(
        ExecResult(exit_code=137, signal=9, oom_killed=True, background=2, stdout_dropped=5)
    )

    assert plain == {"exit_code": 3}
    assert full == {
        "exit_code": 137,
        "signal": 9,
        "oom_killed": True,
        "background_processes": 2,
        "stdout_dropped_bytes": 5,
    }


def test_step_verifiers_find_both_streams_as_they_were_printed() -> None:
    assert observe.output_of(ran(b"\xff", b"err")) == b"\xff\nerr"
    assert observe.output_of(ran(b"out\n", b"err\n")) == b"out\nerr\n"
    assert observe.output_of(ran(b"", b"err")) == b"err"
    assert observe.output_of(ran(b"out", b"")) == b"out"


@pytest.mark.parametrize(
    "line",
    [
        b"DONE",
        b"  DONE\t\r",
        b"\xc2\xa0DONE\xc2\xa0",
        b'{"done": true}',
        b' {"a": [1, {"b": null}], "done":true} ',
        b'{"d\\u006fne": true}',
        b'{"done": true, "note": "\xff"}',
    ],
)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_line_that_says_done_ends_the_episode(line: bytes, stream: str) -> None:
    output = b"before\n" + line + b"\nafter"

    assert observe.says_done(ran(output) if stream == "stdout" else ran(stderr=output))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"done",
        b"DONE.",
        b"all DONE",
        b"DO\nNE",
        b'{"done": false}',
        b'{"done": 1}',
        b'{"done": "true"}',
        b'{"done": true',
        b'"done": true',
        b'[{"done": true}]',
        b'{"a": {"done": true}}',
        b'say {"done": true}',
        b'{"done": true} {"done": true}',
        b'{"done": tru}',
        b'{"done": true, "n": ' + b"1" * 5000 + b"}",
        b'{"done": true, "pad": "' + b"x" * 70_000 + b'"}',
        b'{"done": true, "a": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b'{"done":' * 7_000 + b"true" + b"}" * 7_000,
    ],
)
def test_line_that_does_not_say_done_or_is_hostile_is_output(line: bytes) -> None:
    assert not observe.says_done(ran(line))


def test_our_own_notes_are_no_sign() -> None:
    result = ExecResult(exit_code=None, timed_out=True, stdout=b"DON", stderr=b"E")

    assert not observe.says_done(result)


def test_line_that_the_limit_cut_is_no_sign() -> None:
    cut = ExecResult(exit_code=0, stdout=b"text\nDONE", stdout_dropped=10)
    whole = ExecResult(exit_code=0, stdout=b"DONE\n", stdout_dropped=10)

    assert not observe.says_done(cut)
    assert observe.says_done(whole)


@given(st.binary() | st.text().map(lambda text: json.dumps({"done": text}).encode()))
def test_no_output_raises(data: bytes) -> None:
    assert observe.says_done(ran(data)) in (True, False)


def test_big_outputs_are_read_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    look = observe.says_done

    def says_done(result: ExecResult) -> bool:
        threads.append(threading.current_thread())
        return look(result)

    monkeypatch.setattr(observe, "says_done", says_done)

    async def read() -> list[bool]:
        small = await observe.observed(ran(b"DONE"), 1.0, 10)
        big = await observe.observed(ran(b"x\n" * 200_000 + b"DONE"), 1.0, 10)
        return [small.done, big.done]

    assert asyncio.run(read()) == [True, True]
    assert threads[0] is threading.main_thread()
    assert threads[1] is not threading.main_thread()
