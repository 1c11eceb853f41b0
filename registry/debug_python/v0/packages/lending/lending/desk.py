"""Loans, holds and fines; several people work at one desk."""

import threading

from .config import BLOCK_AT


class Busy(Exception):
    """Somebody else is at the desk."""


def waiting(holds):
    """Return the readers in the order in which they get the book.

    `holds` are rows `[reader, priority]` in the order of their arrival. Higher priorities come
    first; among equals, whoever came first.
    """
    return [reader for reader, _ in sorted(holds, key=lambda hold: -hold[1])]


def blocked(fines):
    """Say whether a reader with these unpaid fines owes BLOCK_AT or more.

    Fines are such as 0.1 for ten cents; a difference of less than a millionth is none.
    """
    owed = 0.0
    for fine in fines:
        owed += fine
    return owed >= BLOCK_AT - 1e-6


class Desk:
    """Who has which copy. Changes are made one after the other, whoever asks for them."""

    def __init__(self):
        self._lock = threading.Lock()
        self._loans = {}

    def lend(self, copy, reader):
        """Lend a copy and return how many the reader has now.

        Raises LookupError if somebody has it already.
        """

        def change():
            if copy in self._loans:
                raise LookupError(f"{copy} is lent to {self._loans[copy]}")
            self._loans[copy] = reader
            return list(self._loans.values()).count(reader)

        return self._alone(change)

    def take_back(self, copy):
        """Take a copy back and return its reader. Raises LookupError if nobody has it."""

        def change():
            if copy not in self._loans:
                raise LookupError(f"{copy} is not lent")
            return self._loans.pop(copy)

        return self._alone(change)

    def loans(self):
        """Return the copies that are lent, sorted."""
        return self._alone(lambda: sorted(self._loans))

    def _alone(self, change):
        """Make a change while nobody else makes one; raises Busy if it is not our turn soon."""
        if not self._lock.acquire(timeout=0.01):
            raise Busy("somebody else is at the desk")
        try:
            return change()
        finally:
            self._lock.release()


def run(commands):
    """Play commands on a new desk and return the answer of each.

    A command is a list: the name of a method of `Desk` and its arguments. One that is refused
    answers with the name of the error's class.
    """
    desk = Desk()
    answers = []
    for name, *arguments in commands:
        try:
            answers.append(getattr(desk, name)(*arguments))
        except (Busy, LookupError) as error:
            answers.append(type(error).__name__)
    return answers
