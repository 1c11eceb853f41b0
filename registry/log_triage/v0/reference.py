"""Read all logs into one list on one clock, then look at the requests that failed for good."""

import json

from .catalog import patterns

LOOK = "wc -l logs/*; head -4 logs/*; grep -h 'clock check' logs/* | sort -u"
LOUD = (
    "grep -ih error logs/* | sed 's/[0-9a-f]*[0-9][0-9a-f]*/N/g; s/^[^a-zA-Z]*//'"
    " | sort | uniq -c | sort -rn | head -20"
)
PROGRAM = r"""
import collections, datetime, json, re

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
LOCAL = re.compile(r"\[(\d+)/(\w+)/(\d+) (\d+):(\d+):(\d+)\.(\d+) ([+-])(\d\d)(\d\d)\] (\w+) (.*)")
WORDS = re.compile(r"(?:req=(\w+) )?(.*)")


def parsed(line):
    if line.startswith("{"):
        fields = json.loads(line)
        return fields["t"] / 1000, fields["level"].upper(), fields.get("req"), fields["msg"]
    local = LOCAL.match(line)
    if local:
        day, month, year, hour, minute, second, milli, *zone, level, rest = local.groups()
        sign, hours, minutes = zone
        ahead = datetime.timedelta(hours=int(hours), minutes=int(minutes))
        zone = datetime.timezone(-ahead if sign == "-" else ahead)
        time = datetime.datetime(int(year), MONTHS.index(month) + 1, int(day), int(hour),
                                 int(minute), int(second), int(milli) * 1000, zone)
    else:
        stamp, level, rest = line.split(" ", 2)
        time = datetime.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%fZ")
        time = time.replace(tzinfo=datetime.timezone.utc)
    return (time - EPOCH).total_seconds(), level, *WORDS.match(rest).groups()


logs = {}
for service in SERVICES:
    with open(f"logs/{service}.log", encoding="utf-8") as file:
        logs[service] = [parsed(line) for line in file.read().splitlines()]

# One clock for all: as the log says it, or by the requests that are handed on fastest.
first = {}
for service, lines in logs.items():
    first[service] = {}
    for time, _, request, _ in lines:
        if request:
            first[service].setdefault(request, time)
offsets = {SERVICES[0]: 0.0}
for before, service in zip(SERVICES, SERVICES[1:]):
    both = first[before].keys() & first[service].keys()
    gap = min(first[service][request] - first[before][request] for request in both)
    offsets[service] = offsets[before] + gap
    for _, _, _, text in logs[service]:
        said = re.match(r"clock check: ([\d.]+) s (ahead of|behind)", text)
        if said:
            offsets[service] = float(said.group(1)) * (1 if said.group(2) == "ahead of" else -1)

users, held, failed = {}, {}, set()
for _, _, request, text in logs[SERVICES[0]]:
    login = re.match(r"login (\w+=\S+) user=(\w+)", text)
    if login:
        held[login.group(1)] = login.group(2)
    sent = re.match(r"(\w+)=(\S+) (GET|POST) ", text)
    if sent:
        name = sent.group(2)
        users[request] = name if sent.group(1) == "user" else held[f"{sent.group(1)}={name}"]
    if re.match(r"status=5", text):
        failed.add(request)

groups = collections.defaultdict(list)
for service, lines in logs.items():
    for time, level, request, text in lines:
        for code, forms in PATTERNS.items():
            if level == "ERROR" and request in failed and any(re.fullmatch(f, text) for f in forms):
                groups[service, code].append((time - offsets[service], request))
times = [line[0] for line in logs[SERVICES[0]]]
short = {key: hits for key, hits in groups.items()
         if max(hits)[0] - min(hits)[0] < 0.4 * (times[-1] - times[0])}
(service, cause), hits = max(short.items(), key=lambda item: len(item[1]))
hits.sort()


def written(time):
    return (EPOCH + datetime.timedelta(seconds=time)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


answer = {
    "service": service,
    "cause": cause,
    "start": written(hits[0][0]),
    "end": written(hits[-1][0]),
    "first_request": hits[0][1],
    "users": sorted({users[request] for _, request in hits}),
}
with open("answer.json", "w", encoding="utf-8") as file:
    json.dump(answer, file)
for key, lines in groups.items():
    print(key, len(lines), written(min(lines)[0]), written(max(lines)[0]))
print(answer)
"""


def play(variant, observation):
    yield {"action_type": "bash", "content": LOOK}
    yield {"action_type": "bash", "content": LOUD}
    services = ["gateway", variant["task"]["middle"], variant["task"]["store"]]
    roles = dict(zip(("gateway", "middle", "store"), services, strict=True))
    # What a reader of the log sees at once: which line means which cause.
    known = f"SERVICES = {services!r}\nPATTERNS = {json.dumps(patterns(roles))}\n"
    yield {"action_type": "code", "content": known + PROGRAM}
    yield {"action_type": "bash", "content": "cat answer.json"}
