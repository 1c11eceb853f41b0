"""Spaces hold what agents say, and act as Gymnasium's own where it looks at them."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Dict, Space, Tuple
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    iterate,
)
from hypothesis import given
from hypothesis import strategies as st

from deepgym_gym.actions import Action, ActionType, parse_action
from deepgym_gym.limits import MAX_ACTION_CHARS
from deepgym_gym.spaces import ActionSpace, ChoiceSpace, TextSpace

ANY_TEXT = st.text(st.characters(), max_size=50)
SPACES = [TextSpace(9), ChoiceSpace(["b", "a"]), ActionSpace(["bash", "done"])]
OTHERS = [TextSpace(8), ChoiceSpace(["b"]), ActionSpace(["bash"])]
ODD_TEXTS = ["", "\0", "a b\n", "naïve 🙂", "\ud800", "\u202e", "\U0010ffff", "x" * 9]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_string_within_the_length_is_a_text(text: str) -> None:
    assert text in TextSpace(9)


@pytest.mark.parametrize("value", ["x" * 10, b"x", None, 1, ["x"], np.array("x")])
def test_longer_strings_and_other_types_are_no_text(value: object) -> None:
    assert value not in TextSpace(9)


@pytest.mark.parametrize("length", [0, -1, True, 1.5, "9"])
def test_length_that_is_no_positive_integer_is_refused(length: Any) -> None:
    with pytest.raises(ValueError, match="max_length: expected an integer of at least 1"):
        TextSpace(length)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_samples_are_members_and_the_same_for_the_same_seed(space: Space[Any]) -> None:
    first, second = copy.deepcopy(space), copy.deepcopy(space)
    first.seed(3)
    second.seed(3)

    samples = [first.sample() for _ in range(200)]

    assert all(sample in space for sample in samples)
    assert samples == [second.sample() for _ in range(200)]
    assert len({str(sample) for sample in samples}) > 1


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_masks_are_refused_and_not_ignored(space: Space[Any]) -> None:
    with pytest.raises(ValueError, match="takes no mask"):
        space.sample(mask={})
    with pytest.raises(ValueError, match="takes no mask"):
        space.sample(probability={})


@pytest.mark.parametrize(("space", "other"), list(zip(SPACES, OTHERS, strict=True)), ids=repr)
def test_spaces_compare_by_what_they_hold_and_survive_pickling(
    space: Space[Any], other: Space[Any]
) -> None:
    again = pickle.loads(pickle.dumps(space))  # noqa: S301  # our own bytes

    assert again == space == copy.deepcopy(space)
    assert hash(again) == hash(space)
    assert space != other
    assert space != Dict({})
    assert not space.is_np_flattenable


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_samples_survive_json(space: Space[Any]) -> None:
    samples = [space.sample() for _ in range(20)]

    text = json.dumps(space.to_jsonable(samples))

    assert space.from_jsonable(json.loads(text)) == samples


def test_choice_needs_a_word() -> None:
    with pytest.raises(ValueError, match="expected at least one word"):
        ChoiceSpace([])


@pytest.mark.parametrize(
    "action",
    [
        {"action_type": "done"},
        {"action_type": "bash", "content": "ls"},
        {"action_type": "bash", "content": "ls", "path": None},
        Action(action_type=ActionType.BASH, content="ls"),
        '{"action_type": "done"}',
    ],
    ids=str,
)
def test_each_form_of_an_allowed_action_is_a_member(action: object) -> None:
    assert action in ActionSpace(["bash", "done"])


@pytest.mark.parametrize(
    "action",
    [
        {"action_type": "code", "content": "1"},
        {"action_type": "fly"},
        {"action_type": "bash", "contents": "ls"},
        {"content": "a Python program, which is the default type"},
        Action(action_type=ActionType.CODE),
        "ls",
        '"\ud800"',
        ("bash", "ls"),
        None,
    ],
    ids=ascii,
)
def test_what_step_would_reject_is_no_member(action: object) -> None:
    assert action not in ActionSpace(["bash", "done"])


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "", "a/", None])
def test_write_outside_is_no_member(path: str | None) -> None:
    action: object = {"action_type": "write_file", "path": path}

    assert action not in ActionSpace(["write_file"])


def test_action_space_is_a_dict_of_the_fields() -> None:
    space = ActionSpace(ActionType)

    assert isinstance(space, Dict)
    assert list(space) == ["action_type", "content", "path"]
    assert space["content"] == TextSpace(MAX_ACTION_CHARS)


@pytest.mark.parametrize("kind", list(ActionType))
def test_sample_is_an_action_of_each_allowed_type(kind: ActionType) -> None:
    space = ActionSpace([kind])
    space.seed(1)

    kinds = {parse_action(space.sample()).action_type for _ in range(50)}

    assert kinds == {kind}


def test_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="fly"):
        ActionSpace(["fly"])


@given(st.lists(ANY_TEXT, min_size=1, max_size=4))
def test_batch_of_texts_is_a_tuple_of_them(texts: list[str]) -> None:
    space = TextSpace(50)
    batch = batch_space(space, len(texts))

    empty: Any = create_empty_array(space, len(texts))
    batched = concatenate(space, texts, empty)

    assert batched == tuple(texts)
    assert batched in batch
    assert list(iterate(batch, batched)) == texts


def test_batch_of_actions_is_a_tuple_with_samples_of_their_own() -> None:
    space = ActionSpace(["bash", "done", "write_file"])
    space.seed(5)

    batch = batch_space(space, 3)
    batch.seed(5)
    sample = batch.sample()

    assert isinstance(batch, Tuple)
    assert sample in batch
    assert list(iterate(batch, sample)) == list(sample)
    assert len({str(batch.sample()) for _ in range(5)}) == 5


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_spaces_that_differ_can_be_batched(space: Space[Any]) -> None:
    other = OTHERS[SPACES.index(space)]

    assert batch_differing_spaces([space, other]) == Tuple((space, other))


def test_dict_of_texts_is_batched_field_by_field() -> None:
    space = Dict({"task": TextSpace(5), "content": TextSpace(7)})

    batch = batch_space(space, 2)

    assert {"task": ("a", "b"), "content": ("", "c\n")} in batch
