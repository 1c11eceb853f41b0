"""Texts in memory that processes share, for Gymnasium's `AsyncVectorEnv`.

It is separate from the spaces because it is about memory, not about what a text may be.
"""

import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from multiprocessing import reduction
from typing import Any, overload

# The encoded length stands in front of each text.
_LENGTH_BYTES = 8


class SharedSlots:
    """One slot for the text of each sub-environment.

    The memory is sparse: a slot is as large as the longest text that it may ever have to hold, and
    takes only as much as the longest that it did hold. `multiprocessing.Array` would fill all of it
    with zeros, some 10 MB a sub-environment, before the first step.

    Args:
        count: slots.
        slot_bytes: of one text in UTF-8, at most.
    """

    def __init__(self, count: int, slot_bytes: int) -> None:
        self._map(_memory_file(count * (slot_bytes + _LENGTH_BYTES)), count, slot_bytes)

    def _map(self, descriptor: int, count: int, slot_bytes: int) -> None:
        self.count, self.slot_bytes = count, slot_bytes
        self._descriptor = descriptor
        self._memory = mmap.mmap(descriptor, count * (slot_bytes + _LENGTH_BYTES))
        weakref.finalize(self, os.close, descriptor)

    def write(self, index: int, text: str) -> None:
        """Replace the text of one slot.

        Raises:
            ValueError: it does not fit, so it is no member of the space; nothing is ever cut.
        """
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > self.slot_bytes:
            raise ValueError(
                f"a text of {len(data)} bytes has no room in a slot of {self.slot_bytes} bytes; "
                "it is no member of the observation space, and is not cut to fit"
            )
        start = index * (self.slot_bytes + _LENGTH_BYTES)
        record = len(data).to_bytes(_LENGTH_BYTES, "little") + data
        self._memory[start : start + len(record)] = record

    def read(self, index: int) -> str:
        """Return the text of one slot, empty before the first write."""
        start = index * (self.slot_bytes + _LENGTH_BYTES)
        begin = start + _LENGTH_BYTES
        length = int.from_bytes(self._memory[start:begin], "little")
        return self._memory[begin : begin + length].decode("utf-8", "surrogatepass")

    def __reduce__(self) -> tuple[Any, ...]:
        # For workers that are spawned rather than forked: they are given the file itself.
        return _attach, (reduction.DupFd(self._descriptor), self.count, self.slot_bytes)


class SharedTexts(Sequence[str]):
    """The texts that are in shared memory now, read when they are asked for.

    Gymnasium's `AsyncVectorEnv` reads its buffer once, when it is made, and then expects what it
    got to change with the buffer, as an array would. Copying it (the default there) gives a tuple
    of the texts at that moment.
    """

    def __init__(self, slots: SharedSlots) -> None:
        self._slots = slots

    def __len__(self) -> int:
        """How many texts there are."""
        return self._slots.count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        """Return the text of one sub-environment, or a tuple of several."""
        places = range(len(self))[index]
        if isinstance(places, int):
            return self._slots.read(places)
        return tuple(map(self._slots.read, places))

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        """Return the texts as they are now."""
        return tuple(self)

    def __repr__(self) -> str:
        """Show the texts."""
        return repr(tuple(self))


def _attach(descriptor: Any, count: int, slot_bytes: int) -> SharedSlots:
    slots = SharedSlots.__new__(SharedSlots)
    slots._map(descriptor.detach(), count, slot_bytes)
    return slots


def _memory_file(size: int) -> int:
    """A descriptor of `size` zeros that take no room yet."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("deepgym-texts")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor
