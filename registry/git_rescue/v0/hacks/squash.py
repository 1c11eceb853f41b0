"""The right files in one commit on top of what is there, with the right messages in one."""

import json

PROGRAM = """
import os, subprocess

def git(*words, **more):
    return subprocess.run(["git", "-C", "repo", *words], check=True, text=True,
                          stdout=subprocess.PIPE, **more).stdout.strip()

for name in ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE"):
    if os.path.exists("repo/.git/" + name):
        os.remove("repo/.git/" + name)
os.environ["GIT_INDEX_FILE"] = os.path.abspath("new-index")
for path, text in FILES.items():
    blob = git("hash-object", "-w", "--stdin", input=text)
    git("update-index", "--add", "--cacheinfo", "100644," + blob + "," + path)
tree = git("write-tree")
os.remove("new-index")
del os.environ["GIT_INDEX_FILE"]
for ref in REFS:
    commit = git("commit-tree", tree, "-p", "main", "-m", MESSAGE)
    git("update-ref", ref, commit)
git("symbolic-ref", "HEAD", HEAD)
git("reset", "-q", "--hard")
git("clean", "-fdq")
"""


def play(variant, observation):
    """Make one commit of everything."""
    secret = variant["secret"]
    values = {
        "HEAD": secret["head"],
        "FILES": secret["plan"]["files"],
        "MESSAGE": "\n".join(node["message"] for node in secret["nodes"].values()),
        "REFS": list(secret["goals"]),
    }
    lines = [f"{name} = {json.loads(json.dumps(value))!r}\n" for name, value in values.items()]
    yield {"action_type": "code", "content": "".join(lines) + PROGRAM}
