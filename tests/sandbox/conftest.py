"""Backends for the sandbox tests: one event loop and one backend object each, for as long as
pytest's worker lives.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from deepgym_gym.sandbox.base import Backend, Sandbox, SandboxSpec
from deepgym_gym.sandbox.local import LocalBackend
from deepgym_gym.sandbox.namespace.backend import NamespaceBackend

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Run a coroutine on the worker's one loop."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def backends(run: Run) -> Iterator[dict[str, Backend]]:
    made: dict[str, Backend] = {"namespace": NamespaceBackend(), "local": LocalBackend()}
    if os.geteuid() == 0:
        made["namespace-root-plain"] = NamespaceBackend(mode="root-plain")
        made["namespace-rlimits"] = NamespaceBackend(cgroups=False)
    yield made
    for backend in made.values():
        run(backend.aclose())


@pytest.fixture
def start(run: Run, backends: dict[str, Backend]) -> Iterator[Callable[..., Sandbox]]:
    """Start sandboxes that are stopped, and proved to have left nothing, at the test's end."""
    started: list[Sandbox] = []

    def make(backend: str = "namespace", spec: SandboxSpec | None = None) -> Sandbox:
        sandbox: Sandbox = run(backends[backend].start(spec or SandboxSpec()))
        started.append(sandbox)
        return sandbox

    yield make
    for sandbox in started:
        run(sandbox.stop())
