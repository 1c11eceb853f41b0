import unittest

import kitchen
from kitchen import config


class RecipesTest(unittest.TestCase):
    def test_find(self):
        self.assertEqual(kitchen.find(["Soup", "Bread"], "bread"), "Bread")
        self.assertIsNone(kitchen.find(["Soup", "Bread"], "cake"))

    def test_slowest(self):
        rows = [["salad", 10], ["stew", 120], ["soup", 40]]
        self.assertEqual(kitchen.slowest(rows), ["stew", "soup", "salad"])

    def test_portions(self):
        self.assertEqual(kitchen.portions(300, 4, 8), 600)

    def test_ingredients(self):
        recipes = {"toast": {"bread": 1, "butter": 1}}
        self.assertEqual(kitchen.ingredients(recipes, "toast"), {"bread": 1, "butter": 1})

    def test_box(self):
        answers = kitchen.run(
            [["add", "soup", 4, [["leek", 200]]], ["card", "soup"], ["for_people", "soup", 2]]
        )
        self.assertEqual(answers[0], ["soup"])
        self.assertEqual(answers[1], {"people": 4, "lines": [["leek", 200]]})
        self.assertEqual(answers[2]["people"], 2)


class PantryTest(unittest.TestCase):
    def test_missing(self):
        self.assertEqual(kitchen.missing({"rice": 500}, {"rice": 400}), {})
        self.assertEqual(kitchen.missing({"rice": 500}, {"rice": 700}), {"rice": 200})

    def test_shopping(self):
        lines = [["rice", 1, "kg"], ["eggs", 6, "pieces"], ["rice", 2, "kg"]]
        self.assertEqual(kitchen.shopping(lines), [["rice", 3, "kg"], ["eggs", 6, "pieces"]])

    def test_basket(self):
        start = {"rice": 100}
        self.assertEqual(kitchen.basket({"rice": 50, "salt": 5}, start), {"rice": 150, "salt": 5})


class MenuTest(unittest.TestCase):
    def test_same_dish_every_day(self):
        self.assertEqual(kitchen.dish_of_day(["soup"], 200), "soup")

    def test_meals_of_a_day(self):
        names = {name for _, _, name in config.MEALS}
        served = {kitchen.meal_at(f"2024-03-01T{hour:02d}:30:00+00:00") for hour in range(24)}
        self.assertEqual(served, names | {"closed"})

    def test_same_mix(self):
        self.assertTrue(kitchen.same_mix([1, 2], [2, 4]))
        self.assertFalse(kitchen.same_mix([1, 2], [2, 3]))


class OvensTest(unittest.TestCase):
    def test_one_dish(self):
        self.assertEqual(kitchen.bake_all([["bread", 65]]), ["bread: 1 h 5 min"])
