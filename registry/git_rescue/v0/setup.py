import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zlib


def put(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def git(command):
    """Run one of the world's git commands, with nothing of this machine in it."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_DATE": PARAMS["now"],
        "GIT_COMMITTER_DATE": PARAMS["now"],
        **command.get("env", {}),
    }
    arguments = ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *command["git"]]
    ended = subprocess.run(
        arguments,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if ended.returncode not in command.get("ends", [0]):
        sys.exit(f"{' '.join(command['git'])}: {ended.stdout.decode('utf-8', 'replace')}")
    return ended.stdout.decode("utf-8", "replace")


if shutil.which("git") is None:
    sys.exit(
        "This environment needs the program `git` in the sandbox, and there is none. "
        "Install git on the machine, or use an image that holds it."
    )
os.makedirs(PARAMS["folder"])
os.chdir(PARAMS["folder"])
for data in PARAMS["objects"]:
    whole = base64.b64decode(data)
    name = hashlib.sha1(whole).hexdigest()  # noqa: S324  # git's own name for it
    path = f".git/objects/{name[:2]}/{name[2:]}"
    put(path, zlib.compress(whole, 1))
    os.chmod(path, 0o444)
for name, target in PARAMS["refs"].items():
    put(f".git/{name}", f"{target}\n".encode())
os.makedirs(".git/refs/tags", exist_ok=True)
os.makedirs(".git/info", exist_ok=True)
put(".git/HEAD", f"{PARAMS['head']}\n".encode())
put(".git/config", PARAMS["config"].encode())
git({"git": ["reset", "-q", "--hard"]})
# In place of the line that the reset has written.
shutil.rmtree(".git/logs", ignore_errors=True)
for name, lines in PARAMS["logs"].items():
    text = "".join(f"{old} {new} {who}\t{message}\n" for old, new, who, message in lines)
    put(f".git/logs/{name}", text.encode())
if os.path.exists(".git/ORIG_HEAD"):
    os.unlink(".git/ORIG_HEAD")
for step in PARAMS["steps"]:
    if "git" in step:
        git(step)
    else:
        put(step["path"], step["text"].encode())
print(git({"git": ["status"]}), end="")
