"""Build the database from its statements and rows; equal rows give equal bytes."""

import sqlite3

connection = sqlite3.connect(PARAMS["database"], isolation_level=None)
connection.execute("PRAGMA page_size = 4096")
connection.execute("PRAGMA journal_mode = OFF")
connection.execute("PRAGMA synchronous = OFF")
connection.execute("BEGIN")
for table, statement, rows in PARAMS["tables"]:
    connection.execute(statement)
    places = ", ".join("?" * len(rows[0]))
    # Names and statements are the environment's own.
    connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608
connection.execute("COMMIT")
connection.close()
