"""Finding, sorting and scaling recipes; the box of recipe cards."""

import copy


def find(names, wanted):
    """Return the first of the names that equals the wanted one, or None.

    Capital and small letters are the same, in all languages: "Weißkohl" is "WEISSKOHL".
    """
    for name in names:
        if name.casefold() == wanted.casefold():
            return name
    return None


def slowest(recipes):
    """Return the names of recipes `[name, minutes]`, those that take longest first.

    Recipes that take the same time keep their order.
    """
    order = sorted(recipes, key=lambda recipe: recipe[1], reverse=True)
    return [name for name, _ in order]


def portions(amount, cooked_for, wanted):
    """Return the grams that `wanted` people need of what is `amount` grams for `cooked_for`.

    All are whole numbers; the answer is rounded up to a whole gram, so that nobody goes hungry.
    """
    return -(-amount * wanted // cooked_for)


def ingredients(recipes, name, amount=1):
    """Return how much of each plain ingredient so much of a recipe needs.

    `recipes` maps the name of a recipe to what one unit of it needs: a dict of names and amounts.
    A name in there that is a recipe itself is resolved in turn; one that is none is a plain
    ingredient. So is `name` itself if it is no recipe.
    """
    if name not in recipes:
        return {name: amount}
    needed = {}
    for part, part_amount in recipes[name].items():
        for plain, much in ingredients(recipes, part, amount * part_amount).items():
            needed[plain] = needed.get(plain, 0) + much
    return needed


class Box:
    """Recipe cards: a name, the number of people and lines `[ingredient, grams]`."""

    def __init__(self):
        self._cards = {}

    def add(self, name, people, lines):
        """Put in a card; one of the same name is replaced."""
        self._cards[name] = {"people": people, "lines": [list(line) for line in lines]}
        return sorted(self._cards)

    def card(self, name):
        """Return a card as it was put in."""
        return copy.deepcopy(self._cards[name])

    def for_people(self, name, people):
        """Return a card recalculated for so many people. The card in the box stays as it is."""
        card = copy.deepcopy(self._cards[name])
        for line in card["lines"]:
            line[1] = portions(line[1], card["people"], people)
        card["people"] = people
        return card


def run(commands):
    """Play commands on a new box of recipe cards and return the answer of each.

    A command is a list: the name of a method of `Box` and its arguments.
    """
    box = Box()
    return [getattr(box, name)(*arguments) for name, *arguments in commands]
