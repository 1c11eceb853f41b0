"""Does the answer name the incident?

Parts: cause 0.3 (service and cause, both), first 0.1 (the first affected request), window 0.2 (0.1
for each end), users 0.4 (by F1 of the list; nothing below 0.8). Without the right service and cause
nothing is given for the rest. A changed log halves what is left.
"""

import datetime
import hashlib
import json
import os
import stat

LIMIT = 1 << 18
LOG_LIMIT = 4 << 20
KEYS = {"service", "cause", "first_request", "start", "end", "users"}
NEAR_S = 0.05


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
    """Seconds since 1970 of a time stamp, or None."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        time = datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return None
    return (time - datetime.datetime(1970, 1, 1)).total_seconds()


def near(given, truth):
    """Whether two time stamps are the same but for the error that is allowed."""
    time = seconds(given)
    return time is not None and abs(time - seconds(truth)) <= NEAR_S + 1e-6


def f1(given, truth):
    """Harmonic mean of precision and recall of a list of names; a repeated name is a wrong one."""
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
    truth = params["truth"]
    if (answer["service"], answer["cause"]) != (truth["service"], truth["cause"]):
        return parts, "service and cause are not those of the incident"
    parts["cause"] = 0.3
    if answer["first_request"] == truth["first_request"]:
        parts["first"] = 0.1
    parts["window"] = 0.1 * near(answer["start"], truth["start"])
    parts["window"] += 0.1 * near(answer["end"], truth["end"])
    match = f1(answer["users"], truth["users"])
    if match >= 0.8:
        parts["users"] = 0.4 * match
    elif isinstance(answer["users"], list) and len(answer["users"]) >= params["people"]:
        # Everybody was named: that is no finding, and the rest was not earned by one either.
        return dict.fromkeys(parts, 0.0), "every user was named"
    details = f"users F1 {match:.3f}"
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
