"""Choosing a backend by name. One object per process and kind; nothing heavy is imported until it
is asked for.
"""

import importlib
import os
import threading
from typing import cast

from deepgym_gym.errors import DefinitionError
from deepgym_gym.sandbox.base import Backend

_CLASSES = {
    "namespace": ("deepgym_gym.sandbox.namespace.backend", "NamespaceBackend"),
    "local": ("deepgym_gym.sandbox.local", "LocalBackend"),
}
NAMES = ("auto", *_CLASSES)

# Protects `_made`: two threads must not make two wardens.
_lock = threading.Lock()
_made: dict[str, Backend] = {}


def get_backend(name: str = "auto") -> Backend:
    """The process's backend of that name.

    `auto` is the isolated default. It never becomes `local`: where isolation does not work, its
    first `start` raises `SandboxUnavailableError` with the remedy.

    Raises:
        DefinitionError: no backend has that name.
    """
    kind = "namespace" if name == "auto" else name
    if kind not in _CLASSES:
        raise DefinitionError(
            f"Unknown backend: expected one of {', '.join(NAMES)}, got {name!r}. "
            "'auto' isolates with nothing to install, without Docker or a hosted provider."
        )
    with _lock:
        if kind not in _made:
            module, attribute = _CLASSES[kind]
            _made[kind] = cast(Backend, getattr(importlib.import_module(module), attribute)())
        return _made[kind]


async def close_backends() -> None:
    """End every sandbox of this process and what its backends keep running."""
    with _lock:
        backends = list(_made.values())
        _made.clear()
    for backend in backends:
        await backend.aclose()


def _forget_after_fork() -> None:
    """A forked child owns none of its parent's sandboxes."""
    global _lock
    _lock = threading.Lock()
    _made.clear()


os.register_at_fork(after_in_child=_forget_after_fork)
