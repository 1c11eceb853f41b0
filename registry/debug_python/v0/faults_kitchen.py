"""Where the twelve kinds of fault fit into `kitchen`."""

from datetime import UTC, datetime, timedelta, timezone

from .planting import Package, call

kitchen = Package(
    "kitchen",
    ("config", "recipes", "pantry", "menu", "ovens"),
    {"OFFSET_HOURS": (-7, -4, 3, 5, 8, 10)},
)

FOODS = ("beans", "bread", "butter", "carrots", "eggs", "flour", "leek", "milk", "oil", "onions")
DISHES = ("broth", "cake", "curry", "dough", "pie", "salad", "sauce", "soup", "stew", "stuffing")


@kitchen.fault(
    "off_by_one",
    "menu.py",
    "return menu[(day - 1) % len(menu)]",
    "return menu[day % len(menu)]",
    """The board at the door always shows tomorrow's dish instead of today's. The first dish of the
    menu was never served at the beginning of the year.""",
)
def off_by_one(rng, knobs):
    calls = []
    for _ in range(8):
        menu = rng.sample(DISHES, rng.randint(3, 6))
        calls.append(call("dish_of_day", menu, rng.choice([1, len(menu), rng.randint(1, 366)])))
    return calls


@kitchen.fault(
    "mutable_default",
    "pantry.py",
    ("def basket(needed, start=None):", "full = {} if start is None else dict(start)"),
    ("def basket(needed, start={}):", "full = start"),
    """We pack a basket for each day of the week. All of them end up with the same things in them,
    namely with those of all days together.""",
)
def mutable_default(rng, knobs):
    calls = []
    for _ in range(8):
        days = [
            {food: rng.randint(1, 9) * 50 for food in rng.sample(FOODS, rng.randint(1, 3))}
            for _ in range(rng.randint(2, 4))
        ]
        calls.append(call("baskets", days))
    return calls


@kitchen.fault(
    "aliasing",
    "recipes.py",
    '        card = copy.deepcopy(self._cards[name])\n        for line in card["lines"]:',
    '        card = dict(self._cards[name])\n        for line in card["lines"]:',
    """I looked up a recipe for a big party. Since then the card itself is wrong: the number of
    people on it is the old one, the amounts are those of the party.""",
)
def aliasing(rng, knobs):
    calls = []
    for _ in range(8):
        dish, people = rng.choice(DISHES), rng.randint(2, 5)
        lines = [[food, rng.randint(2, 20) * 25] for food in rng.sample(FOODS, rng.randint(2, 3))]
        commands = [["add", dish, people, lines], ["for_people", dish, people * rng.randint(2, 9)]]
        commands.append(rng.choice([["card", dish], ["for_people", dish, people * 3]]))
        calls.append(call("run", commands))
    return calls


@kitchen.fault(
    "float_compare",
    "menu.py",
    "return abs(one[0] / one[1] - other[0] / other[1]) < 1e-6",
    "return one[0] / one[1] == other[0] / other[1]",
    """Two batches of dressing are said to be mixed differently although I took the same parts of
    oil and vinegar for both, only more of each for the second.""",
)
def float_compare(rng, knobs):
    calls = []
    while len(calls) < 16:
        oil, vinegar = rng.randint(1, 30) / 10, rng.randint(1, 30) / 10
        times = rng.choice([3, 0.1, 1.1, 7, 0.7])
        other = [oil * times, vinegar * times]
        if oil / vinegar != other[0] / other[1]:
            calls.append(call("same_mix", [oil, vinegar], other))
            calls.append(call("same_mix", [oil, vinegar], [other[0] + 0.1, other[1]]))
    return calls


@kitchen.fault(
    "wrong_key",
    "pantry.py",
    (
        "    sums = {}\n",
        "        key = (name, unit)\n        sums[key] = sums.get(key, 0) + amount\n",
        "    return [[name, amount, unit] for (name, unit), amount in sums.items()]",
    ),
    (
        "    sums, units = {}, {}\n",
        "        units.setdefault(name, unit)\n        sums[name] = sums.get(name, 0) + amount\n",
        "    return [[name, amount, units[name]] for name, amount in sums.items()]",
    ),
    """The shopping list asked for 502 pieces of something of which we needed two pieces and a bag
    of 500 grams.""",
)
def wrong_key(rng, knobs):
    calls = []
    for _ in range(8):
        first, second = rng.sample(FOODS, 2)
        lines = [[first, rng.randint(1, 9), "pieces"], [second, rng.randint(1, 9) * 100, "grams"]]
        lines.append([first, rng.randint(1, 9) * 100, rng.choice(["grams", "ml"])])
        lines.append([second, rng.randint(1, 9) * 100, "grams"])
        rng.shuffle(lines)
        calls.append(call("shopping", lines))
    return calls


