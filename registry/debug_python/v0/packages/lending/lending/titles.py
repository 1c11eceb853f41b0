"""Titles, the records of the catalogue, and the tree of subjects."""

import unicodedata

REQUIRED = ("id", "title", "year")


def _key(title):
    return " ".join(unicodedata.normalize("NFC", title).casefold().split())


def same_title(one, other):
    """Say whether two titles are the same.

    Capitals and the number of spaces do not matter, nor whether an accented letter is written as
    one character or as a letter and an accent.
    """
    return _key(one) == _key(other)


def check(records):
    """Return the faults of all records, in their order, as texts such as "3: no title".

    The number is the record's place in the list, from 1. A record needs the fields of REQUIRED,
    and none of them may be empty; several faults of a record are named in the order of REQUIRED.
    """
    faults = []
    for number, record in enumerate(records, 1):
        for field in REQUIRED:
            if record.get(field) in (None, ""):
                faults.append(f"{number}: no {field}")
    return faults


def merge(old, new):
    """Return the old records with the new ones put in.

    A new record takes the place of the one with the same id; records with other ids come after
    all old ones. Editions that share a title are different records.
    """
    merged = {}
    for record in [*old, *new]:
        merged[record["id"]] = record
    return list(merged.values())


def leaves(node, above=""):
    """Return the full names of the subjects that have none below them, such as "art/music/jazz".

    A node is a dict with "name" and, where there are subjects below, "below": a list of nodes.
    """
    name = above + node["name"]
    if not node.get("below"):
        return [name]
    found = []
    for child in node["below"]:
        found += leaves(child, name + "/")
    return found


def codes(node, found=None):
    """Return the codes of all books of a node and of those below it, the node's own first."""
    if found is None:
        found = []
    found.extend(node.get("codes", []))
    for child in node.get("below", []):
        codes(child, found)
    return found


def sizes(nodes):
    """Return how many books each of the nodes holds, with those below it."""
    return [len(codes(node)) for node in nodes]
