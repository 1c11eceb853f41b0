"""Doing one action of the agent in its sandbox, once."""

from typing import Any, NamedTuple

from deepgym_gym import limits, observe
from deepgym_gym.actions import Action, ActionType
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.sandbox.base import Sandbox
from deepgym_gym.sandbox.guest_sandbox import FILE_TIMEOUT_S, to_bytes
from deepgym_gym.waiting import within


class Deed(NamedTuple):
    """What an action did.

    `content` and `metadata` are for the agent, `output` is for the step verifier, and `done` tells
    whether it ends the episode.
    """

    content: str
    metadata: dict[str, Any] | None
    output: bytes
    done: bool


async def act(sandbox: Sandbox, definition: MultiTurnEnvironment, action: Action) -> Deed:
    """Do an action.

    Raises:
        ActionError: a `write_file` was refused; nothing has changed.
        SandboxError: the sandbox failed; `may_have_run` tells whether the action may have run.
    """
    if action.action_type is ActionType.DONE:
        return Deed("", None, b"", done=True)
    if action.action_type is ActionType.WRITE_FILE:
        path = action.path or ""
        await within(FILE_TIMEOUT_S, sandbox.write(path, to_bytes(action.content)))
        content = observe.text_of(to_bytes(f"wrote {path}"))
        return Deed(content, None, content.encode(), done=False)
    timeout_s = definition.timeout_per_step
    if action.action_type is ActionType.CODE:
        running = sandbox.code(action.content, timeout_s)
    else:
        running = sandbox.exec(action.content, timeout_s, persistent=definition.persistent_shell)
    result = await within(timeout_s, running)
    seen = await observe.observed(result, timeout_s, definition.output_kb * limits.KIB)
    return Deed(seen.content, observe.metadata_of(result), observe.output_of(result), seen.done)
