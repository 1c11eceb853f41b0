"""Amounts of money: whole cents inside, texts such as "12.30" outside; exchange rates."""


def parse(text):
    """Return the cents of a text such as "12", "-3.5" or "1.05".

    Raises ValueError for any other text, also for more than two decimals.
    """
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    whole, _, decimals = digits.partition(".")
    if not whole.isdigit() or not (decimals or "0").isdigit() or len(decimals) > 2:
        raise ValueError(f"not an amount: {text!r}")
    return sign * (int(whole) * 100 + int(decimals.ljust(2, "0")))


def show(cents):
    """Return the text of an amount, always with two decimals: -5 gives "-0.05"."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{rest:02d}"


def split(cents, ways):
    """Split an amount of at least 0 into `ways` shares, the larger ones first.

    The shares sum to the amount, and no two of them differ by more than one cent.
    """
    share, rest = divmod(cents, ways)
    return [share + 1] * rest + [share] * (ways - rest)


def allocate(cents, fractions):
    """Return each fraction's part of an amount, rounded down; the last one takes what is left.

    Raises ValueError unless the fractions add up to 1, give or take a millionth.
    """
    sum_of_all = 0.0
    for fraction in fractions:
        sum_of_all += fraction
    if abs(sum_of_all - 1) > 1e-6:
        raise ValueError("the fractions must add up to 1")
    parts = [int(cents * fraction + 1e-6) for fraction in fractions[:-1]]
    return [*parts, cents - sum(parts)]


class Rates:
    """Exchange rates that change from day to day."""

    def __init__(self, rows):
        """Take rows `[currency, day, cents for one unit]` in any order."""
        self._rows = sorted(rows, key=lambda row: row[1])
        self._known = {}

    def quote(self, currency, day):
        """Return the currency's latest rate of that day or before.

        Raises LookupError if there is none.
        """
        key = (currency, day)
        if key not in self._known:
            past = [rate for name, since, rate in self._rows if name == currency and since <= day]
            if not past:
                raise LookupError(f"no rate for {currency} on {day}")
            self._known[key] = past[-1]
        return self._known[key]


def quotes(rows, questions):
    """Answer questions `[currency, day]`, all from the same rates."""
    rates = Rates(rows)
    return [rates.quote(currency, day) for currency, day in questions]
