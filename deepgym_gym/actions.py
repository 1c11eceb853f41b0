"""What an agent says and what it is told: `Action` and `Observation`.

Field names are those of the HTTP API, so one dict works in Python, over HTTP and in a trace.
"""

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from deepgym_gym.errors import ActionError
from deepgym_gym.limits import MAX_ACTION_CHARS, MAX_PATH_CHARS

# How much of a wrong value its error shows.
_SHOWN_CHARS = 80


class ActionType(StrEnum):
    """The kinds of action that a shell environment knows."""

    CODE = "code"
    BASH = "bash"
    WRITE_FILE = "write_file"
    DONE = "done"


class Action(BaseModel):
    """One action of the agent.

    `code` runs `content` as Python, `bash` runs it under bash, `write_file` writes it to `path`
    (relative to the work directory), `done` ends the episode.

    Raises:
        pydantic.ValidationError: on an unknown type or field, or a `write_file` without a usable
            path. `parse_action` turns it into an `ActionError`.

    Example:
        >>> Action(action_type="bash", content="ls").content
        'ls'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    action_type: ActionType = ActionType.CODE
    content: Annotated[str, Field(max_length=MAX_ACTION_CHARS)] = ""
    path: Annotated[str, Field(max_length=MAX_PATH_CHARS)] | None = None

    @model_validator(mode="after")
    def _shape(self) -> Self:
        if self.action_type is ActionType.WRITE_FILE:
            reason = path_fault(self.path)
            if reason:
                raise ValueError(f'write_file needs a relative path without "..": {reason}')
        if self.action_type is ActionType.BASH and "\0" in self.content:
            raise ValueError("bash content holds a NUL character, which no command line can carry")
        return self


def path_fault(path: str | None) -> str | None:
    """Say what is wrong with a path relative to the work directory, or None if nothing is."""
    if path is None or path in ("", "."):
        return f"got {path!r}"
    if "\0" in path:
        return "got a NUL character"
    if path.startswith("/") or ".." in PurePosixPath(path).parts:
        return f"got {path[:200]!r}"
    if path.endswith("/"):
        return f"got the folder name {path[:200]!r}"
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "got a lone surrogate"
    return None


def parse_action(value: "Action | dict[str, Any] | str") -> Action:
    """Turn what a caller passes as an action into an `Action`.

    Args:
        value: an `Action`, a dict with its fields, or the JSON text of one.

    Raises:
        ActionError: if it is none of these; the message says what was expected, what came and what
        to do.
    """
    if isinstance(value, Action):
        return value
    try:
        if isinstance(value, str):
            return Action.model_validate_json(value)
        if isinstance(value, dict):
            return Action.model_validate(value)
    except ValidationError as error:
        raise ActionError(_told(error)) from None
    raise ActionError(
        f"Bad action: expected an Action, a dict or its JSON text, got {type(value).__name__}."
    )


def _told(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    if not said.startswith("write_file"):
        example = '{"action_type": "bash", "content": "ls"}'
    else:
        example = '{"action_type": "write_file", "path": "a/b.txt", "content": "text"}'
    # What came as a whole may be long, and what is wrong with it was said.
    got = "" if isinstance(first["input"], dict) else f", got {_clipped(first['input'])}"
    return (
        f"Bad action: {where or 'action'}: {said}{got}. Expected e.g. {example}; "
        f"action_type is one of {', '.join(ActionType)}."
    )


def _clipped(value: object) -> str:
    text = repr(value[:_SHOWN_CHARS] if isinstance(value, str) else value)
    return text if len(text) <= 2 * _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


class Observation(BaseModel):
    """What the agent is told after `start` or a step.

    `metadata` holds `exit_code` for a command that finished, `timed_out` for one that did not, and
    only then further facts (`signal`, `oom_killed`, `stdout_dropped_bytes`, `stderr_dropped_bytes`,
    `background_processes`, `shell_restarted`). It is None where no command ran. `step` counts from
    0 (the first observation).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: str
    step: int = 0
    done: bool = False
    screenshot: str | None = None
    metadata: dict[str, Any] | None = None
