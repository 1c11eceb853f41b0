"""Does the answer name the incident?

Parts: cause 0.3 (service and cause, both), first 0.1 (the first affected request), window 0.2 (0.1
for each end), users 0.4 (by the F1 of the list; nothing up to 0.6). Naming nearly every user makes
everything 0. A changed log halves what is left.
"""

import datetime
import hashlib
import json
import os
import stat

LIMIT = 1 << 18
LOG_LIMIT = 4 << 20
KEYS = {"service", "cause", "first_request", "start", "end", "users"}
NEAR_S = 0.5
# From this share of all users on, an answer names everybody.
EVERYBODY = 0.9
# Up to this F1, a list of users is worth nothing.
NO_MATCH = 0.6


def read_plain(path, limit):
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
            data = file.read(limit + 1)
    except OSError:
        return None
    return None if len(data) > limit else data


def seconds(value):
    """Return the seconds since 1970 of a time stamp, or None."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    for form in ("%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ"):
        try:
            time = datetime.datetime.strptime(value, form)
        except ValueError:
            continue
        return (time - datetime.datetime(1970, 1, 1)).total_seconds()
    return None


def near(given, truth):
    """Say whether two time stamps are the same but for the error that is allowed."""
    time = seconds(given)
    return time is not None and abs(time - seconds(truth)) <= NEAR_S + 1e-6


def f1(given, truth):
    """Return the F1 of a list of names; a repeated name counts as a wrong one."""
    if not isinstance(given, list) or not given or len(given) > 10000:
        return 0.0
    if not all(isinstance(name, str) for name in given):
        return 0.0
    hits = len(set(given) & set(truth))
    return 2 * hits / (len(given) + len(truth))


def judge(params):
    """Return (parts, details)."""
    parts = {"cause": 0.0, "first": 0.0, "window": 0.0, "users": 0.0}
    data = read_plain("answer.json", LIMIT)
    if data is None:
        return parts, "answer.json is no regular file of a reasonable size"
    try:
        answer = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return parts, "answer.json is no JSON text"
    if not isinstance(answer, dict) or set(answer) != KEYS:
        return parts, "answer.json is no object with exactly the keys that were asked for"
    truth, users = params["truth"], answer["users"]
    match = f1(users, truth["users"])
    if match and len(set(users)) >= EVERYBODY * params["people"]:
        return parts, "nearly all users are named"
    if (answer["service"], answer["cause"]) == (truth["service"], truth["cause"]):
        parts["cause"] = 0.3
    if answer["first_request"] == truth["first_request"]:
        parts["first"] = 0.1
    parts["window"] = 0.1 * near(answer["start"], truth["start"])
    parts["window"] += 0.1 * near(answer["end"], truth["end"])
    parts["users"] = 0.4 * max(0.0, (match - NO_MATCH) / (1 - NO_MATCH))
    right = [name for name, part in parts.items() if part]
    details = f"right: {', '.join(right) or 'nothing'}; users F1 {match:.3f}"
    changed = [
        path
        for path, digest in params["logs"].items()
        if hashlib.sha256(read_plain(path, LOG_LIMIT) or b"").hexdigest() != digest
    ]
    if changed:
        parts = {name: value / 2 for name, value in parts.items()}
        details += f"; changed: {', '.join(sorted(changed))}"
    return parts, details


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
