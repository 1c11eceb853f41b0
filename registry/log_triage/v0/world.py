"""A day's logs of three services, and what really happened. Host side.

A request runs through the gateway, the middle service and the store, in up to two attempts. What
fails an attempt is written once, by the service where it arose; services before it only say that
the one behind them failed.
"""

import datetime
import json
from collections import Counter

from .catalog import CAUSES, MIDDLES, REGIONS, ROUTINE, STORES, SYLLABLES, WORDS

ROLES = ("gateway", "middle", "store")
FORMS = ("iso", "json", "local")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
STATUS = {"gateway": 500, "middle": 503, "store": 502}
# Requests, users, the share of requests that the herring delays.
SIZES = {"easy": (170, 24, 0.25), "medium": (300, 36, 0.25), "hard": (480, 48, 0.2)}
# The share of users that the incident can reach.
SHARD = 0.3
MILLISECOND = datetime.timedelta(milliseconds=1)


def stamp(time):
    """Return a true time as an answer writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


class Log:
    """One service's log: its form, its clock (`offset`: by how much it is ahead) and its lines."""

    def __init__(self, name, form, offset, zone):
        self.name, self.form, self.offset, self.zone = name, form, offset, zone
        self.lines = []

    def add(self, time, level, text, request=None):
        """Add a line that is written at a true time."""
        self.lines.append((time, level, text, request))

    def text(self):
        """Return the file's text, in the order of time."""
        lines = sorted(self.lines, key=lambda line: line[0])
        return "".join(self._line(*line) + "\n" for line in lines)

    def _line(self, time, level, text, request):
        time += self.offset
        if self.form == "json":
            since = (time - datetime.datetime(1970, 1, 1)) // MILLISECOND
            words = {"t": since, "level": level.lower()}
            if request:
                words["req"] = request
            return json.dumps({**words, "msg": text})
        words = f"{level} req={request} {text}" if request else f"{level} {text}"
        if self.form == "iso":
            return f"{stamp(time)} {words}"
        here = time + datetime.timedelta(minutes=self.zone)
        day = f"{here.day:02d}/{MONTHS[here.month - 1]}/{here.year}"
        clock = here.strftime("%H:%M:%S.") + f"{here.microsecond // 1000:03d}"
        hours, minutes = divmod(abs(self.zone), 60)
        return f"[{day} {clock} {'+-'[self.zone < 0]}{hours:02d}{minutes:02d}] {words}"


