"""Is the service repaired, and is it running?

Parts: `repairs` 0.2 (the share of its faults that are gone), `restart` 0.3 (from a copy of its
files and by its own script it starts and answers everything), `health` 0.1 and `answers` 0.4 (of
the one that the agent left running). The program, its start script and its plugins must be what
they were, and no record may be lost, else nothing counts. A running service counts only if its
files are repaired: a fake that answers on the port is worth nothing.

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
FOLDERS = ("data", "cache", "run", "plugins")
LOCK = "run/service.lock"
KEYS = {
    "port",
    "data_file",
    "cache_file",
    "lock_file",
    "open_files",
    "startup_timeout_ms",
    "plugin",
}
HEALTHY = (200, {"status": "ok"})
# The task says 2 seconds; a busy machine may double that. One request that nobody answers ends it.
PATIENCE_S = 5.0
START_S = 15.0


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


def read_json(path):
    """Return the value that a plain file holds as JSON, or None."""
    try:
        return json.loads((read_plain(path) or b"").decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def get(port, path):
    """Return (status, JSON value) of a GET, or None if it is slow, missing or no JSON."""
    end = time.monotonic() + PATIENCE_S
    data = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
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
    right = 0
    for path, wanted in expected:
        answer = get(port, path)
        if answer is None:
            break
        right += answer == wanted
    # Who finds nothing at all is right about what does not exist, but that is worth nothing.
    missing = get(port, "/records/zz9999") if right else None
    right += missing is not None and missing[0] == 404
    return right / (len(expected) + 1)


def code_kept(params):
    """Return whether the program, its script and its plugins are what they were."""
    for path, digest in params["kept"].items():
        data = read_plain(path)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            return False
    return True


def records_kept(params):
    """Return whether the records are those that they were, in the old schema or the new."""
    store = read_json("data/records.json")
    try:
        names = {2: "in_stock", 3: "stock"}
        found = {
            record["id"]: (record["title"], record[names[store["schema"]]], len(record))
            for record in store["records"]
        }
        count = len(store["records"])
    except (TypeError, KeyError):
        return False
    wanted = {r["id"]: (r["title"], r["stock"], 3) for r in params["records"]}
    return found == wanted and count == len(wanted)


def number_from(value, least):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= least


def others_write(path):
    try:
        return bool(os.lstat(path).st_mode & 0o022)
    except OSError:
        return True


def order_is_right(params):
    loaded = set()
    for name in (read_plain("plugins/order.txt") or b"").decode("utf-8", "replace").split():
        if not set(params["needs"].get(name, [""])) <= loaded:
            return False
        loaded.add(name)
    return params["plugin"] in loaded


def is_gone(fault, params):
    """Return whether a fault is gone from the files."""
    config = read_json("config.json")
    config = config if isinstance(config, dict) else {}
    if fault == "bad config key":
        return set(config) == KEYS and config["plugin"] == params["plugin"]
    if fault == "missing migration":
        store = read_json("data/records.json")
        return isinstance(store, dict) and store.get("schema") == 3
    if fault == "permission":
        paths = ("config.json", "data", "data/records.json", "plugins", *params["kept"])
        return not any(others_write(path) for path in paths)
    if fault == "stale lock":
        return (read_plain(LOCK) or b"").decode("utf-8", "replace").strip() != params["stale"]
    if fault == "wrong path":
        return config.get("data_file", config.get("datafile")) == "data/records.json"
    if fault == "open files":
        return number_from(config.get("open_files", config.get("max_files")), 40)
    if fault == "plugin order":
        return order_is_right(params)
    if fault == "corrupt cache":
        return not os.path.lexists("cache/titles.json") or (
            read_json("cache/titles.json") == params["cache"]
        )
    if fault == "start-up time-out":
        value = config.get("startup_timeout_ms", config.get("startup_timeout"))
        return number_from(value, 200)
    return False


def copy(place, params, running):
    """Copy what the service is made of, with the rights that it has; False if that cannot be."""
    for folder in FOLDERS:
        os.mkdir(f"{place}/{folder}")
    paths = [*params["kept"], *DATA]
    # The lock of a running service is no fault: it goes when the service is stopped.
    if not running or not is_gone("stale lock", params):
        paths.append(LOCK)
    for path in paths:
        data = read_plain(path)
        if data is not None:
            with open(f"{place}/{path}", "wb") as file:
                file.write(data)
        elif os.path.lexists(path):
            return False
    for path in (*paths, "data", "plugins", "cache"):
        with contextlib.suppress(OSError):
            os.chmod(f"{place}/{path}", stat.S_IMODE(os.lstat(path).st_mode) & 0o777)
    return True


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
        ready, _, _ = select.select([process.stdout], [], [], START_S)
        line = os.read(process.stdout.fileno(), 4096) if ready else b""
        # Its own word that the port is its: nobody else can answer there now.
        if not line.startswith(f"service: listening on port {port},".encode()):
            return False
        return get(port, "/health") == HEALTHY and answers(port, params) == 1.0
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def judge(params):
    """Return (parts, details)."""
    parts = {"repairs": 0.0, "restart": 0.0, "health": 0.0, "answers": 0.0}
    if not code_kept(params):
        return parts, "the program, its start script or a plugin is not what it was"
    if not records_kept(params):
        return parts, "records are lost, or cannot be read"
    faults = params["faults"]
    gone = sum(is_gone(fault, params) for fault in faults)
    parts["repairs"] = 0.2 * gone / len(faults)
    config = read_json("config.json")
    if not isinstance(config, dict) or config.get("port") != params["port"]:
        return parts, "config.json does not say the right port"
    healthy = get(params["port"], "/health") == HEALTHY
    # A new one: where there is no isolation, /tmp is everybody's.
    place = tempfile.mkdtemp()
    try:
        if not copy(place, params, healthy) or not restarts(place, params):
            return parts, "from its files, by its own script, it does not start or answer rightly"
    finally:
        shutil.rmtree(place, ignore_errors=True)
    share = answers(params["port"], params) if healthy else 0.0
    # A port clash alone leaves the files whole: then nothing is repaired before it runs.
    if gone or share:
        parts["restart"] = 0.3
    if "port clash" in faults and share == 1.0:
        parts["repairs"] = 0.2 * (gone + 1) / len(faults)
    if not share:
        return parts, f"nothing that is healthy and knows its records answers on {params['port']}"
    parts["health"] = 0.1
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
