"""A new repository with the right files, messages and names."""

import json

PROGRAM = """
import os, shutil, subprocess

def git(*words):
    subprocess.run(["git", "-C", FOLDER, *words], check=True, stdout=subprocess.DEVNULL)

shutil.rmtree(FOLDER)
os.mkdir(FOLDER)
git("init", "-q", "-b", HEAD.split("/", 2)[2])
git("config", "user.name", NAME)
git("config", "user.email", MAIL)
for message in MESSAGES:
    git("commit", "-q", "--allow-empty", "-m", message)
for path, text in FILES.items():
    os.makedirs(os.path.dirname(FOLDER + "/" + path), exist_ok=True)
    with open(FOLDER + "/" + path, "w") as file:
        file.write(text)
    if path.endswith(".sh"):
        os.chmod(FOLDER + "/" + path, 0o755)
git("add", "-A")
git("commit", "-q", "-m", "All of it")
for ref in REFS:
    git("update-ref", ref, "HEAD")
"""


def play(variant, observation):
    secret = variant["secret"]
    name, mail = variant["task"]["me"][:-1].split(" <")
    values = {
        "FOLDER": secret["folder"],
        "HEAD": secret["head"],
        "NAME": name,
        "MAIL": mail,
        "FILES": secret["files"],
        "MESSAGES": [node.get("message") or "Merge" for node in secret["graph"]],
        "REFS": list(secret["refs"]),
    }
    lines = [f"{name} = {json.loads(json.dumps(value))!r}\n" for name, value in values.items()]
    yield {"action_type": "code", "content": "".join(lines) + PROGRAM}
