"""Accounts form a tree by their names: "home:food:bread" lies below "home:food"."""


def depth(name):
    """Return how deep an account lies: 1 for "home", 2 for "home:food"."""
    return name.count(":") + 1


def children(names, name):
    """Return the accounts directly below `name`, sorted.

    An account exists as soon as one below it does: with "home:food:bread" there is "home:food".
    """
    start = name + ":"
    below = {other[len(start) :].split(":")[0] for other in names if other.startswith(start)}
    return sorted(start + word for word in below)


def total(balances, name):
    """Return an account's own balance (0 if it has none) plus those of all accounts below it.

    `balances` maps names of accounts to cents.
    """
    below = children(balances, name)
    if not below:
        return balances.get(name, 0)
    return balances.get(name, 0) + sum(total(balances, child) for child in below)
