"""Starts the service, reads why it stops, mends that, until it runs and answers as it should."""

import json
import re

# Ends when the service listens, and when it has stopped; an earlier log must not speak for it.
START = (
    "mkdir -p run; : > run/service.log; setsid ./start.sh > run/service.log 2>&1 & pid=$!\n"
    "until grep -q listening run/service.log || ! kill -0 $pid 2> /dev/null; do sleep 0.02; done\n"
    "tail -3 run/service.log; cat config.json"
)
STOP = (
    "pid=$(cat run/service.lock); kill $pid; while kill -0 $pid 2> /dev/null; do sleep 0.02; done; "
)
TRY = """
import json, urllib.request

def get(path):
    with urllib.request.urlopen(f"http://127.0.0.1:PORT{path}", timeout=2) as answer:
        return json.load(answer)

records = json.load(open("data/records.json"))["records"]
wrong = [r for r in records if r["id"] not in get("/search?q=" + r["title"].split()[-1])["ids"]]
print(get("/health"), get("/total"))
print("search goes wrong" if wrong else "search is right")
"""
MEND = {
    "cache/titles.json:": "rm -f cache/titles.json",
    "has schema 2": "python3 data/migrate.py",
    "already runs, as process": "ps aux; rm -f run/service.lock",
    "is not there yet": "printf 'shelf\\nledger\\nmarket\\n' > plugins/order.txt",
}


def bash(command):
    return {"action_type": "bash", "content": command}


def fix(config, key, value, instead_of=None):
    """A command that sets a key of config.json."""
    config = {name: item for name, item in config.items() if name != instead_of}
    config[key] = value
    text = json.dumps(config, indent=2)
    return {"action_type": "write_file", "path": "config.json", "content": text + "\n"}


def config_in(said):
    return json.JSONDecoder().raw_decode(said[said.index("{") :])[0]


def next_action(said, port):
    """What to do about what the service said."""
    config = config_in(said)
    for old, new in (
        ("startup_timeout", "startup_timeout_ms"),
        ("datafile", "data_file"),
        ("max_files", "open_files"),
    ):
        if f"unknown key {old!r}" in said:
            return fix(config, new, config[old], instead_of=old)
    if "No such file" in said and config["data_file"] in said:
        return fix(config, "data_file", "data/records.json")
    if "Too many open files" in said:
        return fix(config, "open_files", 256)
    if "which is too late" in said:
        return fix(config, "startup_timeout_ms", 5000)
    if "Address already in use" in said:
        # The brackets keep the shell that runs this from being meant.
        return bash(f"ps aux | grep {port}; pkill -f '[o]ld_service.py {port}'")
    denied = re.search(r"(\S+): Permission denied", said)
    if denied:
        return bash(f"chmod go-w {denied[1]}; ls -lR data plugins")
    for words, command in MEND.items():
        if words in said:
            return bash(command)
    return None


def play(variant, observation):
    """Act as a capable agent would."""
    port, plugin = variant["task"]["port"], variant["task"]["plugin"]
    yield bash("ls -la . data run cache plugins; cat service.py")
    while True:
        said = yield bash(START)
        action = next_action(said, port)
        if action is not None:
            yield action
            continue
        tried = yield {"action_type": "code", "content": TRY.replace("PORT", port)}
        if "goes wrong" in tried:
            yield bash(f"{STOP}{MEND['cache/titles.json:']}")
        elif f"'{plugin}: " not in tried:
            yield fix(config_in(said), "plugin", plugin)
            yield bash(STOP)
        else:
            break