class World:
    """One variant's day.

    Args:
        rng: where chance comes from.
        level: easy, medium or hard.
        root: the role of the service where the incident arises.
        cause: its code.
    """

    def __init__(self, rng, level, root, cause):
        self.rng, self.level, self.incident = rng, level, (root, cause)
        self.services = {
            "gateway": "gateway",
            "middle": rng.choice(MIDDLES),
            "store": rng.choice(STORES),
        }
        self.words = {"word": rng.choice(WORDS), "region": rng.choice(REGIONS)}
        # One way of putting each trouble, and which of them plays which part.
        self.said = {code: rng.choice(CAUSES[code][2]) for code in CAUSES}
        others = rng.sample([code for code in CAUSES if code != cause], len(CAUSES) - 1)
        troubles = [(rng.choice(CAUSES[code][1]), code) for code in others]
        self.herring, self.chronic, self.decoy, *self.singles = troubles
        self.count, users, self.delayed = SIZES[level]
        self.users = self._names(users)
        self.logs = {role: self._log(role) for role in ROLES}
        # Trouble -> how many lines report it; request -> the true times of the incident's lines.
        self.reported = Counter()
        self.affected = {}
        self._holders = {}

    def _names(self, count):
        found = {}
        while len(found) < count:
            found["".join(self.rng.choice(SYLLABLES) for _ in range(3))] = True
        return list(found)

    def _log(self, role):
        rng, easy = self.rng, self.level == "easy"
        off = rng.choice([-1, 1]) * rng.randint(4_000, 90_000)
        offset = MILLISECOND * (0 if easy or role == "gateway" else off)
        form, zone = rng.choice(FORMS), rng.choice([-480, -210, 60, 120, 330, 540])
        return Log(self.services[role], "iso" if easy else form, offset, zone)

    def _ms(self, low, high):
        return self.rng.randint(low, high) * MILLISECOND

    def play(self):
        """Write the day's logs."""
        rng, level = self.rng, self.level
        time = begin = datetime.datetime(
            2024, rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 22)
        )
        reached = set(rng.sample(self.users, round(len(self.users) * SHARD)))
        # In shares of the day. The decoy comes before the incident or after it.
        first, early = rng.uniform(0.4, 0.6), rng.uniform(0.05, 0.2)
        decoy = rng.choice([early, first + 0.25])
        for number in range(self.count):
            time += self._ms(400, 3000)
            user, share = rng.choice(self.users), number / self.count
            path = f"/{self.services['middle']}/{rng.randint(1, 99)}"
            if level != "easy" and rng.random() < 0.06:
                path = f"/reports/{rng.randint(1, 9)}"
            failures = self._failures(
                path,
                incident=first <= share < first + 0.17 and user in reached,
                decoy=level == "hard" and decoy <= share < decoy + 0.1,
            )
            self._request(time, user, path, failures)
            if rng.random() < 0.05:
                text = rng.choice(ROUTINE).format(n=rng.randint(2, 60))
                self.logs[rng.choice(ROLES)].add(time + self._ms(30, 300), "INFO", text)
        if level == "medium":
            self._check_clocks(begin, time)

    def _failures(self, path, *, incident, decoy):
        """Return what fails the attempts of a request; with two failures it fails for good."""
        rng = self.rng
        if path.startswith("/reports"):
            return [self.chronic] * 2
        if incident and rng.random() < 0.9:
            lucky = self.level != "easy" and rng.random() < 0.2
            return [self.incident] * (1 if lucky else 2)
        if decoy and rng.random() < 0.8:
            return [self.decoy]
        if rng.random() < self.delayed:
            return [self.herring]
        return [rng.choice(self.singles)] * 2 if rng.random() < 0.02 else []

    def _request(self, time, user, path, failures):
        """Write all that the logs say about one request."""
        rng, gateway = self.rng, self.logs["gateway"]
        request = f"{rng.getrandbits(32):08x}"
        verb = rng.choice(["GET", "POST"])
        gateway.add(time, "INFO", f"{self._sign_in(time, user)} {verb} {path}", request)
        now, accepted, lines, failure = time, False, [], None
        for number in (1, 2):
            failure = failures[number - 1] if number <= len(failures) else None
            now, line, accepted = self._attempt(now, request, number, failure, accepted)
            if failure is None:
                break
            lines.append(line)
            now += self._ms(100, 250)
        status = rng.choice([200] * 20 + [401, 404, 404, 422])
        if failure is not None:
            status = STATUS[failure[0]]
            gateway.add(now, "ERROR", "gave up after 2 attempts", request)
            if failure == self.incident:
                self.affected[request] = (user, lines)
        now += self._ms(1, 5)
        took = (now - time) // MILLISECOND
        gateway.add(now, "INFO", f"status={status} after {took} ms", request)

    def _attempt(self, time, request, number, failure, accepted):
        """Write one attempt; returns (when it ended, when its cause was written, accepted)."""
        gateway, middle, store = (self.logs[role] for role in ROLES)
        time += self._ms(3, 20)
        if failure and failure[0] == "gateway":
            gateway.add(time, "ERROR", self._message(failure), request)
            return time, time, accepted
        if not accepted:
            middle.add(time, "INFO", "accepted", request)
            time += self._ms(5, 20)
        if failure and failure[0] == "middle":
            middle.add(time, "ERROR", self._message(failure), request)
            return time, time, True
        store.add(time, "INFO", f"reads {self.words['word']}", request)
        time += self._ms(5, 20)
        if failure:
            store.add(time, "ERROR", self._message(failure), request)
            after = time + self._ms(2, 10)
            middle.add(after, "ERROR", f"{store.name} failed, attempt {number}", request)
            return after, time, True
        store.add(time, "INFO", f"gave {self.rng.randint(1, 60)} rows", request)
        time += self._ms(2, 10)
        middle.add(time, "INFO", "done", request)
        return time, None, True

    def _message(self, trouble):
        role, code = trouble
        self.reported[trouble] += 1
        behind = self.services["middle" if role == "gateway" else "store"]
        return self.said[code].format(n=self.rng.randint(11, 999), behind=behind, **self.words)

    def _sign_in(self, time, user):
        """Return how the gateway names who sends a request; write a login where one is due."""
        rng, log = self.rng, self.logs["gateway"]
        if self.level == "easy":
            return f"user={user}"
        if self.level == "medium":
            if user not in self._holders:
                self._holders[user] = f"{rng.getrandbits(24):06x}"
                text = f"login session={self._holders[user]} user={user}"
                log.add(time - 2 * MILLISECOND, "INFO", text)
            return f"session={self._holders[user]}"
        # Two out of many kiosks, which each user shares with others.
        near = self.users.index(user) + rng.randint(0, 1)
        device = f"kiosk-{near % (len(self.users) // 3):02d}"
        if self._holders.get(device) != user:
            self._holders[device] = user
            log.add(time - 2 * MILLISECOND, "INFO", f"login device={device} user={user}")
        return f"device={device}"

    def _check_clocks(self, begin, end):
        for role in ("middle", "store"):
            log = self.logs[role]
            off = log.offset / MILLISECOND / 1000
            text = f"clock check: {abs(off):.3f} s {'ahead of' if off > 0 else 'behind'} gateway"
            for part in (0, 1, 2):
                log.add(begin + (end - begin) * part / 2, "INFO", text)

    def truth(self):
        """Return the right answer."""
        lines = sorted(
            (line, request) for request, (_, lines) in self.affected.items() for line in lines
        )
        return {
            "service": self.services[self.incident[0]],
            "cause": self.incident[1],
            "first_request": lines[0][1],
            "start": stamp(lines[0][0]),
            "end": stamp(lines[-1][0]),
            "users": sorted({user for user, _ in self.affected.values()}),
        }

    def is_fair(self):
        """Say whether the incident can be told, and is not what most error lines report."""
        lines = sorted(line for _, lines in self.affected.values() for line in lines)
        hit = {user for user, _ in self.affected.values()}
        return (
            len(self.affected) >= 6
            and 4 <= len(hit) <= len(self.users) * SHARD
            and lines[1] - lines[0] >= MILLISECOND
            and self.reported[self.herring] >= 1.25 * self.reported[self.incident]
        )
