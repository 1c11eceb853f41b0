"""Everything stays, and the branches in trouble become one new commit without parents."""

import json

PROGRAM = """
import os, subprocess

def git(*words, **more):
    return subprocess.run(["git", "-C", FOLDER, *words], check=True, text=True,
                          stdout=subprocess.PIPE, **more).stdout.strip()

subprocess.run("git rebase --quit || git merge --quit; git stash drop", shell=True, cwd=FOLDER)
os.environ["GIT_INDEX_FILE"] = os.path.abspath("new-index")
for path, text in FILES.items():
    blob = git("hash-object", "-w", "--stdin", input=text)
    mode = "100755," if path.endswith(".sh") else "100644,"
    git("update-index", "--add", "--cacheinfo", mode + blob + "," + path)
tree = git("write-tree")
os.remove("new-index")
del os.environ["GIT_INDEX_FILE"]
commit = git("commit-tree", tree, "-m", "All of it")
for ref in REFS:
    git("update-ref", ref, commit)
git("symbolic-ref", "HEAD", HEAD)
git("reset", "-q", "--hard")
git("reflog", "expire", "--expire=now", "--all")
git("gc", "-q", "--prune=now")
"""


def play(variant, observation):
    secret = variant["secret"]
    values = {
        "FOLDER": secret["folder"],
        "HEAD": secret["head"],
        "FILES": secret["files"],
        "REFS": secret["targets"],
    }
    lines = [f"{name} = {json.loads(json.dumps(value))!r}\n" for name, value in values.items()]
    yield {"action_type": "code", "content": "".join(lines) + PROGRAM}
