"""Lists: ranking, groups, and the file that is published."""


def ranking(rows):
    """Return the names of rows `[name, points]`, most points first.

    Of those with equal points, whoever comes first in the rows, which are in the order of hand-in,
    comes first.
    """
    order = sorted(rows, key=lambda row: row[1], reverse=True)
    return [name for name, _ in order]


def groups(names, pairs):
    """Return the members of each group, in the order of the pairs.

    `names` are the groups, some of which may stay empty; `pairs` are `[group, student]`.
    """
    members = {name: [] for name in names}
    for group, student in pairs:
        members[group].append(student)
    return members


def join(students, results):
    """Return rows `[id, name, points]` in the order of the students; points None without a result.

    `students` are dicts with "id" and "name", `results` dicts with "id", "name" and "points". The
    id says who somebody is: names are not always unique, and not always spelt alike.
    """
    by_id = {result["id"]: result["points"] for result in results}
    return [
        [student["id"], student["name"], by_id.get(student["id"])] for student in students
    ]


def publish(rows):
    """Return the file for the notice board (bytes): one line `name;points` for each row, as UTF-8.

    Names are printed letter by letter as they are; each line ends with one newline.
    """
    text = "".join(f"{name};{points}\n" for name, points in rows)
    return text.encode("utf-8")
