"""Spaces for what agents say and read: `TextSpace`, `ChoiceSpace` and `ActionSpace`.

Gymnasium's own `Text` holds only the characters of a charset (by default no blank and no newline)
and takes a minute to build with all of Unicode. These hold any Python string, build in
microseconds, and work in Gymnasium's vector environments, shared memory included.
"""

import shlex
from collections.abc import Iterable, Sequence
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

from deepgym_gym.actions import Action, ActionType, parse_action
from deepgym_gym.errors import ActionError
from deepgym_gym.limits import MAX_ACTION_CHARS, MAX_PATH_CHARS
from deepgym_gym.shared_text import SharedSlots, SharedTexts

_PRINTABLE = (32, 127)
_SAMPLE_CHARS = 32
# UTF-8, lone surrogates included, takes at most so many.
_BYTES_PER_CHAR = 4


class _WordSpace(Space[str]):
    """What both spaces of strings share: no shape, no dtype, no masks, and JSON as it is."""

    def __init__(self, seed: int | np.random.Generator | None) -> None:
        super().__init__(None, None, seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no array of fixed size."""
        return False

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Return the texts as they are."""
        return list(sample_n)

    def from_jsonable(self, sample_n: Sequence[Any]) -> list[str]:
        """Return the texts as they are."""
        return [str(text) for text in sample_n]


class TextSpace(_WordSpace):
    r"""Any string of at most `max_length` characters: empty ones, NULs and lone surrogates too.

    A longer text is no member. In the shared memory of `AsyncVectorEnv` each sub-environment has a
    slot for the longest member (it takes only what was really written), so no member is ever cut;
    writing what is no member and has no room raises `ValueError`.

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

        Raises:
            ValueError: `max_length` is no such number.
        """
        if isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1:
            raise ValueError(f"max_length: expected an integer of at least 1, got {max_length!r}")
        self.max_length = max_length
        super().__init__(seed)

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return a short text of printable ASCII.

        Raises:
            ValueError: a mask or probabilities were given; there is nothing to mask.
        """
        _refuse_masks(self, mask, probability)
        length = int(self.np_random.integers(0, min(_SAMPLE_CHARS, self.max_length) + 1))
        return "".join(map(chr, self.np_random.integers(*_PRINTABLE, size=length)))

    def contains(self, x: object) -> bool:
        """Whether `x` is a string that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __eq__(self, other: object) -> bool:
        """Equal spaces hold equal texts."""
        return isinstance(other, TextSpace) and self.max_length == other.max_length

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash((TextSpace, self.max_length))

    def __repr__(self) -> str:
        """How to make it."""
        return f"TextSpace({self.max_length})"


class ChoiceSpace(_WordSpace):
    """One of some words, such as the allowed action types."""

    def __init__(
        self, choices: Iterable[str], seed: int | np.random.Generator | None = None
    ) -> None:
        """Make the space of `choices`.

        Raises:
            ValueError: there are none.
        """
        self.choices = tuple(sorted({str(choice) for choice in choices}))
        if not self.choices:
            raise ValueError("choices: expected at least one word, got none")
        super().__init__(seed)

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return one of the words, each as likely.

        Raises:
            ValueError: a mask or probabilities were given; make a smaller space instead.
        """
        _refuse_masks(self, mask, probability)
        return self.choices[int(self.np_random.integers(len(self.choices)))]

    def contains(self, x: object) -> bool:
        """Whether `x` is one of the words."""
        return isinstance(x, str) and x in self.choices

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

    Example:
        >>> {"action_type": "done"} in ActionSpace(["bash", "done"])
        True
        >>> '{"action_type": "code", "content": "1"}' in ActionSpace(["bash", "done"])
        False
    """

    def __init__(
        self, allowed: Iterable[ActionType | str], seed: int | np.random.Generator | None = None
    ) -> None:
        """Make the space of the `allowed` types.

        Raises:
            ValueError: a type is unknown, or there are none.
        """
        self.allowed = frozenset(ActionType(kind) for kind in allowed)
        fields: dict[str, Space[Any]] = {
            "action_type": ChoiceSpace(self.allowed),
            "content": TextSpace(MAX_ACTION_CHARS),
            "path": TextSpace(MAX_PATH_CHARS),
        }
        super().__init__(fields, seed=seed)

    def sample(
        self, mask: dict[str, Any] | None = None, probability: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return an action that `step` accepts and that harms nothing where it is not isolated.

        Commands and programs print a random text; files get random names in the work folder.

        Raises:
            ValueError: a mask or probabilities were given; make a smaller space instead.
        """
        _refuse_masks(self, mask, probability)
        kind = self.spaces["action_type"].sample()
        if kind == ActionType.DONE:
            return {"action_type": kind}
        text = self.spaces["content"].sample()
        if kind == ActionType.WRITE_FILE:
            path = f"sample-{int(self.np_random.integers(1000))}.txt"
            return {"action_type": kind, "content": text, "path": path}
        quoted = f"echo {shlex.quote(text)}" if kind == ActionType.BASH else f"print({text!r})"
        return {"action_type": kind, "content": quoted}

    def contains(self, x: object) -> bool:
        """Whether `step` would take `x` as an action of an allowed type."""
        if not isinstance(x, Action | dict | str):
            return False
        try:
            return parse_action(x).action_type in self.allowed
        except ActionError:
            return False

    def to_jsonable(self, sample_n: Sequence[Any]) -> list[Any]:  # type: ignore[override]  # a list of actions: fields that are left out have no place in a dict of lists
        """Return each action as JSON has it, in a list."""
        return [
            action.model_dump(mode="json", exclude_none=True)
            if isinstance(action, Action)
            else action
            for action in sample_n
        ]

    def from_jsonable(self, sample_n: Sequence[Any]) -> list[Any]:  # type: ignore[override]  # as above
        """Return the actions of such a list."""
        return list(sample_n)

    def __eq__(self, other: object) -> bool:
        """Equal spaces allow equal actions."""
        return isinstance(other, ActionSpace) and self.allowed == other.allowed

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash((ActionSpace, self.allowed))

    def __repr__(self) -> str:
        """How to make it."""
        return f"ActionSpace({sorted(map(str, self.allowed))})"


def _refuse_masks(space: Space[Any], mask: object, probability: object) -> None:
    if mask is not None or probability is not None:
        raise ValueError(f"{type(space).__name__}.sample takes no mask and no probability")


# How they are batched. What is not registered here falls back to Gymnasium's own way for spaces
# that it does not know: a tuple with one value for each sub-environment.

# Not one dict of tuples, as for any other Dict: actions differ in the fields that they have.
cast(Any, batch_space).register(ActionSpace, cast(Any, batch_space).dispatch(Space))


def _batch_differing(spaces: Sequence[Space[Any]]) -> "Tuple[Any]":
    # In quotes: before Gymnasium 1.3 the class takes no type argument at runtime.
    return Tuple(tuple(spaces))


# Gymnasium dispatches on the first of the spaces, which its annotations do not know.
for _kind in (TextSpace, ChoiceSpace, ActionSpace):
    cast(Any, batch_differing_spaces).register(_kind, _batch_differing)


@create_shared_memory.register(TextSpace)
def _create_shared_text(space: TextSpace, n: int = 1, ctx: Any = None) -> Any:
    return SharedSlots(n, space.max_length * _BYTES_PER_CHAR)


@write_to_shared_memory.register(TextSpace)
def _write_shared_text(space: TextSpace, index: int, value: str, shared_memory: Any) -> None:
    cast(SharedSlots, shared_memory).write(index, value)


@read_from_shared_memory.register(TextSpace)
def _read_shared_text(space: TextSpace, shared_memory: Any, n: int = 1) -> Any:
    return SharedTexts(shared_memory)
