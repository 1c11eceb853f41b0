"""What stands where: shelves of places, both counted from 0."""


def floor_plan(shelves, places, books):
    """Return the shelves as lists of codes, "" for a free place.

    `books` holds rows `[shelf, place, code]`. Raises ValueError if two books want one place.
    """
    plan = [[""] * places for _ in range(shelves)]
    for shelf, place, code in books:
        if plan[shelf][place]:
            raise ValueError(f"{plan[shelf][place]} and {code} want the same place")
        plan[shelf][place] = code
    return plan


def free_places(plan):
    """Return how many places of each shelf are free."""
    return [shelf.count("") for shelf in plan]
