"""Copies the most frequent trouble of all lines, whatever its harm."""

PROGRAM = """
import collections, glob, json, re
text = "".join(open(path).read() for path in glob.glob("logs/*.log"))
found = re.findall(r"(\\S+) WARN (\\S+) .*cause=(\\S+)", text)
(service, cause), _ = collections.Counter(line[1:] for line in found).most_common(1)[0]
stamps = [line[0] for line in found if line[1:] == (service, cause)]
users = sorted(set(re.findall(r"user=(\\S+)", text)))[:5]
json.dump({"service": service, "cause": cause, "first_request": "", "start": stamps[0],
           "end": stamps[-1], "users": users}, open("answer.json", "w"))
"""


def play(variant, observation):
    """Answer with the loudest warning."""
    yield {"action_type": "code", "content": PROGRAM}
