"""Where the local backend puts its folders, and that finding out writes nothing."""

import os
import stat
from pathlib import Path

import pytest

from deepgym_gym.sandbox.local import temporary_folder


def test_chosen_folder_is_the_one_named_and_nothing_is_written_to_find_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    os.utime(tmp_path, (1, 1))

    assert temporary_folder() == str(tmp_path)
    # Making and removing a file would have touched the folder.
    assert os.stat(tmp_path)[stat.ST_MTIME] == 1


def test_a_folder_that_is_not_there_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    monkeypatch.setenv("TEMP", str(tmp_path))

    assert temporary_folder() == str(tmp_path)
