"""The right answers, computed from a world's rows without any database.

A cell is a text, or [numerator, denominator, decimals] for a number: the exact value and how many
decimals are asked for.
"""

import datetime
import statistics
from fractions import Fraction
from itertools import combinations

from .world import EPOCH, MINUTE

# What a naive query does not know.
RULES = ("cancelled", "nulls", "states", "zones", "copies", "merged", "tests")


class Facts:
    """The rows that count, with local times and accounts followed to their end.

    `ignored` names the rules that are not kept, of RULES.
    """

    def __init__(self, world, ignored=()):
        self.places = {row[0]: row[1] for row in world["places"]}
        offsets = {row[0]: row[2] if "zones" not in ignored else 0 for row in world["places"]}
        self.parties = {row[0]: row[1] for row in world["parties"]}
        into = {row[0]: row[3] for row in world["parties"] if "merged" not in ignored}
        tests = {row[0] for row in world["parties"] if row[4] and "tests" not in ignored}
        self.groups = {row[0]: row[1] for row in world["groups"]}
        self.items = {row[0]: row for row in world["items"]}
        self.sales = {}
        for number, party, place, at, undone in world["events"]:
            if (undone and "cancelled" not in ignored) or party in tests:
                continue
            while into.get(party):
                party = into[party]
            local = EPOCH + datetime.timedelta(seconds=at + offsets[place] * MINUTE)
            self.sales[number] = (party, place, local)
        # A discount that is NULL makes a naive product NULL, and a sum leaves it out.
        self.lines = [
            (event, item, quantity * unit * (100 - (discount or 0)) // 100)
            for _, event, item, quantity, unit, discount in world["lines"]
            if event in self.sales and ("nulls" not in ignored or discount is not None)
        ]
        self.totals = dict.fromkeys(self.sales, 0)
        for event, _, cents in self.lines:
            self.totals[event] += cents
        payments = [
            row[1:4] for row in world["payments"] if row[4] == "settled" or "states" in ignored
        ]
        self.paid = dict.fromkeys(self.sales, 0)
        for event, _, cents in payments if "copies" in ignored else set(payments):
            if event in self.paid:
                self.paid[event] += cents
        latest = {}
        for row, event, item, stars, at in world["reviews"]:
            if event in self.sales and (stars is not None or "nulls" in ignored):
                key = row if "copies" in ignored else (event, item)
                latest[key] = max(latest.get(key, (0, 0, 0)), (at, item, stars or 0))
        self.stars = [(item, stars) for _, item, stars in latest.values()]


def number(value, decimals=0):
    exact = Fraction(value)
    return [exact.numerator, exact.denominator, decimals]


def money(cents):
    return number(Fraction(cents, 100), 2)


def group_sales(facts, year, quarter):
    months = range(3 * quarter - 2, 3 * quarter + 1)
    sums = {name: [set(), 0] for name in [*facts.groups.values(), "(none)"]}
    for event, item, cents in facts.lines:
        local = facts.sales[event][2]
        if local.year == year and local.month in months:
            entry = sums[facts.groups.get(facts.items[item][2], "(none)")]
            entry[0].add(event)
            entry[1] += cents
    ordered = sorted(sums.items(), key=lambda pair: (-pair[1][1], pair[0]))
    return [[name, number(len(events)), money(cents)] for name, (events, cents) in ordered]


def top_parties(facts, year, count):
    sums = {}
    for event, (party, _, local) in facts.sales.items():
        if party and local.year == year:
            sums[party] = sums.get(party, 0) + facts.totals[event]
    best = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))[:count]
    return [
        [number(rank), number(party), facts.parties[party], money(cents)]
        for rank, (party, cents) in enumerate(best, 1)
    ]


def busiest_hour(facts):
    counts = {}
    for _, place, local in facts.sales.values():
        counts[place, local.hour] = counts.get((place, local.hour), 0) + 1
    rows = []
    for place, name in sorted(facts.places.items(), key=lambda pair: pair[1]):
        hours = [(-count, hour) for (there, hour), count in counts.items() if there == place]
        count, hour = min(hours)
        rows.append([name, number(hour), number(-count)])
    return rows


def unpaid(facts, year):
    due = [
        (facts.paid[event] - total, event)
        for event, total in facts.totals.items()
        if facts.paid[event] < total and facts.sales[event][2].year == year
    ]
    return [
        [number(event), facts.places[facts.sales[event][1]], money(-missing)]
        for missing, event in sorted(due)
    ]


def lapsed(facts, day):
    last = {}
    for party, _, local in facts.sales.values():
        if party:
            last[party] = max(last.get(party, EPOCH), local)
    return [
        [number(party), facts.parties[party], str(local.date())]
        for party, local in sorted(last.items())
        if str(local.date()) < day
    ]


def growth(facts, year):
    sums = [0] * 12
    for event, (_, _, local) in facts.sales.items():
        if local.year == year:
            sums[local.month - 1] += facts.totals[event]
    rows = []
    for month, cents in enumerate(sums):
        before = sums[month - 1] if month else 0
        change = number(Fraction(100 * (cents - before), before), 1) if before else ""
        rows.append([f"{year}-{month + 1:02}", money(cents), change])
    return rows


def median(facts, year):
    rows = []
    for place, name in sorted(facts.places.items(), key=lambda pair: pair[1]):
        totals = [
            Fraction(facts.totals[event], 100)
            for event, (_, there, local) in facts.sales.items()
            if there == place and local.year == year
        ]
        rows.append([name, number(len(totals)), number(statistics.median(totals), 2)])
    return rows


def new_returning(facts, year):
    first, seen = {}, {}
    for party, _, local in facts.sales.values():
        if party:
            month = local.strftime("%Y-%m")
            first[party] = min(first.get(party, month), month)
            seen.setdefault(month, set()).add(party)
    rows = []
    for month in (f"{year}-{count:02}" for count in range(1, 13)):
        new = sum(first[party] == month for party in seen.get(month, ()))
        rows.append([month, number(new), number(len(seen.get(month, ())) - new)])
    return rows


def pairs(facts, least):
    together, counts = {}, {}
    for event, item, _ in facts.lines:
        together.setdefault(event, set()).add(facts.items[item][1])
    for names in together.values():
        for pair in combinations(sorted(names), 2):
            counts[pair] = counts.get(pair, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [[one, two, number(count)] for (one, two), count in ordered if count >= least]


def ratings(facts, least):
    stars = {}
    for item, value in facts.stars:
        stars.setdefault(facts.items[item][1], []).append(value)
    rows = [
        (-Fraction(sum(values), len(values)), name, len(values))
        for name, values in stars.items()
        if len(values) >= least
    ]
    return [[name, number(count), number(-mean, 2)] for mean, name, count in sorted(rows)]


KINDS = {
    "group_sales": group_sales,
    "top_parties": top_parties,
    "busiest_hour": busiest_hour,
    "unpaid": unpaid,
    "lapsed": lapsed,
    "growth": growth,
    "median": median,
    "new_returning": new_returning,
    "pairs": pairs,
    "ratings": ratings,
}


def answer(world, kind, arguments, ignored=()):
    """Return the rows that the question asks for, in the order it asks for."""
    return KINDS[kind](Facts(world, ignored), **arguments)
