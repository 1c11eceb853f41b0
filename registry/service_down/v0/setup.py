import os
import subprocess
import sys

os.chmod("start.sh", 0o755)  # noqa: S103  # a script that everybody may run
os.makedirs("run", exist_ok=True)
for path in PARAMS["closed"]:
    # Closed to its owner alone: others may read it, and so does the verifier, another user.
    os.chmod(path, 0o055 if os.path.isdir(path) else 0o044)
if PARAMS["squat"]:
    os.makedirs(os.path.expanduser("~/.old"), exist_ok=True)
    path = os.path.expanduser("~/.old/old_service.py")
    with open(path, "w") as file:
        file.write(PARAMS["squatter"])
    subprocess.Popen(
        [sys.executable, path, str(PARAMS["squat"])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
