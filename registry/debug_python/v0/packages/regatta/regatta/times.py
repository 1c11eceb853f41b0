"""Sailing times, dead heats and the marks of the course."""

from datetime import datetime


def elapsed(start, finish):
    """Return the whole seconds between two ISO times, each with an offset from UTC.

    The offsets may differ: long races start in one zone and finish in another.
    """
    passed = datetime.fromisoformat(finish) - datetime.fromisoformat(start)
    return int(passed.total_seconds())


def dead_heat(one, other):
    """Say whether two boats have the same time.

    Each is a list of the seconds of its legs, such as `[61.3, 58.1]`; their sum is the time. Less
    than a thousandth of a second is no difference.
    """
    return abs(_time(one) - _time(other)) < 0.001


def _time(legs):
    time = 0.0
    for leg in legs:
        time += leg
    return time


class Track:
    """The marks that a boat has rounded, in this order."""

    def __init__(self, boat, marks=None):
        self.boat = boat
        self.marks = list(marks or [])

    def round(self, mark):
        """Add a mark unless it is the one that was rounded last."""
        if not self.marks or self.marks[-1] != mark:
            self.marks.append(mark)


def roundings(events):
    """Return the marks of each boat, from events `[boat, mark]` in the order of time."""
    tracks = {}
    for boat, mark in events:
        if boat not in tracks:
            tracks[boat] = Track(boat)
        tracks[boat].round(mark)
    return {boat: track.marks for boat, track in tracks.items()}
