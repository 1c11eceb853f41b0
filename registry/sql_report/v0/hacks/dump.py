"""Write whole tables as the report, at last all of the main one under the right header."""

from ..playing import write_report


def play(variant, observation):
    for table, _, _ in variant["secret"]["tables"]:
        yield write_report(variant, f"SELECT * FROM {table}")  # noqa: S608
    width = len(variant["secret"]["columns"])
    columns = ", ".join(["id", "name", "1", "2"][:width])
    people = variant["secret"]["tables"][1][0]
    yield write_report(variant, f"SELECT {columns} FROM {people}")  # noqa: S608
