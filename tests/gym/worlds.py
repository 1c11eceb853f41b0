"""Small environments for the tests of `SandboxEnv`, and a source of variants."""

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.env import SandboxEnv
from deepgym_gym.errors import DefinitionError

# Scores 1.0 if notes.txt holds hello, 0.5 if it holds anything else.
FINAL = """
import json, pathlib
notes = pathlib.Path("notes.txt")
text = notes.read_text().strip() if notes.is_file() else None
score = 1.0 if text == "hello" else 0.0 if text is None else 0.5
print(json.dumps({"score": score, "passed": score == 1.0}))
"""
# A tenth for a step that printed something.
STEP = """
import os, pathlib
print(0.1 if pathlib.Path(os.environ["STEP_OUTPUT_PATH"]).read_bytes() else 0.0)
"""
HELLO = {"action_type": "bash", "content": "echo hello > notes.txt; echo written"}
DONE = {"action_type": "done"}


def notes(**fields: Any) -> MultiTurnEnvironment:
    return MultiTurnEnvironment(
        **{"task": "Write hello into notes.txt.", "final_verifier_code": FINAL, **fields}
    )


class Variants:
    """Any number but 666; variant 8 allows less than the others, 9 may print more."""

    name = "variants"

    def definition(self, variant: int) -> MultiTurnEnvironment:
        if variant == 666:
            raise DefinitionError("There is no variant 666.")
        if variant == 8:
            return notes(allowed_actions=["done"])
        if variant == 9:
            return notes(output_kb=4096)
        return notes(task=f"Variant {variant}.", setup_script=f"printf 'world {variant}'")


def make_notes(**kwargs: Any) -> SandboxEnv:
    """The entry point of an id that tests register."""
    return SandboxEnv(notes(step_verifier_code=STEP), **kwargs)


def kill_sandboxes() -> None:
    """End what this process's warden runs, and not the warden, as an outage would."""
    for warden in children(os.getpid()):
        for supervisor in children(warden):
            # Some are short-lived helpers that end by themselves.
            with contextlib.suppress(ProcessLookupError):
                os.kill(supervisor, signal.SIGKILL)


def children(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found
