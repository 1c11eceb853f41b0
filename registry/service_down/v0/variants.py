"""What varies: the fault, what the service holds, its port and its plugins.

Ten faults; harder variants have two to four at once, so that repairing one shows the next. Some do
not keep the service from starting, only from answering as it should.
"""

import hashlib
import json
import random
from pathlib import Path

HERE = Path(__file__).parent
# What never varies: the program and its start script, in `files`.
PROGRAM = {
    name: (HERE / "files" / name).read_text(encoding="utf-8") for name in ("service.py", "start.sh")
}

SUBJECTS = {
    "garden seeds": [
        "Early Radish",
        "Blue Borage",
        "Sweet Marjoram",
        "Winter Leek",
        "Giant Fennel",
    ],
    "bicycle parts": ["Brake Cable", "Steel Spoke", "Bottom Bracket", "Chain Link", "Wide Saddle"],
    "board games": ["Harbour Masters", "Nine Bridges", "Salt Road", "Quiet Woods", "Tin Soldiers"],
    "sea charts": ["North Channel", "Skerry Sound", "Cape Lantern", "Drowned Forest", "Pilot Bay"],
}
ADJECTIVES = ["Old", "New", "Small", "Large", "Red", "Green", "Plain", "Fine"]
PLUGINS = ["shelf", "ledger", "market"]
PLUGIN_FILES = [f"plugins/{name}.py" for name in PLUGINS]
FAULTS = [
    "port clash",
    "bad config key",
    "missing migration",
    "permission",
    "stale lock",
    "wrong path",
    "open files",
    "plugin order",
    "corrupt cache",
    "start-up time-out",
]
# The faults of each variant of the table.
TABLE = [[name] for name in FAULTS] + [
    ["stale lock", "wrong path"],
    ["bad config key", "plugin order"],
    ["missing migration", "corrupt cache", "port clash"],
    ["permission", "open files", "wrong path", "start-up time-out"],
]

PLUGIN = '''"""What the total is called: {name}."""

NEEDS = {needs}


def label(count, stock):
    return "{name}: " + str(stock * {factor} + count)
'''
MIGRATE = '''"""Brings records.json from schema 2 (field `in_stock`) to schema 3 (field `stock`)."""

import json
import os

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "records.json")
with open(path) as file:
    store = json.load(file)
if store["schema"] == 2:
    for record in store["records"]:
        record["stock"] = record.pop("in_stock")
    store["schema"] = 3
    with open(path, "w") as file:
        json.dump(store, file, indent=1)
print("schema", store["schema"])
'''
# Not the service: a leftover that sits on its port.
SQUATTER = """import socket, sys
server = socket.socket(fileno=int(sys.argv[2]))
while True:
    server.accept()[0].close()
"""


def stale_cache(cache, word):
    """Return a cache whose titles have wandered to other records, so that a search goes wrong."""
    made = json.loads(cache)
    keys, titles = list(made["titles"]), list(made["titles"].values())
    for shift in range(1, len(keys)):
        moved = dict(zip(keys, titles[shift:] + titles[:shift], strict=True))
        if any((word in moved[key]) != (word in made["titles"][key]) for key in keys):
            return json.dumps({**made, "titles": moved})
    return "{}"


