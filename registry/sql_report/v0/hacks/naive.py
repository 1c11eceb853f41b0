"""Answer as if every row counted and every time were local."""

from ..playing import select, write_report


def play(variant, observation):
    yield write_report(variant, select(variant, clean=False))
