"""Name the error that most lines report, with its first and last line and its users."""

import json

from ..catalog import patterns
from ._shared import write

PROGRAM = r"""
import collections, glob, json, re
counts, lines = collections.Counter(), []
for path in sorted(glob.glob("logs/*.log")):
    for line in open(path):
        for code, forms in PATTERNS.items():
            if any(re.search(form, line) for form in forms):
                counts[path, code] += 1
                lines.append((path, code, re.search(r"req\W+([0-9a-f]{8})", line).group(1)))
top = counts.most_common(1)[0][0]
hits = [line[2] for line in lines if line[:2] == top]
gateway = open("logs/gateway.log").read()
held, users, times = {}, {}, {}
for line in gateway.splitlines():
    login = re.search(r"login (\w+=\S+) user=([a-z]+)", line)
    if login:
        held[login.group(1)] = login.group(2)
    sent = re.search(r"req\W+([0-9a-f]{8})\W.*?(user|session|device)=(\S+) (?:GET|POST)", line)
    if sent:
        key = f"{sent.group(2)}={sent.group(3)}"
        users[sent.group(1)] = sent.group(3) if sent.group(2) == "user" else held.get(key)
print(json.dumps([top[0][5:-4], top[1], hits[0], sorted({users[hit] for hit in hits})]))
"""


def play(variant, observation):
    services = variant["secret"]["services"]
    known = f"PATTERNS = {json.dumps(patterns(services))}\n"
    seen = yield {"action_type": "code", "content": known + PROGRAM}
    service, cause, first, users = json.loads(seen.strip().split("\n")[-1])
    yield write(
        {
            "service": service,
            "cause": cause,
            "start": "2024-01-01T00:00:00.000Z",
            "end": "2024-12-31T00:00:00.000Z",
            "first_request": first,
            "users": users,
        }
    )