def make_variant(variant):
    """Return the parameters of one variant."""
    rng = random.Random(f"service_down:{variant}")
    if variant < len(TABLE):
        faults = TABLE[variant]
    else:
        faults = rng.sample(FAULTS, rng.choice([1, 1, 2, 2, 3, 4]))
    things = rng.choice(sorted(SUBJECTS))
    names = SUBJECTS[things]
    records = [
        {
            "id": f"{rng.choice('abcdefgh')}{number}",
            "title": f"{rng.choice(ADJECTIVES)} {rng.choice(names)}",
            "stock": rng.randint(0, 60),
        }
        for number in rng.sample(range(100, 999), rng.randint(15, 40))
    ]
    port = rng.randint(20000, 30000)
    chosen = rng.choice(PLUGINS[1:])
    word = rng.choice(names).split()[-1].lower()
    factors = {name: rng.randint(2, 9) for name in PLUGINS}
    needs = {"shelf": [], "ledger": ["shelf"], "market": ["shelf", "ledger"]}
    order = list(PLUGINS)
    config = {
        "port": port,
        "data_file": "data/records.json",
        "cache_file": "cache/titles.json",
        "lock_file": "run/service.lock",
        "open_files": 256,
        "startup_timeout_ms": 5000,
        "plugin": chosen,
    }
    store = {"schema": 3, "records": records}
    digest = hashlib.sha256(json.dumps(sorted(r["id"] for r in records)).encode()).hexdigest()
    titles = {record["id"]: record["title"].lower() for record in records}
    cache = json.dumps({"digest": digest, "titles": titles})
    files, opened, stale = {}, {}, ""
    if "bad config key" in faults:
        old, new = rng.choice(
            [
                ("startup_timeout_ms", "startup_timeout"),
                ("data_file", "datafile"),
                ("open_files", "max_files"),
                # It starts, but with another plugin than its owner wants.
                ("plugin", "plugin"),
            ]
        )
        if old == new:
            config[old] = "shelf"
        config = {new if key == old else key: value for key, value in config.items()}
    if "missing migration" in faults:
        store["schema"] = 2
        for record in records:
            record["in_stock"] = record["stock"]
        store["records"] = [
            {key: record[key] for key in ("id", "title", "in_stock")} for record in records
        ]
    if "permission" in faults:
        path = rng.choice(["data/records.json", "plugins/shelf.py", "config.json", "data"])
        opened = {path: 0o777 if path == "data" else rng.choice([0o666, 0o664, 0o646])}
    if "stale lock" in faults:
        stale = str(rng.randint(800_000, 999_999))
        files["run/service.lock"] = stale
    if "wrong path" in faults:
        key = "data_file" if "data_file" in config else "datafile"
        config[key] = rng.choice(["data/record.json", "date/records.json", "data/v3/records.json"])
    if "open files" in faults:
        key = "open_files" if "open_files" in config else "max_files"
        config[key] = rng.randint(10, 20)
    if "plugin order" in faults:
        order = rng.choice([["ledger", "shelf", "market"], ["market", "ledger", "shelf"]])
        order = order if chosen == "market" else ["ledger", "shelf"]
    if "corrupt cache" in faults:
        cache = rng.choice([cache[: len(cache) // 2], "", "[]", *[stale_cache(cache, word)] * 2])
    if "start-up time-out" in faults:
        key = "startup_timeout_ms" if "startup_timeout_ms" in config else "startup_timeout"
        config[key] = rng.randint(5, 40)
    files |= {
        "config.json": json.dumps(config, indent=2) + "\n",
        "data/records.json": json.dumps(store, indent=1) + "\n",
        "data/migrate.py": MIGRATE,
        "cache/titles.json": cache,
        "plugins/order.txt": "\n".join(order) + "\n",
    }
    for name in PLUGINS:
        files[f"plugins/{name}.py"] = PLUGIN.format(
            name=name, needs=needs[name], factor=factors[name]
        )
    for record in records:
        record.pop("in_stock", None)
    stock = sum(record["stock"] for record in records)
    return {
        "task": {"things": things, "port": str(port), "plugin": chosen},
        "files": files,
        "setup": {
            "opened": opened,
            "squat": port if "port clash" in faults else 0,
            "squatter": SQUATTER,
        },
        "secret": {
            "port": port,
            "records": records,
            "word": word,
            "found": sorted(r["id"] for r in records if word in r["title"].lower()),
            "total": {
                "count": len(records),
                "stock": stock,
                "label": f"{chosen}: {stock * factors[chosen] + len(records)}",
            },
            "kept": {
                name: hashlib.sha256(text.encode()).hexdigest()
                for name, text in {**files, **PROGRAM}.items()
                if name in PROGRAM or name in PLUGIN_FILES
            },
            "faults": faults,
            "plugin": chosen,
            "needs": needs,
            "stale": stale,
            "cache": {"digest": digest, "titles": titles},
        },
        "difficulty": ["easy", "medium", "hard"][min(len(faults), 3) - 1],
    }


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
