"""An agent as a program of its own: it reads observations and writes actions, one JSON line each.

Run it with::

    deepgym-gym run notes --agent "python examples/json_agent.py"

It needs nothing but Python: any language that reads and writes JSON lines will do. This one looks
around, follows the one task that it understands, and says done.
"""

import json
import re
import sys
from typing import Any


def decide(observation: dict[str, Any]) -> dict[str, Any]:
    """Return the next action."""
    if observation["step"] == 0:
        return {"action_type": "bash", "content": "ls -la"}
    wanted = re.search(r"Write the \S+ `(.*?)` into the file `(.*?)`", observation["task"])
    if observation["step"] == 1 and wanted:
        text, path = wanted.groups()
        return {"action_type": "write_file", "path": path, "content": f"{text}\n"}
    return {"action_type": "done"}


def main() -> None:
    """Answer each observation until the last."""
    for line in sys.stdin:
        observation = json.loads(line)
        if observation["done"]:
            print(f"the last reward was {observation['reward']}", file=sys.stderr)
            break
        print(json.dumps(decide(observation)), flush=True)


if __name__ == "__main__":
    main()
