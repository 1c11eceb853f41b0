"""Starts the service, reads why it stops, mends that, and does so again until it runs."""

import json

START = "timeout 1 ./start.sh 2>&1 | tail -3; cat config.json"
MEND = {
    "is unusable": "rm -f cache/titles.json",
    "run `python3 data/migrate.py`": "python3 data/migrate.py",
    "was left by process": "rm -f run/service.lock",
    "says that process": "rm -f run/service.lock",
    "Permission denied": "chmod -R u+rwX data plugins; ls -lR data plugins",
    "which is not loaded before": "printf 'shelf\\nledger\\nmarket\\n' > plugins/order.txt",
}


def fix(config, key, value, instead_of=None):
    """A command that sets a key of config.json."""
    config = {name: item for name, item in config.items() if name != instead_of}
    config[key] = value
    text = json.dumps(config, indent=2)
    return {"action_type": "write_file", "path": "config.json", "content": text + "\n"}


def next_action(said, port):
    """What to do about what the service said."""
    config = json.loads(said[said.index("{") :].split("[", 1)[0])
    for old, new in (
        ("startup_timeout", "startup_timeout_ms"),
        ("datafile", "data_file"),
        ("max_files", "open_files"),
    ):
        if f"unknown key {old!r}" in said:
            return fix(config, new, config[old], instead_of=old)
    if "No such file" in said and config["data_file"] in said:
        return fix(config, "data_file", "data/records.json")
    if "open_files is" in said or "Too many open files" in said:
        return fix(config, "open_files", 256)
    if "startup_timeout_ms =" in said:
        return fix(config, "startup_timeout_ms", 5000)
    if "Address already in use" in said:
        return {
            "action_type": "bash",
            "content": f"pkill -f 'old_service.py {port}'; sleep 0.1; ps aux",
        }
    for words, command in MEND.items():
        if words in said:
            return {"action_type": "bash", "content": command}
    return None


def play(variant, observation):
    """Act as a capable agent would."""
    port = variant["task"]["port"]
    yield {"action_type": "bash", "content": "ls -la . data run cache plugins; cat service.py"}
    while True:
        said = yield {"action_type": "bash", "content": START}
        action = next_action(said, port)
        if action is None:
            break
        yield action
    yield {"action_type": "bash", "content": "setsid ./start.sh > run/service.log 2>&1 &"}
    wait = (
        "for i in $(seq 100); do grep -q listening run/service.log && break; sleep 0.05; done; "
        "cat run/service.log"
    )
    yield {"action_type": "bash", "content": wait}
