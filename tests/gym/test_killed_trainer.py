"""A trainer killed inside `env.reset`, `env.step` or the scoring leaves nothing within 5 s."""

import signal
from pathlib import Path

import pytest

from tests.sandbox.test_ownership import below, start_owner, wait_until_nothing_is_left


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", ["reset", "step", "score"])
@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_killed_trainer_leaves_nothing(
    backend: str, moment: str, number: signal.Signals, tmp_path: Path
) -> None:
    trainer = start_owner(moment, backend, tmp_path, module="tests.gym.owner")
    pids = below(trainer.pid)

    trainer.send_signal(number)
    pids |= below(trainer.pid)
    trainer.wait(30)

    wait_until_nothing_is_left(pids, tmp_path)
