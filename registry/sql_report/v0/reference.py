"""Look at the tables, then answer with one SELECT that keeps every rule."""

from .playing import select, write_report

LOOK = """
import sqlite3
connection = sqlite3.connect("file:DATABASE?mode=ro", uri=True)
for (text,) in connection.execute("SELECT sql FROM sqlite_master"):
    print(text)
"""


def play(variant, observation):
    look = LOOK.replace("DATABASE", variant["task"]["database"])
    yield {"action_type": "code", "content": look}
    yield write_report(variant, select(variant, clean=True))
