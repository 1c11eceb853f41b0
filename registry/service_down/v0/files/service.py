"""A small catalogue over HTTP: reads its folder, listens on loopback, answers until it is stopped."""

import hashlib
import http.server
import importlib.util
import json
import os
import resource
import socketserver
import sys
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
KNOWN = {
    "port",
    "data_file",
    "cache_file",
    "lock_file",
    "open_files",
    "startup_timeout_ms",
    "plugin",
}
SCHEMA = 3
# One handle for each shelf.
SHELVES = 24
STAGES = 6


def stop(reason):
    print(f"service: cannot start: {reason}", file=sys.stderr, flush=True)
    sys.exit(1)


def read(name):
    """Return a file's text; refuses what others could have changed."""
    path = os.path.join(HERE, name)
    try:
        for place in (os.path.dirname(path), path):
            mode = os.stat(place).st_mode & 0o777
            if mode & 0o022 and place != HERE:
                where = os.path.relpath(place, HERE)
                stop(f"{where}: Permission denied: others than the owner may write (mode {mode:o})")
        with open(path) as file:
            return file.read()
    except OSError as error:
        stop(f"{name}: {error.strerror}")


def read_config():
    try:
        config = json.loads(read("config.json"))
    except ValueError as error:
        stop(f"config.json: {error}")
    unknown = sorted(set(config) - KNOWN)
    if unknown:
        stop(f"config.json: unknown key {unknown[0]!r}; known are {', '.join(sorted(KNOWN))}")
    missing = sorted(KNOWN - set(config))
    if missing:
        stop(f"config.json: key {missing[0]!r} is missing")
    return config


def read_records(config):
    try:
        store = json.loads(read(config["data_file"]))
    except ValueError as error:
        stop(f"{config['data_file']}: {error}")
    if store.get("schema") != SCHEMA:
        stop(f"{config['data_file']} has schema {store.get('schema')}, this program needs {SCHEMA}")
    return {record["id"]: record for record in store["records"]}


def take_lock(config):
    path = os.path.join(HERE, config["lock_file"])
    try:
        with open(path) as file:
            holder = file.read().strip()
    except FileNotFoundError:
        holder = ""
    except OSError as error:
        stop(f"{config['lock_file']}: {error.strerror}")
    if holder and holder != str(os.getpid()):
        stop(f"{config['lock_file']} says that the service already runs, as process {holder}")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(str(os.getpid()))
    except OSError as error:
        stop(f"{config['lock_file']}: {error.strerror}")
    return path


def read_titles(config, records):
    """Return the titles to search in: those of the cache, if there is one."""
    digest = hashlib.sha256(json.dumps(sorted(records)).encode()).hexdigest()
    if not os.path.exists(os.path.join(HERE, config["cache_file"])):
        return {key: record["title"].lower() for key, record in records.items()}
    try:
        cache = json.loads(read(config["cache_file"]))
        if cache["digest"] != digest:
            raise ValueError("it was made for other records")
        return cache["titles"]
    except (ValueError, KeyError, TypeError) as error:
        stop(f"{config['cache_file']}: {type(error).__name__}: {error}")


def load_plugins(config):
    """Load plugins in the order of plugins/order.txt; each may need some before it."""
    loaded = {}
    for name in read("plugins/order.txt").split():
        if not name.isidentifier():
            stop(f"plugins/order.txt: {name!r} is no name of a plugin")
        read(f"plugins/{name}.py")
        try:
            path = os.path.join(HERE, "plugins", f"{name}.py")
            spec = importlib.util.spec_from_file_location(f"plugin_{name}", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        except Exception as error:
            stop(f"plugins/{name}.py: {type(error).__name__}: {error}")
        for needed in module.NEEDS:
            if needed not in loaded:
                stop(f"plugin {name!r}: {needed!r} is not there yet")
        loaded[name] = module
    if config["plugin"] not in loaded:
        stop(f"plugin {config['plugin']!r} is not in plugins/order.txt")
    return loaded[config["plugin"]].label


def prepare(config, began):
    """Open what is needed and warm up, in the time that the configuration allows."""
    try:
        handles = [open(os.path.join(HERE, config["data_file"])) for _ in range(SHELVES)]
    except OSError as error:
        stop(f"shelves: {error.strerror}")
    for stage in range(STAGES):
        time.sleep(0.01)
        spent = (time.monotonic() - began) * 1000
        if spent > config["startup_timeout_ms"]:
            stop(f"stage {stage + 1} of {STAGES} was reached after {spent:.0f} ms, which is too late")
    return handles


def handler(records, titles, label):
    """Return the class that answers requests."""

    def answer(url):
        query = urllib.parse.parse_qs(url.query)
        if url.path == "/health":
            return {"status": "ok"}
        if url.path.startswith("/records/"):
            return records.get(urllib.parse.unquote(url.path[len("/records/") :]))
        if url.path == "/search" and "q" in query:
            word = query["q"][0].lower()
            return {"ids": sorted(key for key, title in titles.items() if word in title)}
        if url.path == "/total":
            stock = sum(record["stock"] for record in records.values())
            return {"count": len(records), "stock": stock, "label": label(len(records), stock)}
        return None

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = answer(urllib.parse.urlsplit(self.path))
            body = json.dumps(found or {"error": "not found"}).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # Without looking for its own name, which there may be nobody to ask for.
    server_bind = socketserver.TCPServer.server_bind


def main():
    began = time.monotonic()
    config = read_config()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (config["open_files"], limits[1]))
    lock = take_lock(config)
    try:
        records = read_records(config)
        titles = read_titles(config, records)
        answers = handler(records, titles, load_plugins(config))
        handles = prepare(config, began)
        port = int(os.environ.get("PORT") or config["port"])
        try:
            server = Server(("127.0.0.1", port), answers)
        except OSError as error:
            stop(f"port {port}: {error.strerror}")
        print(f"service: listening on port {port}, {len(handles)} shelves", flush=True)
        server.serve_forever()
    finally:
        try:
            os.unlink(lock)
        except OSError:
            pass


main()
