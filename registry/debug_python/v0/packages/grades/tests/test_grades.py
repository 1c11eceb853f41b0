import unittest

import grades
from grades import config


class MarksTest(unittest.TestCase):
    def test_percent(self):
        self.assertEqual(grades.percent(0, 0), 0)
        self.assertEqual(grades.percent(40, 40), 100)

    def test_corrected(self):
        self.assertEqual(grades.corrected(20, 4), 22)
        self.assertEqual(grades.corrected(20, 0), 20)

    def test_passes(self):
        self.assertTrue(grades.passes([1.0, 0.9], [0.5, 0.5]))
        self.assertFalse(grades.passes([0.1, 0.0], [0.5, 0.5]))

    def test_passed_all(self):
        self.assertTrue(grades.passed_all({"a": 3}, {"a": 3}))
        self.assertFalse(grades.passed_all({}, {"a": 0}))


class RubricTest(unittest.TestCase):
    def test_optional_tasks_add_nothing(self):
        self.assertEqual(grades.points({"name": "a", "points": 5, "optional": True}), 0)

    def test_outline(self):
        self.assertEqual(grades.outline({"name": "exam", "points": 5}), ["exam"])
        self.assertEqual(grades.outline({"name": "b"}, 1, ["a"]), ["a", "  b"])


class DeadlinesTest(unittest.TestCase):
    def test_in_time(self):
        self.assertTrue(grades.in_time("2024-05-29T12:00:00+00:00", "2024-05-31"))
        self.assertFalse(grades.in_time("2024-06-02T12:00:00+00:00", "2024-05-31"))

    def test_never_absent(self):
        self.assertEqual(grades.absences(list(range(1, config.WEEKS + 1))), [])


class ListsTest(unittest.TestCase):
    def test_ranking(self):
        self.assertEqual(grades.ranking([["ada", 3], ["bob", 7], ["eve", 5]]), ["bob", "eve", "ada"])

    def test_one_group(self):
        self.assertEqual(grades.groups(["red"], [["red", "ada"]]), {"red": ["ada"]})

    def test_join(self):
        students = [{"id": "s1", "name": "Ada"}, {"id": "s2", "name": "Bob"}]
        results = [{"id": "s2", "name": "Bob", "points": 7}]
        self.assertEqual(grades.join(students, results), [["s1", "Ada", None], ["s2", "Bob", 7]])

    def test_publish(self):
        self.assertEqual(grades.publish([["Ada", 3], ["Bob", 7]]), b"Ada;3\nBob;7\n")


class BookTest(unittest.TestCase):
    def test_one_student(self):
        answers = grades.run(
            [["enter", "ada", "a", 3], ["enter", "ada", "b", 4], ["total", "ada"], ["total", "bob"]]
        )
        self.assertEqual(answers, [{"a": 3}, {"a": 3, "b": 4}, 7, 0])
