"""A trainer killed inside `env.reset`, `env.step` or the scoring leaves nothing within 5 s."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.test_ownership import ROOT, below, wait_until_nothing_is_left


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", ["reset", "step", "score"])
@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_killed_trainer_leaves_nothing(
    backend: str, moment: str, number: signal.Signals, tmp_path: Path
) -> None:
    trainer = subprocess.Popen(
        [sys.executable, "-m", "tests.gym.owner", moment, backend],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert trainer.stdout is not None
    with trainer.stdout as lines:
        assert lines.readline() == b"now\n"
    pids = below(trainer.pid)

    trainer.send_signal(number)
    pids |= below(trainer.pid)
    trainer.wait(30)

    wait_until_nothing_is_left(pids, tmp_path)
