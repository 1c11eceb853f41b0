"""Every behaviour on every backend that this machine and user can run."""

import os
from collections.abc import Callable

import pytest

from deepgym_gym.sandbox.base import Sandbox
from tests.sandbox.behaviours import BEHAVIOURS, ISOLATED

BACKENDS = ["namespace", "local"]
if os.geteuid() == 0:
    BACKENDS += ["namespace-root-plain", "namespace-rlimits"]


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_behaviour_holds(
    backend: str, name: str, start: Callable[..., Sandbox], run: Callable[..., None]
) -> None:
    if backend == "local" and name in ISOLATED:
        pytest.skip("promised by isolated backends only")
    sandbox = start(backend)

    run(BEHAVIOURS[name](sandbox))
