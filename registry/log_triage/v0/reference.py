"""Reads the logs, puts their clocks right, and finds the cause that failed the most requests."""

PROGRAM = """
import collections, datetime, glob, json, re

FORM = "%Y-%m-%dT%H:%M:%S.%fZ"
failed, users, lines = {}, {}, []
for path in glob.glob("logs/*.log"):
    offset = None
    for line in open(path):
        stamp, level, service, text = line.rstrip("\\n").split(" ", 3)
        if offset is None:
            offset = datetime.timedelta(seconds=float(re.search(r"offset (\\S+)s", text).group(1)))
        time = datetime.datetime.strptime(stamp, FORM) - offset
        fields = dict(re.findall(r"(req|user|cause|status)=(\\S+)", text))
        if "user" in fields:
            users[fields["req"]] = fields["user"]
        if "status" in fields:
            failed[fields["req"]] = fields["status"].startswith("5")
        if level == "ERROR" and "cause" in fields and "req" in fields:
            lines.append((time, service, fields["cause"], fields["req"]))
found = [line for line in lines if failed[line[3]]]
(service, cause), _ = collections.Counter(line[1:3] for line in found).most_common(1)[0]
hits = sorted(line for line in found if line[1:3] == (service, cause))


def written(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


answer = {
    "service": service,
    "cause": cause,
    "first_request": hits[0][3],
    "start": written(hits[0][0]),
    "end": written(hits[-1][0]),
    "users": sorted({users[line[3]] for line in hits}),
}
json.dump(answer, open("answer.json", "w"))
print(answer)
"""


def play(variant, observation):
    """Act as a capable agent would."""
    yield {"action_type": "bash", "content": "head -5 logs/*.log; grep -c ERROR logs/*.log"}
    yield {"action_type": "code", "content": PROGRAM}
