import os
import socket
import subprocess
import sys

for folder, _, names in os.walk("."):
    for path in [folder, *(os.path.join(folder, name) for name in names)]:
        # The service refuses what others may write, and the mask of this machine may allow that.
        os.chmod(path, os.stat(path).st_mode & 0o755)
os.chmod("start.sh", 0o755)  # noqa: S103  # a script that everybody may run
os.makedirs("run", exist_ok=True)
for path, mode in PARAMS["opened"].items():
    os.chmod(path, mode)
if PARAMS["squat"]:
    os.makedirs(os.path.expanduser("~/.old"), exist_ok=True)
    path = os.path.expanduser("~/.old/old_service.py")
    with open(path, "w") as file:
        file.write(PARAMS["squatter"])
    # It holds the port from the first moment on.
    server = socket.create_server(("127.0.0.1", PARAMS["squat"]))
    subprocess.Popen(
        [sys.executable, path, str(PARAMS["squat"]), str(server.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[server.fileno()],
        start_new_session=True,
    )
