"""The exchange format: lines of fields that are separated by semicolons."""


def read(data):
    """Return the rows of an exported file as dicts.

    `data` is UTF-8, with or without a byte order mark. The first line names the columns. Blank
    lines and lines that begin with "#" may stand anywhere and mean nothing; spaces around a field
    do not belong to it.
    """
    rows = []
    header = None
    for line in data.decode("utf-8-sig").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(";")]
        if header is None:
            header = fields
        else:
            rows.append(dict(zip(header, fields)))
    return rows


def write(header, rows):
    """Return a file with these columns as UTF-8; what a row does not have stays empty."""
    lines = [";".join(header)]
    lines += [";".join(str(row.get(name, "")) for name in header) for row in rows]
    return ("\n".join(lines) + "\n").encode("utf-8")
