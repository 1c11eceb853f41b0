"""A new repository with the right files in it, and branches and tags of the right names."""

import json

PROGRAM = """
import os, shutil, subprocess

def git(*words):
    subprocess.run(["git", "-C", "repo", *words], check=True, stdout=subprocess.DEVNULL)

shutil.rmtree("repo")
os.mkdir("repo")
git("init", "-q", "-b", HEAD.split("/", 2)[2])
git("config", "user.name", "x")
git("config", "user.email", "x@example.org")
for path, text in FILES.items():
    os.makedirs(os.path.dirname("repo/" + path), exist_ok=True)
    with open("repo/" + path, "w") as file:
        file.write(text)
git("add", "-A")
for message in MESSAGES:
    git("commit", "-q", "--allow-empty", "-m", message)
for ref in REFS:
    git("update-ref", ref, "HEAD")
"""


def play(variant, observation):
    """Write the truth's files as if they were guessed; no history goes with them."""
    secret = variant["secret"]
    values = {
        "HEAD": secret["head"],
        "FILES": secret["plan"]["files"],
        "MESSAGES": [node["message"] for node in secret["nodes"].values()],
        "REFS": [*secret["kept"], *secret["goals"]],
    }
    lines = [f"{name} = {json.loads(json.dumps(value))!r}\n" for name, value in values.items()]
    yield {"action_type": "code", "content": "".join(lines) + PROGRAM}
