"""The terminal that a person would have seen: as safe text, and drawn as a picture."""

import functools
import os
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import error as gymnasium_error
from numpy.typing import NDArray

from deepgym_gym.actions import Action, ActionType

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

COLUMNS, ROWS = 96, 32
_CELL = (9, 18)
_MARGIN = 12
_FONT_SIZE = 15
_BACKGROUND, _TEXT, _PROMPT, _DIM = "#11151c", "#d7dde6", "#7fd1a0", "#8a94a3"
# Only the end is shown, so only the end is kept.
_KEPT_ENTRIES, _KEPT_CHARS = 50, 20_000
_FONTS = (
    "DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf",
    "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
    "/System/Library/Fonts/Menlo.ttc",
)
_PROMPTS = {
    ActionType.BASH: "$ ",
    ActionType.CODE: ">>> ",
    ActionType.WRITE_FILE: "write ",
    ActionType.DONE: "done",
}


class Terminal:
    """What was typed and printed in one episode, bounded."""

    def __init__(self, task: str = "") -> None:
        self._entries: list[tuple[str, str]] = [("# ", task)] if task else []

    def add(self, action: Action | None, output: str) -> None:
        """Remember an action and what it printed."""
        if action is not None:
            words = action.content
            if action.action_type is ActionType.WRITE_FILE:
                words = f"{action.path} ({len(action.content)} characters)"
            self._entries.append((_PROMPTS[action.action_type], words[:_KEPT_CHARS]))
        if output:
            self._entries.append(("", output[-_KEPT_CHARS:]))
        del self._entries[:-_KEPT_ENTRIES]

    def lines(self) -> list[tuple[str, str]]:
        """(prompt, text) of each line; no text holds a control character."""
        lines = []
        for prompt, text in self._entries:
            for number, line in enumerate(text.rstrip("\n").split("\n")):
                # The last redraw of a progress bar is what a terminal would show.
                shown = line.rstrip("\r").rpartition("\r")[2]
                lines.append((prompt if number == 0 else " " * len(prompt), safe(shown)))
        return lines

    def text(self) -> str:
        """All of it as text that is safe to print."""
        return "\n".join(prompt + line for prompt, line in self.lines()) + "\n"

    def image(self) -> NDArray[np.uint8]:
        """The last lines, drawn: uint8, shape (height, width, 3), always of the same size.

        Raises:
            gymnasium.error.DependencyNotInstalled: Pillow is missing.
        """
        try:
            from PIL import Image, ImageDraw
        except ImportError:
            raise gymnasium_error.DependencyNotInstalled(
                'render_mode="rgb_array" needs Pillow: pip install "deepgym-gym[render]"'
            ) from None
        size = (COLUMNS * _CELL[0] + 2 * _MARGIN, ROWS * _CELL[1] + 2 * _MARGIN)
        picture = Image.new("RGB", size, _BACKGROUND)
        draw = ImageDraw.Draw(picture)
        for row, (prompt, text) in enumerate(self._rows()):
            y = _MARGIN + row * _CELL[1]
            colour = _DIM if prompt.startswith("#") else _TEXT
            for column, character in enumerate((prompt + text)[:COLUMNS]):
                fill = _PROMPT if column < len(prompt) else colour
                draw.text((_MARGIN + column * _CELL[0], y), character, fill, font=_font())
        return np.asarray(picture, np.uint8)

    def _rows(self) -> list[tuple[str, str]]:
        """The last screenful, long lines wrapped."""
        rows: list[tuple[str, str]] = []
        for prompt, text in self.lines():
            width = COLUMNS - len(prompt)
            parts = [text[start : start + width] for start in range(0, len(text), width)] or [""]
            rows += [
                (prompt if place == 0 else " " * len(prompt), part)
                for place, part in enumerate(parts)
            ]
        return rows[-ROWS:]


def safe(text: str) -> str:
    """Text whose control characters, escape codes and lone surrogates do nothing any more."""
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return "    "
    if code < 32:
        return chr(0x2400 + code)
    # Deletes, C1 controls, lone surrogates, and marks that turn the direction of a whole line.
    if 127 <= code < 160 or 0xD800 <= code < 0xE000 or code in range(0x202A, 0x202F):
        return "\N{REPLACEMENT CHARACTER}"
    if code in range(0x2066, 0x206A):
        return "\N{REPLACEMENT CHARACTER}"
    return character


@functools.cache
def _font() -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    for name in _FONTS:
        if os.path.isabs(name) and not os.path.exists(name):
            continue
        try:
            return ImageFont.truetype(name, _FONT_SIZE)
        except OSError:
            continue
    return ImageFont.load_default(_FONT_SIZE)
