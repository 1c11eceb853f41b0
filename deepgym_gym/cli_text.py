"""What every command of the command line shares: exit codes, consoles and safe text."""

import json
import sys
from enum import IntEnum
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deepgym_gym.results import RunResult

# What is shown of one observation; `--full` shows all of it.
SHOWN_LINES = 40
SHOWN_CHARS = 4000


class Exit(IntEnum):
    """The exit codes of `deepgym-gym`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_SANDBOX = 3
    INTERRUPTED = 130


class CommandFailedError(Exception):
    """An expected failure of a command that is no error of the package: message and exit code."""

    def __init__(self, message: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(message)
        self.code = code


def out() -> Console:
    """Return the console for what the command was asked for."""
    return Console(highlight=False)


def err() -> Console:
    """Return the console for messages about the command itself."""
    return Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout, and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


def visible(text: str) -> str:
    r"""Return `text` with control characters spelled out, so that no agent can drive the terminal.

    Example:
        >>> visible("a\x1b[2Jb")
        'a\\x1b[2Jb'
    """
    return "".join(
        char if char in "\n\t" or char.isprintable() else ascii(char)[1:-1] for char in text
    )


def shown(text: str, *, full: bool = False) -> Text:
    """Return a text of an episode ready for the terminal: safe, and cut unless `full`."""
    if full:
        return Text(visible(text))
    lines = text.splitlines()
    cut = "\n".join(lines[:SHOWN_LINES])[:SHOWN_CHARS]
    result = Text(visible(cut))
    if len(cut) < len("\n".join(lines)):
        result.append(
            f"\n[{len(lines)} lines, {len(text)} characters in all; --full shows them]", "dim"
        )
    return result


def table(title: str, *columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """Return an empty table; the columns named in `numbers` are flush right."""
    # Few lines: it must fit 80 columns, and be read in logs.
    made = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=box.SIMPLE_HEAVY,
        pad_edge=False,
    )
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    # The first column names the row: the others give way.
    made.columns[0].no_wrap = True
    return made


def verdict_text(result: RunResult) -> Text:
    """Say in one line how an episode was judged."""
    if not result.has_verdict:
        return Text.assemble(("no verdict", "bold yellow"), f" ({result.error_type})")
    word, style = ("passed", "bold green") if result.passed else ("not passed", "bold red")
    line = Text.assemble((word, style), f", score {result.score:g}")
    if result.error_type:
        line.append(f" ({result.error_type})")
    return line