@kitchen.fault(
    "time_zone",
    "menu.py",
    "here = moment.astimezone(timezone(timedelta(hours=OFFSET_HOURS)))",
    "here = moment.replace(tzinfo=timezone(timedelta(hours=OFFSET_HOURS)))",
    """The sign at the entrance says "closed" when we serve lunch, and it invites people in at hours
    at which nobody is here.""",
)
def time_zone(rng, knobs):
    calls = []
    here = timezone(timedelta(hours=knobs["OFFSET_HOURS"]))
    hours = {7: 1, 8: 1, 9: 1, 12: 2, 13: 2, 14: 2, 18: 3, 19: 3, 20: 3}
    while len(calls) < 12:
        zone = rng.choice([UTC, here, timezone(timedelta(hours=rng.randint(-9, 11)))])
        at = datetime(2024, rng.randint(1, 12), rng.randint(2, 27), rng.randint(0, 23), tzinfo=zone)
        at += timedelta(minutes=rng.choice([0, 0, 15, 59]))
        meals = [hours.get(hour, 0) for hour in (at.astimezone(here).hour, at.hour)]
        if meals[0] != meals[1] or len(calls) % 3 == 0:
            calls.append(call("meal_at", at.isoformat()))
    return calls


@kitchen.fault(
    "recursion_base",
    "recipes.py",
    "        return {name: amount}\n",
    "        return {name: 1}\n",
    """The list of what a menu needs names the right ingredients, but far too little of each: it
    does not matter how much of them a recipe asks for.""",
)
def recursion_base(rng, knobs):
    calls = []
    for _ in range(8):
        dishes, foods = rng.sample(DISHES, 3), rng.sample(FOODS, 4)
        recipes = {
            dishes[0]: {dishes[1]: rng.randint(1, 3), foods[0]: rng.randint(2, 9)},
            dishes[1]: {foods[0]: rng.randint(2, 5), foods[1]: rng.randint(1, 9)},
            dishes[2]: {dishes[1]: 2, dishes[0]: 1, foods[2]: rng.randint(1, 4)},
        }
        calls.append(call("ingredients", recipes, rng.choice(dishes), rng.randint(2, 6)))
    return calls


@kitchen.fault(
    "encoding",
    "recipes.py",
    "if name.casefold() == wanted.casefold():",
    "if name.lower() == wanted.lower():",
    """The chef types in capitals. Most recipes are found all the same, but some of our German
    ones are not.""",
)
def encoding(rng, knobs):
    names = ["Weißkohlsuppe", "Grießbrei", "Heiße Soße", "Süßkartoffeln", "Klöße", "Spießbraten"]
    calls = []
    for name in [*names, "Nußkuchen", "Ντολμάδες"]:
        others = rng.sample(["Broth", "Pie", "Crème brûlée", "Żurek", "Weisswein"], 3)
        others.insert(rng.randrange(3), name)
        calls.append(call("find", others, name.upper()))
    calls += [call("find", ["Soße", "Pie"], "Sose"), call("find", ["Żurek", "Pie"], "żUREK")]
    return calls


@kitchen.fault(
    "early_return",
    "pantry.py",
    "            lacking[name] = grams - there\n    return lacking",
    "            lacking[name] = grams - there\n            return lacking\n    return lacking",
    """I bought everything that was said to be missing and could not cook after all: something else
    was missing, too. It took me three trips to the shop.""",
)
def early_return(rng, knobs):
    calls = []
    for _ in range(8):
        foods = rng.sample(FOODS, rng.randint(3, 5))
        needed = {food: rng.randint(2, 9) * 100 for food in foods}
        pantry = {foods[0]: 2000, foods[1]: rng.randint(0, 150)}
        calls.append(call("missing", pantry, needed))
    return calls


@kitchen.fault(
    "sort_stability",
    "recipes.py",
    "    order = sorted(recipes, key=lambda recipe: recipe[1], reverse=True)\n",
    "    order = sorted(recipes, key=lambda recipe: recipe[1])\n    order.reverse()\n",
    """We list recipes in the order in which they should be started. Of those that take equally long
    the list shows the last one first, which is not what was agreed.""",
)
def sort_stability(rng, knobs):
    calls = []
    for _ in range(8):
        dishes = rng.sample(DISHES, rng.randint(4, 6))
        minutes = [15, 15, *(rng.choice([15, 40, 90]) for _ in dishes[2:])]
        rng.shuffle(minutes)
        calls.append(call("slowest", [list(pair) for pair in zip(dishes, minutes, strict=True)]))
    return calls


@kitchen.fault(
    "integer_division",
    "recipes.py",
    "return -(-amount * wanted // cooked_for)",
    "return amount * (wanted // cooked_for)",
    """When we cook for a number of guests that is no multiple of what the recipe is for, there is
    not enough for everybody. For fewer guests than in the recipe we get nothing at all.""",
)
def integer_division(rng, knobs):
    calls = []
    while len(calls) < 8:
        cooked_for, wanted = rng.randint(3, 8), rng.randint(1, 40)
        if wanted % cooked_for:
            calls.append(call("portions", rng.randint(10, 900), cooked_for, wanted))
    return calls


@kitchen.fault(
    "concurrency",
    "ovens.py",
    "jobs.append(partial(_bake, dish, minutes))",
    "jobs.append(lambda: _bake(dish, minutes))",
    """All ovens bake the same dish, the last one on the list, and each as often as there are
    dishes. With a single dish all is well.""",
)
def concurrency(rng, knobs):
    calls = []
    for _ in range(8):
        dishes = [[dish, rng.randint(10, 200)] for dish in rng.sample(DISHES, rng.randint(2, 5))]
        calls.append(call("bake_all", dishes, rng.randint(1, 3)))
    return calls
