"""The terminal that a person would have seen: as safe text, and drawn as a picture."""

import functools
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from gymnasium import error as gymnasium_error
from numpy.typing import NDArray

from deepgym_gym.actions import Action, ActionType

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

COLUMNS, ROWS = 96, 32
_CELL = (9, 18)
_MARGIN = 12
WIDTH, HEIGHT = COLUMNS * _CELL[0] + 2 * _MARGIN, ROWS * _CELL[1] + 2 * _MARGIN
_FONT_SIZE = 15
_BACKGROUND, _PROMPT_COLOUR = "#11151c", "#7fd1a0"
_COLOURS = {"task": "#8a94a3", "command": "#ffffff", "output": "#c3cad5", "note": "#e3b65f"}
# Only the end is shown, so only the end is kept.
_KEPT_ENTRIES, _KEPT_CHARS = 50, 20_000
_TAB = 4
_MAX_CLUSTER = 4
# Looked up as a program does (by name in the system's font folders), then where they use to be.
_FONTS = (
    "DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "LiberationMono-Regular.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf",
    "Menlo.ttc",
)
_PROMPTS = {
    ActionType.BASH: "$ ",
    ActionType.CODE: ">>> ",
    ActionType.WRITE_FILE: "write ",
    ActionType.DONE: "done",
}


class Line(NamedTuple):
    """A line as it is shown: no control character is left in it.

    `kind` is `task`, `command`, `output` or `note`; a command's first line has a prompt, and those
    after it blanks of that width.
    """

    kind: str
    prompt: str
    text: str


class Terminal:
    """What was typed and printed in one episode, bounded."""

    def __init__(self, task: str = "") -> None:
        self._entries: list[Line] = []
        if task:
            self._remember("task", "# ", task.strip("\n")[:_KEPT_CHARS])

    def add(self, action: Action | str | None, output: str) -> None:
        """Remember an action and what it printed.

        Args:
            action: None where nobody acted; a text is what was said instead of an action.
            output: what the agent was told.
        """
        if isinstance(action, str):
            self._remember("command", "? ", action[:_KEPT_CHARS])
        elif action is not None:
            words = action.content
            if action.action_type is ActionType.WRITE_FILE:
                words = f"{action.path} ({len(action.content)} characters)"
            elif action.action_type is ActionType.DONE:
                words = ""
            self._remember("command", _PROMPTS[action.action_type], words[:_KEPT_CHARS])
        if output:
            self._remember("output", "", output[-_KEPT_CHARS:])

    def note(self, text: str) -> None:
        """Remember a word of ours, such as the score."""
        self._remember("note", "", text)

    def _remember(self, kind: str, prompt: str, text: str) -> None:
        self._entries.append(Line(kind, prompt, text))
        del self._entries[:-_KEPT_ENTRIES]

    def lines(self) -> list[Line]:
        """All that is remembered, line by line."""
        lines = []
        for kind, prompt, text in self._entries:
            for number, line in enumerate(text.removesuffix("\n").split("\n")):
                # The last redraw of a progress bar is what a terminal would show.
                shown = line.rstrip("\r").rpartition("\r")[2]
                lines.append(Line(kind, " " * len(prompt) if number else prompt, safe(shown)))
        return lines

    def text(self) -> str:
        """All that is remembered, as text that is safe to print."""
        return "".join(f"{prompt}{text}\n" for _, prompt, text in self.lines())

    def image(self) -> NDArray[np.uint8]:
        """The last lines, drawn.

        Returns:
            uint8, shape (`HEIGHT`, `WIDTH`, 3).

        Raises:
            gymnasium.error.DependencyNotInstalled: Pillow is missing.
        """
        try:
            from PIL import Image, ImageDraw
        except ImportError:
            raise gymnasium_error.DependencyNotInstalled(
                'render_mode="rgb_array" needs Pillow: pip install "deepgym-gym[render]"'
            ) from None
        picture = Image.new("RGB", (WIDTH, HEIGHT), _BACKGROUND)
        draw = ImageDraw.Draw(picture)
        for row, (kind, prompt, text) in enumerate(self.image_rows()):
            _draw_text(draw, 0, row, prompt, _PROMPT_COLOUR)
            _draw_text(draw, len(prompt), row, text, _COLOURS[kind])
        return np.array(picture, np.uint8)

    def image_rows(self) -> list[Line]:
        """What a picture shows: the last screenful, long lines wrapped."""
        rows: list[Line] = []
        for kind, prompt, text in self.lines()[-ROWS:]:
            parts = _wrapped(text, COLUMNS - len(prompt))
            rows += [
                Line(kind, " " * len(prompt) if place else prompt, part)
                for place, part in enumerate(parts)
            ]
        return rows[-ROWS:]


def safe(text: str) -> str:
    """One line of text with nothing in it that a terminal would act on.

    Control characters, and with them escape codes, become their caret notation; lone surrogates,
    format characters (such as those that turn the direction of a line) and separators of lines
    become replacement characters.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    if character == "\t":
        return " " * _TAB
    code = ord(character)
    if code < 32 or code == 127:
        return "^" + chr(code ^ 64)
    return " " if unicodedata.category(character) == "Zs" else "\N{REPLACEMENT CHARACTER}"


def _width(character: str) -> int:
    """Columns that a character takes."""
    if character.isascii():
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _wrapped(text: str, columns: int) -> list[str]:
    """Cut a line into rows of at most so many columns."""
    if text.isascii():
        return [text[start : start + columns] for start in range(0, len(text), columns)] or [""]
    parts, used = [""], 0
    for cluster, width in _clusters(text):
        if used + width > columns:
            parts.append("")
            used = 0
        parts[-1] += cluster
        used += width
    return parts


def _clusters(text: str) -> list[tuple[str, int]]:
    """Each character with the marks that combine with it, and the columns that they take."""
    clusters: list[tuple[str, int]] = []
    for character in unicodedata.normalize("NFC", text):
        width = _width(character)
        if width == 0 and clusters:
            before, columns = clusters[-1]
            # Stacked marks are a prank: a few are drawn.
            clusters[-1] = ((before + character)[:_MAX_CLUSTER], columns)
        else:
            clusters.append((character, max(1, width)))
    return clusters


def _draw_text(draw: "ImageDraw", column: int, row: int, text: str, colour: str) -> None:
    """Draw a row's text on the grid, so that columns meet whatever the font is."""
    font, monospaced = _font()
    y = _MARGIN + row * _CELL[1]
    if monospaced and text.isascii():
        # A word at a time is ten times faster than a character at a time, and stays on the grid.
        for word in text.split(" "):
            if word:
                draw.text((_MARGIN + column * _CELL[0], y), word, colour, font=font)
            column += len(word) + 1
        return
    for cluster, width in _clusters(text):
        if cluster != " ":
            middle = _MARGIN + (column + width / 2) * _CELL[0]
            draw.text((middle, y), cluster, colour, font=font, anchor="ma")
        column += width


@functools.cache
def _font() -> "tuple[FreeTypeFont | ImageFont, bool]":
    """The font, and whether all of its characters fill a cell."""
    from PIL import ImageFont

    for name in _FONTS:
        try:
            return ImageFont.truetype(name, _FONT_SIZE), True
        except OSError:
            continue
    return ImageFont.load_default(_FONT_SIZE), False
