"""Environments of the tests' own."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import ROOT


@pytest.fixture
def broken_copy(tmp_path: Path) -> Callable[..., Path]:
    """Copy the folder of `notes` and add to, or replace, some of its files."""

    def make(**files: str) -> Path:
        folder = tmp_path / "mine" / "v0"
        shutil.copytree(ROOT / "registry" / "notes" / "v0", folder)
        for name, text in files.items():
            path = folder / name.replace("__", ".")
            path.write_text(text, encoding="utf-8")
        return folder

    return make
