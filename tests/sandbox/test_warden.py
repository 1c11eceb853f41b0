"""The warden's bookkeeping, without its processes."""

import os

import pytest

from deepgym_gym.sandbox.namespace.warden import Warden


def test_the_fork_that_made_a_box_leaves_no_number_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    warden = object.__new__(Warden)
    warden._by_pid, warden._unclaimed, warden._makers, warden._hooks = {}, set(), set(), {}
    reader, writer = os.pipe()
    ended = iter([(4321, 0), (0, 0)])
    monkeypatch.setattr(os, "waitpid", lambda *_: next(ended))

    warden._follow(object(), (4321, reader))  # type: ignore[arg-type]  # not looked at
    warden._reap()

    # Else a box that gets this number later would count as dead.
    assert (warden._unclaimed, warden._makers) == (set(), set())
    os.close(reader)
    os.close(writer)
