"""Make a folder where the file should be, with the text as its only entry."""

import shlex


def play(variant, observation):
    path = shlex.quote("./" + variant["task"]["path"])
    entry = shlex.quote(variant["task"]["text"].strip("/").split("/")[0] or "x")
    yield {"action_type": "bash", "content": f"mkdir -p {path} && touch {path}/{entry}"}
