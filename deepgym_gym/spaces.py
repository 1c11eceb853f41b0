"""Spaces for what agents say and read: `TextSpace`, `ChoiceSpace` and `ActionSpace`.

Gymnasium's own `Text` holds only the characters of a charset (by default no blank and no newline)
and takes a minute to build with all of Unicode. These hold any Python string, build in
microseconds, and work in Gymnasium's vector environments, shared memory included.
"""

import multiprocessing
from collections.abc import Iterable, Sequence
from multiprocessing.context import BaseContext
from typing import Any, cast

import numpy as np
from gymnasium.spaces import Dict, Space, Tuple
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from numpy.typing import NDArray

from deepgym_gym.actions import Action, ActionType, parse_action
from deepgym_gym.errors import ActionError
from deepgym_gym.limits import MAX_ACTION_CHARS, MAX_PATH_CHARS

_PRINTABLE = (32, 127)
_SAMPLE_CHARS = 32
# Bytes of a text in shared memory: a character takes at most four, and the length stands in front.
_BYTES_PER_CHAR, _LENGTH_BYTES = 4, 8


class TextSpace(Space[str]):
    r"""Any string of at most `max_length` characters: empty ones, NULs and lone surrogates too.

    In shared memory each text has a slot for its longest member, so no member is ever cut.

    Example:
        >>> "naïve 🙂\\n" in TextSpace(100)
        True
    """

    def __init__(
        self, max_length: int = 1 << 20, seed: int | np.random.Generator | None = None
    ) -> None:
        """Make the space.

        Args:
            max_length: characters, at least 1.
            seed: of its sampling.
        """
        if isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1:
            raise ValueError(f"max_length: expected an integer of at least 1, got {max_length!r}")
        self.max_length = max_length
        super().__init__(None, None, seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no array of fixed size."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return a short text of printable ASCII; there is nothing to mask."""
        length = int(self.np_random.integers(0, min(_SAMPLE_CHARS, self.max_length) + 1))
        return "".join(map(chr, self.np_random.integers(*_PRINTABLE, size=length)))

    def contains(self, x: object) -> bool:
        """Whether `x` is a string that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Return the texts as they are."""
        return list(sample_n)

    def from_jsonable(self, sample_n: Sequence[Any]) -> list[str]:
        """Return the texts as they are."""
        return [str(text) for text in sample_n]

    def __eq__(self, other: object) -> bool:
        """Equal spaces hold equal texts."""
        return isinstance(other, TextSpace) and self.max_length == other.max_length

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash((TextSpace, self.max_length))

    def __repr__(self) -> str:
        """How to make it."""
        return f"TextSpace({self.max_length})"


class ChoiceSpace(Space[str]):
    """One of some words, such as the allowed action types."""

    def __init__(
        self, choices: Iterable[str], seed: int | np.random.Generator | None = None
    ) -> None:
        """Make the space of `choices`, of which there must be one at least."""
        self.choices = tuple(sorted(str(choice) for choice in choices))
        if not self.choices:
            raise ValueError("choices: expected at least one word, got none")
        super().__init__(None, None, seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A word has no array of fixed size."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return one of the words, each as likely; there is nothing to mask."""
        return self.choices[int(self.np_random.integers(len(self.choices)))]

    def contains(self, x: object) -> bool:
        """Whether `x` is one of the words."""
        return isinstance(x, str) and x in self.choices

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Return the words as they are."""
        return list(sample_n)

    def from_jsonable(self, sample_n: Sequence[Any]) -> list[str]:
        """Return the words as they are."""
        return [str(word) for word in sample_n]

    def __eq__(self, other: object) -> bool:
        """Equal spaces hold equal words."""
        return isinstance(other, ChoiceSpace) and self.choices == other.choices

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash((ChoiceSpace, self.choices))

    def __repr__(self) -> str:
        """How to make it."""
        return f"ChoiceSpace({list(self.choices)})"


class ActionSpace(Dict):
    """Every action that an environment allows, in each form that `step` takes.

    Members are plain dicts that may leave fields out (`{"action_type": "done"}`), `Action` objects,
    and the JSON text of either. A batch of it is a tuple, one action for each sub-environment.
    """

    def __init__(
        self, allowed: Iterable[ActionType], seed: int | np.random.Generator | None = None
    ) -> None:
        """Make the space of the `allowed` types."""
        self.allowed = frozenset(ActionType(kind) for kind in allowed)
        fields: dict[str, Space[Any]] = {
            "action_type": ChoiceSpace(self.allowed),
            "content": TextSpace(MAX_ACTION_CHARS),
            "path": TextSpace(MAX_PATH_CHARS),
        }
        super().__init__(fields, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return an action that `step` accepts; a `write_file` goes to a file in the work folder
        itself.
        """
        action: dict[str, Any] = {"action_type": self.spaces["action_type"].sample()}
        if action["action_type"] != ActionType.DONE:
            action["content"] = self.spaces["content"].sample()
        if action["action_type"] == ActionType.WRITE_FILE:
            action["path"] = f"sample-{int(self.np_random.integers(1000))}.txt"
        return action

    def contains(self, x: object) -> bool:
        """Whether `step` would take `x` as an action of an allowed type."""
        if not isinstance(x, Action | dict | str):
            return False
        try:
            return parse_action(x).action_type in self.allowed
        except ActionError:
            return False

    def __eq__(self, other: object) -> bool:
        """Equal spaces allow equal actions."""
        return isinstance(other, ActionSpace) and self.allowed == other.allowed

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash((ActionSpace, self.allowed))

    def __repr__(self) -> str:
        """How to make it."""
        return f"ActionSpace({sorted(self.allowed)})"


@batch_space.register(ActionSpace)
def _batch_actions(space: ActionSpace, n: int = 1) -> Tuple[Any]:
    # As Gymnasium does for spaces that it does not know: not one dict of arrays, but one action
    # each.
    return Tuple(tuple(ActionSpace(space.allowed) for _ in range(n)))


def _batch_differing(spaces: Sequence[Space[Any]]) -> Tuple[Any]:
    return Tuple(tuple(spaces))


# Gymnasium dispatches on the first of the spaces, which its annotations do not know.
for _kind in (TextSpace, ChoiceSpace, ActionSpace):
    cast(Any, batch_differing_spaces).register(_kind, _batch_differing)


@create_shared_memory.register(TextSpace)
def _create_shared_text(
    space: TextSpace, n: int = 1, ctx: BaseContext | Any = multiprocessing
) -> Any:
    return ctx.Array("B", n * _slot_bytes(space))


@write_to_shared_memory.register(TextSpace)
def _write_shared_text(space: TextSpace, index: int, value: str, shared_memory: Any) -> None:
    data = value.encode("utf-8", "surrogatepass")
    slot = _slot_bytes(space)
    if len(data) > slot - _LENGTH_BYTES:
        raise ValueError(
            f"a text of {len(value)} characters is no member of {space}; it is not cut to fit"
        )
    slots = _slots(shared_memory)
    start = index * slot
    slots[start : start + _LENGTH_BYTES] = np.frombuffer(
        len(data).to_bytes(_LENGTH_BYTES, "little"), np.uint8
    )
    begin = start + _LENGTH_BYTES
    slots[begin : begin + len(data)] = np.frombuffer(data, np.uint8)


@read_from_shared_memory.register(TextSpace)
def _read_shared_text(space: TextSpace, shared_memory: Any, n: int = 1) -> "SharedTexts":
    return SharedTexts(space, shared_memory, n)


class SharedTexts(Sequence[str]):
    """The texts that are in shared memory now, read when they are asked for.

    Gymnasium's `AsyncVectorEnv` reads its buffer once, when it is made, and then expects what it
    got to change with the buffer, as an array would. Copying it (the default there) gives a tuple
    of the texts at that moment.
    """

    def __init__(self, space: TextSpace, shared_memory: Any, n: int) -> None:
        """Look at `n` slots."""
        self._shared_memory = shared_memory
        self._slot = _slot_bytes(space)
        self._n = n

    def __len__(self) -> int:
        """How many texts there are."""
        return self._n

    def __getitem__(self, index: Any) -> Any:
        """Return the text of one sub-environment, or a tuple of several."""
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(self._n)))
        place = range(self._n)[index]
        slots = _slots(self._shared_memory)
        begin = place * self._slot + _LENGTH_BYTES
        length = int.from_bytes(slots[begin - _LENGTH_BYTES : begin].tobytes(), "little")
        return slots[begin : begin + length].tobytes().decode("utf-8", "surrogatepass")

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        """Return the texts as they are now."""
        return tuple(self)

    def __repr__(self) -> str:
        """Show the texts."""
        return repr(tuple(self))


def _slot_bytes(space: TextSpace) -> int:
    return space.max_length * _BYTES_PER_CHAR + _LENGTH_BYTES


def _slots(shared_memory: Any) -> NDArray[np.uint8]:
    return np.frombuffer(shared_memory.get_obj(), np.uint8)
