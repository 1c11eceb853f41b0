"""What can go wrong, in the words of a log, and the words that answers use for it. Host side."""

# code -> (what the task says about it, the services where it can arise, how a log says it)
# {n} is a number, {word} and {region} are words of the variant, {behind} the service behind.
CAUSES = {
    "bad_config": (
        "a setting is missing or makes no sense",
        ("gateway", "middle", "store"),
        (
            "setting {word}.limit has no value in region {region}",
            "region {region} is not configured",
        ),
    ),
    "cache_corrupt": (
        "a cached entry cannot be used",
        ("gateway", "middle"),
        (
            "cached {word} has layout {n}, wanted another",
            "cannot decode entry {n} of the {word} cache",
        ),
    ),
    "certificate_expired": (
        "a certificate is no longer valid",
        ("gateway", "middle"),
        (
            "handshake with {behind} refused: peer is valid until yesterday",
            "{behind} shows a certificate that ended {n} hours ago",
        ),
    ),
    "checksum_error": (
        "stored data turned out to be damaged",
        ("store",),
        ("page {n} of {word} does not match its sum", "block {n} is damaged"),
    ),
    "disk_full": (
        "nothing more can be written to a disk",
        ("middle", "store"),
        (
            "write of {n} bytes: no space left on device",
            "cannot extend segment {n}: volume is full",
        ),
    ),
    "lock_timeout": (
        "a lock was not given in time",
        ("store",),
        (
            "waited {n} ms for table {word}, held by another session",
            "session {n} does not let go of {word}",
        ),
    ),
    "name_lookup": (
        "the address of a service is not found",
        ("gateway", "middle"),
        ("no address for {behind}.internal", "resolver: {behind}.internal is unknown"),
    ),
    "out_of_memory": (
        "a process may not have more memory",
        ("gateway", "middle", "store"),
        ("allocation of {n} KiB refused", "worker {n} was killed: it had grown too large"),
    ),
    "pool_exhausted": (
        "all connections to the service behind are in use",
        ("gateway", "middle"),
        (
            "no connection to {behind} is free, {n} are waiting",
            "connections to {behind}: all in use",
        ),
    ),
    "rate_limited": (
        "a quota is used up",
        ("gateway", "middle"),
        (
            "{word}: {n} calls this minute, no more are allowed",
            "quota of region {region} is used up",
        ),
    ),
    "schema_mismatch": (
        "data do not have the shape that the code expects",
        ("middle", "store"),
        ("{word} has no column named discount_{n}", "record of {word}: {n} fields are too many"),
    ),
    "time_limit": (
        "a step of the work took too long and was given up",
        ("middle", "store"),
        ("step {word} stopped after {n} ms", "gave up {word}: its {n} ms are over"),
    ),
}
WORDS = ("orders", "prices", "carts", "stock", "quotes", "tickets", "seats", "routes", "invoices")
REGIONS = ("north", "south", "east", "west", "alpine", "coast", "islands")
MIDDLES = ("checkout", "search", "billing", "booking", "pricing", "shipping")
STORES = ("ledger", "inventory", "archive", "vault", "registry", "warehouse")
# Routine lines that mean nothing.
ROUTINE = (
    "backup {n} finished",
    "deploy 4.{n} finished",
    "{n} idle connections closed",
    "configuration read again, nothing new",
    "certificate renewed for another year",
    "disk at {n} %, below the alarm",
    "memory at {n} %, below the alarm",
)
SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "ren",
    "su",
    "ta",
    "vor",
    "wen",
    "xi",
    "yol",
    "zan",
    "bel",
    "du",
    "fe",
)


def patterns(services):
    """Return {code: regular expressions of its lines} for services `{role: name}`."""
    behind = {services["middle"], services["store"]}
    found = {}
    for code, (_, _, texts) in CAUSES.items():
        for text in texts:
            for name in sorted(behind) if "{behind}" in text else [""]:
                words = text.replace("{behind}", name).replace("{n}", r"\d+")
                words = words.replace("{word}", "[a-z]+").replace("{region}", "[a-z]+")
                found.setdefault(code, []).append(words.replace(".", r"\.").replace("%", "%"))
    return found
