"""The rubric: a tree of tasks. A task is a dict with "name" and either "points" or "parts"."""


def points(task):
    """Return the points of a task: its own ones, or the sum of those of its parts.

    An optional task (with "optional": true) adds nothing, and neither do the parts of one.
    """
    if task.get("optional"):
        return 0
    if "parts" not in task:
        return task["points"]
    return sum(points(part) for part in task["parts"])


def outline(task, level=0, lines=None):
    """Return the names of a task and of all its parts, each with two spaces for its level.

    `lines` are lines to go on after; without them the outline begins with the task.
    """
    lines = [] if lines is None else list(lines)
    lines.append("  " * level + task["name"])
    for part in task.get("parts", []):
        lines = outline(part, level + 1, lines)
    return lines
