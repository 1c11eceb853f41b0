"""Refs and objects that only bear the right names."""

import json

PROGRAM = """
import os, zlib

for ref in REFS:
    os.makedirs(os.path.dirname("repo/.git/" + ref), exist_ok=True)
    with open("repo/.git/" + ref, "w") as file:
        file.write(REFS[ref] + "\\n")
with open("repo/.git/packed-refs", "w") as file:
    file.write("# pack-refs with: peeled fully-peeled sorted\\n")
    file.writelines(f"{name} {ref}\\n" for ref, name in sorted(REFS.items()))
with open("repo/.git/HEAD", "w") as file:
    file.write(f"ref: {HEAD}\\n")
for name in [*NODES, *REFS.values()]:
    folder = "repo/.git/objects/" + name[:2]
    os.makedirs(folder, exist_ok=True)
    path = folder + "/" + name[2:]
    if os.path.exists(path):
        os.remove(path)
    text = NODES.get(name, "nothing\\n").encode()
    with open(path, "wb") as file:
        file.write(zlib.compress(b"commit %d\\0" % len(text) + text))
"""


def play(variant, observation):
    """Write what the verifier looks for, where it looks, without the contents."""
    secret = variant["secret"]
    nodes = {
        name: f"tree {node['tree']}\n"
        + "".join(f"parent {parent}\n" for parent in node["parents"])
        + "author x <x@example.org> 1600000000 +0000\n"
        + f"committer x <x@example.org> 1600000000 +0000\n\n{node['message']}\n"
        for name, node in secret["nodes"].items()
    }
    values = {
        "HEAD": secret["head"],
        "NODES": nodes,
        "REFS": {ref: goal["commit"] for ref, goal in secret["goals"].items()},
    }
    lines = [f"{name} = {json.loads(json.dumps(value))!r}\n" for name, value in values.items()]
    yield {"action_type": "code", "content": "".join(lines) + PROGRAM}
