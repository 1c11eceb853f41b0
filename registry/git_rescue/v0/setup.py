import base64
import os
import shutil
import sys
import zlib

if shutil.which("git") is None:
    sys.exit("this environment needs git in the sandbox: install git on the host or in the image")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


# What git init makes, with the objects of the history in it; no Git runs, so nothing depends on its
# version, its settings or the clock.
for folder in ("info", "hooks", "objects/info", "objects/pack", "refs/heads", "refs/tags"):
    os.makedirs("repo/.git/" + folder)
for name, (kind, text) in PARAMS["objects"].items():
    data = base64.b64decode(text)
    path = f"repo/.git/objects/{name[:2]}/{name[2:]}"
    write(path, zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, 1))
    os.chmod(path, 0o444)
for path, text in PARAMS["git"].items():
    write("repo/.git/" + path, text.encode())
write("repo/.git/index", base64.b64decode(PARAMS["index"]))
for path, text in PARAMS["files"].items():
    write("repo/" + path, text.encode())
