"""What the hacks of this folder share: an answer's file."""

import json


def write(answer):
    """Return the action that writes an answer."""
    return {"action_type": "write_file", "path": "answer.json", "content": json.dumps(answer)}
