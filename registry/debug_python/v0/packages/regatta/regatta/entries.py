"""Entries: a boat is known by its country and its sail number, such as "NED 12"."""

from .config import HEAT_SIZE


def register(entries):
    """Return the entries without those that were replaced.

    An entry is a dict with "country", "number" and "boat". A later entry of the same sail, which
    is the country and the number together, takes the place of the earlier one.
    """
    kept = {}
    for entry in entries:
        kept[entry["country"], entry["number"]] = entry
    return list(kept.values())


def measured(boat, limits):
    """Say whether a boat keeps all limits.

    `boat` maps measures such as "length" to numbers, `limits` maps measures to `[lowest, highest]`,
    both of them allowed. A boat without one of the measures does not keep the limits.
    """
    for name, (lowest, highest) in sorted(limits.items()):
        value = boat.get(name)
        if value is None or not lowest <= value <= highest:
            return False
    return True


def start_list(rows):
    """Return rows `[class, sail number, boat]` by class and, within a class, by sail number.

    Rows that share both keep the order in which they came.
    """
    by_number = sorted(rows, key=lambda row: row[1])
    return sorted(by_number, key=lambda row: row[0])


def heats(boats):
    """Split boats into heats of at most HEAT_SIZE, in their order.

    If they are too many for one heat they are halved (an odd one goes to the first half), and each
    half is split by the same rule.
    """
    if len(boats) <= HEAT_SIZE:
        return [list(boats)]
    half = (len(boats) + 1) // 2
    return heats(boats[:half]) + heats(boats[half:])
