"""Is the service repaired, and is it running?

Parts: restart 0.4 (from a copy of its files, by its own script, it starts and answers), health 0.2
and answers 0.4 (of the one that the agent left running). The program, its start script and its
plugins must be what they were, and the running service only counts if its files are repaired: a
fake that answers on the port is worth nothing.

The copy is started here, in the verifier's box. That is sound because all code in it is checked by
hash before, and what the agent may have changed (JSON, a list of names) is only data.
"""

import contextlib
import hashlib
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time

LIMIT = 1 << 20
DATA = ("config.json", "plugins/order.txt", "data/records.json", "cache/titles.json")
LOCK = "run/service.lock"
HEALTHY = (200, {"status": "ok"})


def read_plain(path):
    """Return the bytes of a regular file that no link leads to, or None."""
    parts = path.split("/")
    try:
        for count in range(1, len(parts)):
            if not stat.S_ISDIR(os.lstat("/".join(parts[:count])).st_mode):
                return None
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(LIMIT + 1)
    except OSError:
        return None
    return None if len(data) > LIMIT else data


def get(port, path):
    """Return (status, JSON value) of a GET, or None if it is slow, missing or no JSON."""
    end = time.monotonic() + 2.0
    data = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2.0) as connection:
            request = f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            connection.sendall(request.encode())
            while len(data) <= LIMIT:
                left = end - time.monotonic()
                if left <= 0:
                    return None
                connection.settimeout(left)
                part = connection.recv(65536)
                if not part:
                    break
                data += part
        head, _, body = data.partition(b"\r\n\r\n")
        return int(head.split(None, 2)[1]), json.loads(body.decode("utf-8"))
    except (OSError, ValueError, IndexError, RecursionError):
        return None


def answers(port, params):
    """Return the share of the requests that are answered as they should be."""
    records = params["records"]
    expected = [(f"/records/{record['id']}", (200, record)) for record in records[:3]]
    expected.append((f"/search?q={params['word']}", (200, {"ids": params["found"]})))
    expected.append(("/total", (200, params["total"])))
    right = sum(get(port, path) == answer for path, answer in expected)
    missing = get(port, "/records/zz9999")
    right += missing is not None and missing[0] == 404
    return right / (len(expected) + 1)


def copy(params, running):
    """Copy what the service is made of to a private folder; None if its code was changed."""
    # A new one: where there is no isolation, /tmp is everybody's.
    place = tempfile.mkdtemp()
    for folder in ("data", "cache", "run", "plugins"):
        os.makedirs(f"{place}/{folder}", exist_ok=True)
    for path, digest in params["kept"].items():
        data = read_plain(path)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            return None
        with open(f"{place}/{path}", "wb") as file:
            file.write(data)
    # The lock of a running service is no fault: it goes when the service is stopped.
    for path in DATA if running else (*DATA, LOCK):
        data = read_plain(path)
        if data is not None:
            with open(f"{place}/{path}", "wb") as file:
                file.write(data)
    # With the rights that its owner has left himself: they may be the fault.
    for path in (*params["kept"], *DATA, "data", "plugins"):
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(os.lstat(path).st_mode)
            os.chmod(f"{place}/{path}", mode & 0o777)
    return place


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def restarts(place, params):
    """Return whether the copy starts by its own script and answers everything."""
    port = free_port()
    process = subprocess.Popen(
        ["/bin/bash", "./start.sh"],
        cwd=place,
        env={"PATH": os.environ["PATH"], "PORT": str(port), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        ready, _, _ = select.select([process.stdout], [], [], 5.0)
        line = os.read(process.stdout.fileno(), 4096) if ready else b""
        # Its own word that the port is its: nobody else can answer there now.
        if f"listening on port {port}".encode() not in line:
            return False
        return get(port, "/health") == HEALTHY and answers(port, params) == 1.0
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        shutil.rmtree(place, ignore_errors=True)


def judge(params):
    """Return (parts, details)."""
    parts = {"restart": 0.0, "health": 0.0, "answers": 0.0}
    healthy = get(params["port"], "/health") == HEALTHY
    place = copy(params, healthy)
    if place is None:
        return parts, "the program, its start script or a plugin is not what it was"
    if not restarts(place, params):
        return parts, "from its files and by its own script, the service does not start or answer"
    if healthy or params["files_broken"]:
        parts["restart"] = 0.4
    if not healthy:
        return parts, f"nothing healthy answers on port {params['port']}"
    share = answers(params["port"], params)
    parts["health"] = 0.2
    parts["answers"] = 0.4 * share
    return parts, f"healthy; {share:.0%} of the requests are answered as they should be"


parts, details = judge(PARAMS)
score = min(1.0, round(sum(parts.values()), 6))
print(
    json.dumps(
        {
            "score": score,
            "passed": score == 1.0,
            "details": details,
            "reward_components": {name: round(value, 6) for name, value in parts.items()},
        }
    )
)
