"""What varies: where and by what the incident arose, clocks, forms of the logs, red herrings.

Easy: the clocks agree, all logs have one form, and the gateway names the users. Medium: clocks
differ and say by how much, the forms differ, users hide behind sessions, one kind of request fails
all day long. Hard: nobody says how clocks differ, users share kiosks, and another burst of errors
harms nobody.
"""

import hashlib
import json
import random
from functools import lru_cache

from .catalog import CAUSES
from .world import World

# (difficulty, role of the service, cause)
TABLE = [
    ("easy", "store", "disk_full"),
    ("easy", "middle", "schema_mismatch"),
    ("easy", "gateway", "name_lookup"),
    ("easy", "store", "checksum_error"),
    ("medium", "store", "lock_timeout"),
    ("medium", "middle", "pool_exhausted"),
    ("medium", "gateway", "certificate_expired"),
    ("medium", "middle", "out_of_memory"),
    ("hard", "store", "time_limit"),
    ("hard", "middle", "cache_corrupt"),
    ("hard", "gateway", "rate_limited"),
    ("hard", "store", "bad_config"),
]
OFF = (
    "The gateway's clock is right. Those of the others are off, each by an amount that does not "
    "change; "
)
CLOCKS = {
    "easy": "The clocks of all three agree.",
    "medium": OFF + "their logs say by how much.",
    "hard": OFF + "no log says by how much, but a request is handed on in less than 25 ms unless "
    "something failed before.",
}
USERS = {
    "easy": "The gateway's log names the user of each request.",
    "medium": "The gateway's log names the session of each request and, at its login, the "
    "session's user.",
    "hard": "The gateway's log names the device of each request. A device is used by whoever "
    "logged in on it last; many people share them.",
}


@lru_cache(maxsize=64)
def _variant(variant):
    rng = random.Random(f"log_triage:{variant}")
    if variant < len(TABLE):
        level, root, cause = TABLE[variant]
    else:
        level, cause = rng.choice(["easy", "medium", "hard"]), rng.choice(sorted(CAUSES))
        root = rng.choice(CAUSES[cause][1])
    while True:
        world = World(rng, level, root, cause)
        world.play()
        if world.is_fair():
            break
    files = {f"logs/{log.name}.log": log.text() for log in world.logs.values()}
    return json.dumps(
        {
            "task": {
                "middle": world.services["middle"],
                "store": world.services["store"],
                "clocks": CLOCKS[level],
                "users": USERS[level],
                "causes": "\n".join(f"- `{code}`: {CAUSES[code][0]}" for code in CAUSES),
            },
            "files": files,
            "secret": {
                "truth": world.truth(),
                "people": len(world.users),
                "logs": {
                    path: hashlib.sha256(text.encode()).hexdigest() for path, text in files.items()
                },
                "services": world.services,
            },
            "difficulty": level,
        }
    )


def make_variant(variant):
    """Return the parameters of one variant."""
    return json.loads(_variant(variant))


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
