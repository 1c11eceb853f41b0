"""Texts in shared memory: whole or refused, and no larger than what was written."""

import copy
import multiprocessing
from pathlib import Path
from typing import Any, cast

import pytest
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from hypothesis import given
from hypothesis import strategies as st

from deepgym_gym.shared_text import SharedSlots
from deepgym_gym.spaces import TextSpace

SPACE = TextSpace(20)


def shared(count: int) -> tuple[Any, Any]:
    """The memory for some texts, and the view of it."""
    memory: Any = create_shared_memory(SPACE, count)
    return memory, read_from_shared_memory(SPACE, memory, count)


def write(index: int, text: str, memory: Any) -> None:
    # Gymnasium's annotations know no values but arrays.
    cast(Any, write_to_shared_memory)(SPACE, index, text, memory)


@given(st.lists(st.text(st.characters(), max_size=20), min_size=2, max_size=2))
def test_each_member_comes_back_whole(texts: list[str]) -> None:
    memory, seen = shared(2)

    for index, text in enumerate(texts):
        write(index, text, memory)

    assert list(seen) == texts


@pytest.mark.parametrize("text", ["\U0010ffff" * 20, "\ud800" * 20, "\0" * 20, ""])
def test_longest_and_oddest_members_have_room(text: str) -> None:
    memory, seen = shared(3)

    write(1, text, memory)

    assert tuple(seen) == ("", text, "")


def test_text_without_room_is_refused_and_never_cut() -> None:
    memory, seen = shared(2)
    write(0, "before", memory)

    with pytest.raises(ValueError, match="no room in a slot of 80 bytes"):
        write(0, "x" * 81, memory)

    assert tuple(seen) == ("before", "")


def test_shorter_text_leaves_nothing_of_the_longer_one() -> None:
    memory, seen = shared(1)

    write(0, "a longer text", memory)
    write(0, "short", memory)

    assert seen[0] == "short"


def test_view_changes_with_the_memory_and_its_copy_does_not() -> None:
    memory, seen = shared(2)
    write(0, "first", memory)
    copied = copy.deepcopy(seen)

    write(0, "second", memory)

    assert copied == ("first", "")
    assert (seen[0], seen[-1], seen[0:2], len(seen)) == ("second", "", ("second", ""), 2)
    assert repr(seen) == "('second', '')"
    with pytest.raises(IndexError):
        seen[2]


def fill(memory: SharedSlots) -> None:
    memory.write(1, "from the child: naïve 🙂\ud800")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # one of the methods
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_child_of_any_start_method_writes_what_the_parent_reads(method: str) -> None:
    memory = SharedSlots(2, 100)
    context: Any = multiprocessing.get_context(method)
    process = context.Process(target=fill, args=(memory,))

    process.start()
    process.join(60)

    assert process.exitcode == 0
    assert memory.read(1) == "from the child: naïve 🙂\ud800"


def test_memory_takes_no_room_before_it_is_written() -> None:
    memory = SharedSlots(1000, 10_000_000)

    memory.write(999, "small")

    status = Path("/proc/self/status").read_text()
    shared_kib = next(int(line.split()[1]) for line in status.splitlines() if "RssShmem" in line)
    assert memory.read(999) == "small"
    assert shared_kib < 1_000_000
