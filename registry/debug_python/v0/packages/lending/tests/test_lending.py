import unittest

import lending


class TitlesTest(unittest.TestCase):
    def test_capitals_and_spaces_do_not_matter(self):
        self.assertTrue(lending.same_title("The  Sea", "the sea "))
        self.assertFalse(lending.same_title("The Sea", "The Sky"))

    def test_check_good_records(self):
        self.assertEqual(lending.check([]), [])
        self.assertEqual(lending.check([{"id": "a", "title": "Sea", "year": 1999}]), [])

    def test_merge(self):
        old = [{"id": "a", "title": "Sea"}, {"id": "b", "title": "Sky"}]
        new = [{"id": "c", "title": "Ice"}]
        self.assertEqual(lending.merge(old, new), [*old, *new])

    def test_tree(self):
        self.assertEqual(lending.leaves({"name": "art"}), ["art"])
        self.assertEqual(lending.sizes([{"codes": ["x1"], "below": [{"codes": ["x2"]}]}]), [2])


class DatesTest(unittest.TestCase):
    def test_due_day(self):
        self.assertGreater(lending.due_day("2024-02-20"), "2024-02-20")

    def test_early_return_is_not_late(self):
        self.assertEqual(lending.late_days("2024-05-10", "2024-05-02"), 0)

    def test_is_late(self):
        due = "2024-05-10T18:00:00+02:00"
        self.assertTrue(lending.is_late(due, "2024-05-10T18:00:01+02:00"))
        self.assertFalse(lending.is_late(due, due))

    def test_average(self):
        self.assertEqual(lending.average_days([10, 20, 30]), 20)
        self.assertEqual(lending.average_days([]), 0)


class ShelvesTest(unittest.TestCase):
    def test_one_shelf(self):
        plan = lending.floor_plan(1, 3, [[0, 1, "x1"]])
        self.assertEqual(plan, [["", "x1", ""]])
        self.assertEqual(lending.free_places(plan), [2])
        with self.assertRaises(ValueError):
            lending.floor_plan(1, 3, [[0, 1, "x1"], [0, 1, "x2"]])


class DeskTest(unittest.TestCase):
    def test_loans(self):
        answers = lending.run(
            [["lend", "x1", "ada"], ["lend", "x2", "ada"], ["take_back", "x1"], ["loans"]]
        )
        self.assertEqual(answers, [1, 2, "ada", ["x2"]])

    def test_refused(self):
        self.assertEqual(lending.run([["take_back", "x1"]]), ["LookupError"])

    def test_waiting(self):
        self.assertEqual(lending.waiting([["ada", 1], ["bob", 3], ["eve", 2]]), ["bob", "eve", "ada"])

    def test_blocked(self):
        self.assertFalse(lending.blocked([]))
        self.assertTrue(lending.blocked([lending.config.BLOCK_AT, 0.5]))
