"""What is in the pantry, what is missing, what must be bought."""


def missing(pantry, needed):
    """Return all ingredients of which there is too little, with the amount that is missing.

    Both dicts map ingredients to grams; what is not in the pantry at all is missing altogether.
    """
    lacking = {}
    for name, grams in needed.items():
        there = pantry.get(name, 0)
        if there < grams:
            lacking[name] = grams - there
    return lacking


def shopping(lines):
    """Return lines `[ingredient, amount, unit]` with those that can be added up put together.

    Amounts of one ingredient are added up only where their units are equal. The order is that in
    which the pairs of ingredient and unit appear first.
    """
    sums = {}
    for name, amount, unit in lines:
        key = (name, unit)
        sums[key] = sums.get(key, 0) + amount
    return [[name, amount, unit] for (name, unit), amount in sums.items()]


def basket(needed, start=None):
    """Return a basket (ingredient -> grams) with everything that is needed.

    `start` is a basket that some things are in already; it stays as it is. Without one it is empty.
    """
    full = {} if start is None else dict(start)
    for name, grams in needed.items():
        full[name] = full.get(name, 0) + grams
    return full


def baskets(days):
    """Return one basket for each day's needs."""
    return [basket(needed) for needed in days]
