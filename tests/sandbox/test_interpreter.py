"""The interpreter that sandboxes run on where the system's own is missing or too old."""

import sys

import pytest

from deepgym_gym.errors import SandboxUnavailableError
from deepgym_gym.sandbox import interpreter
from deepgym_gym.sandbox.base import SandboxSpec
from deepgym_gym.sandbox.interpreter import Interpreter
from deepgym_gym.sandbox.namespace.backend import NamespaceBackend
from tests.sandbox.behaviours import judge
from tests.sandbox.conftest import Run


def test_the_running_interpreter_serves_from_its_own_folder(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "SYSTEM", "/nonexistent")
    chosen = interpreter.choose.__wrapped__()
    monkeypatch.setattr(interpreter, "choose", lambda: chosen)
    backend = NamespaceBackend()

    sandbox = run(backend.start(SandboxSpec()))
    code = run(sandbox.code("import sys, wave; print(sys.version_info[:2])", 20.0))
    outcome = run(judge(sandbox, "import sys, wave; print(sys.version_info[:2])"))
    run(backend.aclose())

    assert code.stdout == outcome.stdout == f"{tuple(sys.version_info[:2])}\n".encode()


def test_an_interpreter_that_sandboxes_would_cover_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    covered = Interpreter("/tmp/python/bin/python3", "/tmp/python")
    monkeypatch.setattr(interpreter, "choose", lambda: covered)

    with pytest.raises(SandboxUnavailableError, match="lies in /tmp/python"):
        run(NamespaceBackend().start(SandboxSpec()))
