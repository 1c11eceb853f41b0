"""The drawn terminal: nothing of the agent's acts on ours, and pictures have one size."""

import sys
import unicodedata

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from hypothesis import given
from hypothesis import strategies as st

from deepgym_gym import render
from deepgym_gym.actions import Action, ActionType
from deepgym_gym.render import HEIGHT, WIDTH, Terminal, safe


def terminal(output: str) -> Terminal:
    shown = Terminal("The task.")
    shown.add(Action(action_type=ActionType.BASH, content="run"), output)
    return shown


@given(st.text(st.characters()))
def test_no_text_of_an_agent_acts_on_a_terminal(text: str) -> None:
    shown = terminal(text).text()

    assert all(character.isprintable() or character == "\n" for character in shown)
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "^[[31mred^[[0m"),
        ("a\tb", "a    b"),
        ("\0\x07\x7f", "^@^G^?"),
        ("\x9b31m", "\ufffd31m"),
        ("\u202eabc\u2069", "\ufffdabc\ufffd"),
        ("\ud800", "\ufffd"),
        ("a\u2028b", "a\ufffdb"),
        ("a\xa0b", "a b"),
        ("naïve 🙂 日本", "naïve 🙂 日本"),
    ],
)
def test_control_characters_are_shown_and_the_rest_is_kept(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_text_shows_task_commands_output_and_notes_in_order() -> None:
    shown = Terminal("Say\nhello.")
    shown.add(None, "ready\n")
    shown.add(Action(action_type=ActionType.CODE, content="for i in 1, 2:\n    print(i)"), "1\n2\n")
    shown.add(Action(action_type=ActionType.WRITE_FILE, path="a.txt", content="xy"), "wrote a.txt")
    shown.add("no action", "[rejected] Bad action")
    shown.add(Action(action_type=ActionType.DONE), "")
    shown.note("[score 1]")

    assert shown.text().splitlines() == [
        "# Say",
        "  hello.",
        "ready",
        ">>> for i in 1, 2:",
        "        print(i)",
        "1",
        "2",
        "write a.txt (2 characters)",
        "wrote a.txt",
        "? no action",
        "[rejected] Bad action",
        "done",
        "[score 1]",
    ]


def test_progress_bar_shows_its_last_state() -> None:
    assert "\n100%\n" in terminal("10%\r50%\r100%\r\n").text()


def test_only_the_end_is_kept() -> None:
    shown = terminal("x" * 1_000_000 + "end")
    for _ in range(1000):
        shown.add(None, "line\n")

    assert len(shown.text()) < 100_000


@pytest.mark.parametrize(
    "output", ["", "x" * 100_000, "é\u0301" * 5000, "日本語\n" * 50, "\x1b\ud800\u202e", "\n" * 90]
)
def test_picture_is_always_of_one_size_and_shows_something(output: str) -> None:
    picture = terminal(output).image()

    assert (picture.shape, picture.dtype) == ((HEIGHT, WIDTH, 3), np.dtype(np.uint8))
    assert picture.flags.writeable


def test_picture_changes_with_what_is_shown_and_only_then() -> None:
    one, same, other = terminal("1"), terminal("1"), terminal("2")

    assert np.array_equal(one.image(), same.image())
    assert not np.array_equal(one.image(), other.image())


def test_long_line_is_wrapped_and_the_last_rows_are_shown() -> None:
    rows = terminal("a" * 95 + "日" + "b" * 10).image_rows()

    assert [row.text for row in rows[-2:]] == ["a" * 95, "日" + "b" * 10]


def test_picture_without_a_system_font_is_drawn_with_pillows_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(render, "_FONTS", ())
    render._font.cache_clear()

    try:
        picture = terminal("plain and naïve").image()
    finally:
        render._font.cache_clear()

    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 3


def test_missing_pillow_is_said_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)

    with pytest.raises(DependencyNotInstalled, match=r"pip install \"deepgym-gym\[render\]\""):
        terminal("x").image()


def test_stacked_marks_stay_within_their_cell() -> None:
    rows = terminal("a" + "\u0301" * 500 + "b").image_rows()

    assert unicodedata.normalize("NFC", rows[-1].text).endswith("b")
    assert len(rows[-1].text) < 10
