"""The book: postings in the order in which they were entered."""

from datetime import datetime, timedelta, timezone

from .config import BANK_OFFSET_HOURS, PAGE_SIZE
from .money import parse

BANK = timezone(timedelta(hours=BANK_OFFSET_HOURS))


def booking_day(when):
    """Return the day on the bank's clock, such as "2024-03-05", of an ISO time with an offset."""
    moment = datetime.fromisoformat(when)
    return moment.astimezone(BANK).date().isoformat()


class Book:
    """Postings, each with a number (from 1), an account, an amount, a day and tags."""

    def __init__(self):
        self._entries = []

    def post(self, account, amount, when, tags=None):
        """Enter a posting and return its number.

        `amount` is a text such as "-3.50", `when` an ISO time with an offset. The posting has the
        given tags, or none.
        """
        entry = {
            "number": len(self._entries) + 1,
            "account": account,
            "cents": parse(amount),
            "day": booking_day(when),
            "tags": [] if tags is None else list(tags),
        }
        self._entries.append(entry)
        return entry["number"]

    def tag(self, number, tag):
        """Add a tag to one posting and return the posting's tags."""
        tags = self._entries[number - 1]["tags"]
        if tag not in tags:
            tags.append(tag)
        return list(tags)

    def tagged(self, tag):
        """Return the numbers of the postings with this tag."""
        return [entry["number"] for entry in self._entries if tag in entry["tags"]]

    def entries(self):
        """Return all postings as they are now; what happens later does not change the answer."""
        return [dict(entry, tags=list(entry["tags"])) for entry in self._entries]

    def balances(self):
        """Return the sum of each account's postings."""
        sums = {}
        for entry in self._entries:
            sums[entry["account"]] = sums.get(entry["account"], 0) + entry["cents"]
        return sums

    def statement(self, account, page):
        """Return the numbers of an account's postings on a page (from 1) of its statement.

        Each page but the last holds PAGE_SIZE of them; a page that does not exist is empty.
        """
        numbers = [entry["number"] for entry in self._entries if entry["account"] == account]
        first = (page - 1) * PAGE_SIZE
        end = min(first + PAGE_SIZE, len(numbers))
        return numbers[first:end]

    def largest(self, count):
        """Return the numbers of the postings that moved most, largest amount first.

        The sign does not matter. Postings of equal amounts keep the order of their entry.
        """
        order = sorted(self._entries, key=lambda entry: -abs(entry["cents"]))
        return [entry["number"] for entry in order[:count]]


def run(commands):
    """Play commands on a new book and return the answer of each.

    A command is a list: the name of a method of `Book` and its arguments.
    """
    book = Book()
    return [getattr(book, name)(*arguments) for name, *arguments in commands]
