"""What varies: where the incident arose, its cause, the clocks, the noise and the red herrings."""

import datetime
import hashlib
import random

MIDDLES = ["checkout", "search", "billing", "booking"]
STORES = ["ledger", "inventory", "archive", "vault"]
CAUSES = {
    "gateway": ["tls_expired", "header_overflow", "route_table_stale"],
    "middle": ["pool_exhausted", "feature_flag_mismatch", "cache_poisoned", "schema_mismatch"],
    "store": ["disk_full", "lock_timeout", "replica_lag", "checksum_mismatch"],
}
HERRINGS = ["client_abort", "slow_query", "rate_limited", "gc_pause", "dns_retry", "bad_token"]
SYLLABLES = ["ka", "lo", "mi", "ren", "su", "ta", "vor", "wen", "xi", "yol", "zan", "bel"]

# (where, requests, users, clock skew in seconds, red herring in bulk)
TABLE = [
    ("store", 200, 12, 0.0, False),
    ("middle", 200, 15, 0.0, False),
    ("gateway", 250, 15, 2.5, False),
    ("store", 300, 20, 7.25, False),
    ("middle", 400, 30, 30.5, True),
    ("store", 500, 40, 95.125, True),
    ("gateway", 500, 40, 12.75, True),
    ("middle", 700, 60, 301.5, True),
    ("store", 900, 80, 47.625, True),
]


def stamp(time):
    """A time as the logs write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


def names(rng, count):
    """Distinct user names."""
    found = []
    while len(found) < count:
        name = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 3)))
        if name not in found:
            found.append(name)
    return found


def make_world(variant, shape):
    """Return the logs and the truth."""
    where, requests, users, skew, bulk = shape
    rng = random.Random(f"log_triage:{variant}")
    middle, store = rng.choice(MIDDLES), rng.choice(STORES)
    services = {"gateway": "gateway", "middle": middle, "store": store}
    cause = rng.choice(CAUSES[where])
    herring = rng.choice(HERRINGS)
    people = names(rng, users)
    # Only these are ever hit: naming everybody is no answer.
    shard = set(rng.sample(people, max(3, users * 35 // 100)))
    offsets = {
        key: datetime.timedelta(milliseconds=int(rng.uniform(-1000, 1000) * skew))
        for key in services
    }
    origin = datetime.datetime(2024, rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 22))
    lines = {key: [] for key in services}

    def log(key, time, level, text):
        lines[key].append((time + offsets[key], level, text))

    def ms(low, high):
        return datetime.timedelta(milliseconds=rng.randint(low, high))

    length = requests * 2.0
    first, last = sorted(rng.uniform(0.25, 0.75) * length for _ in range(2))
    last = max(last, first + length * 0.2)
    affected, cause_times = [], []
    time = origin
    for _ in range(requests):
        time += datetime.timedelta(milliseconds=rng.randint(200, 3800))
        request = f"{rng.getrandbits(32):08x}"
        user = rng.choice(people)
        elapsed = (time - origin).total_seconds()
        down = first <= elapsed <= last and user in shard and rng.random() < 0.9
        log(
            "gateway", time, "INFO", f"req={request} user={user} GET /{middle}/{rng.randint(1, 99)}"
        )
        to_middle, to_store = time + ms(3, 20), time + ms(25, 60)
        back = time + ms(80, 160)
        status = 200
        if down and where == "gateway":
            # Its own failure: nothing behind it sees the request.
            log("gateway", to_middle, "ERROR", f"req={request} cause={cause}")
            cause_times.append((to_middle, request))
            status = 500
        else:
            log("middle", to_middle, "INFO", f"req={request} accepted")
            if down and where == "middle":
                log("middle", to_store, "ERROR", f"req={request} cause={cause}")
                cause_times.append((to_store, request))
                status = 503
            elif down:
                log("store", to_store, "ERROR", f"req={request} cause={cause}")
                cause_times.append((to_store, request))
                log("middle", to_store + ms(2, 15), "ERROR", f"req={request} store failed")
                status = 502
            else:
                log("store", to_store, "INFO", f"req={request} read rows={rng.randint(1, 40)}")
                chance = rng.random()
                if chance < 0.04:
                    # A single failure of another cause, in any service.
                    key = rng.choice(["middle", "store"])
                    other = rng.choice([c for c in HERRINGS + CAUSES[key] if c != cause])
                    log(key, to_store + ms(1, 9), "ERROR", f"req={request} cause={other}")
                    status = rng.choice([500, 503])
                elif chance < 0.1:
                    # A retry that succeeds: no harm done, though it names a cause.
                    log(
                        "middle",
                        to_store + ms(1, 9),
                        "WARN",
                        f"req={request} retry cause={herring}",
                    )
                    log("store", to_store + ms(20, 40), "INFO", f"req={request} read rows=1")
                elif chance < 0.16:
                    back += ms(400, 900)
                    log("middle", back - ms(5, 20), "WARN", f"req={request} slow")
        if status != 200:
            log("gateway", back, "ERROR", f"req={request} upstream failed")
        log("gateway", back + ms(1, 3), "INFO", f"req={request} status={status}")
        if down:
            affected.append((request, user))
        if bulk and rng.random() < 0.25:
            # Louder than the incident, and harmless.
            key = rng.choice(["middle", "store", "gateway"])
            log(key, time + ms(1, 900), "WARN", f"cause={herring} no request affected")
    texts = {}
    for key, name in services.items():
        rows = sorted(lines[key], key=lambda row: row[0])
        seconds = offsets[key].total_seconds()
        head = rows[0][0] - datetime.timedelta(seconds=1)
        out = [f"{stamp(head)} INFO {name} started, clock offset {seconds:+.3f}s"]
        out += [f"{stamp(when)} {level} {name} {text}" for when, level, text in rows]
        texts[f"logs/{name}.log"] = "\n".join(out) + "\n"
    cause_times.sort()
    truth = {
        "service": services[where],
        "cause": cause,
        "first_request": cause_times[0][1],
        "start": stamp(cause_times[0][0]),
        "end": stamp(cause_times[-1][0]),
        "users": sorted({user for _, user in affected}),
    }
    return services, texts, truth, people, herring


def make_variant(variant):
    """Return the parameters of one variant."""
    if variant < len(TABLE):
        shape = TABLE[variant]
    else:
        rng = random.Random(f"log_triage shape:{variant}")
        shape = (
            rng.choice(["gateway", "middle", "store"]),
            rng.randint(200, 800),
            rng.randint(12, 70),
            rng.choice([0.0, round(rng.uniform(1, 120), 3)]),
            rng.random() < 0.5,
        )
    services, texts, truth, people, herring = make_world(variant, shape)
    bulk = shape[4]
    noise = (
        f"One warning (`cause={herring}`) is repeated all over the logs; it harms nobody."
        if bulk
        else "The logs are quiet otherwise."
    )
    return {
        "task": {"middle": services["middle"], "store": services["store"], "noise": noise},
        "files": texts,
        "secret": {
            "truth": truth,
            "people": len(people),
            "logs": {
                path: hashlib.sha256(text.encode()).hexdigest() for path, text in texts.items()
            },
        },
        "difficulty": "hard" if bulk else "medium" if shape[3] else "easy",
    }


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
