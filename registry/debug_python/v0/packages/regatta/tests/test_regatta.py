import unittest

import regatta


class EntriesTest(unittest.TestCase):
    def test_register(self):
        old = {"country": "NED", "number": 7, "boat": "Wad"}
        new = {"country": "NED", "number": 7, "boat": "Wad II"}
        other = {"country": "NED", "number": 8, "boat": "Lek"}
        self.assertEqual(regatta.register([old, other, new]), [new, other])

    def test_measured(self):
        limits = {"length": [4.0, 5.5]}
        self.assertTrue(regatta.measured({"length": 5.5, "draught": 1.0}, limits))
        self.assertFalse(regatta.measured({"length": 5.6}, limits))
        self.assertFalse(regatta.measured({}, limits))

    def test_start_list_of_one_class(self):
        rows = [["laser", 9, "Wad"], ["laser", 4, "Lek"]]
        self.assertEqual(regatta.start_list(rows), [rows[1], rows[0]])

    def test_few_boats_sail_in_one_heat(self):
        self.assertEqual(regatta.heats(["Wad", "Lek"]), [["Wad", "Lek"]])


class TimesTest(unittest.TestCase):
    def test_elapsed(self):
        start, finish = "2024-06-01T10:00:00+02:00", "2024-06-01T11:01:01+02:00"
        self.assertEqual(regatta.elapsed(start, finish), 3661)

    def test_dead_heat(self):
        self.assertTrue(regatta.dead_heat([60.5, 58.0], [60.5, 58.0]))
        self.assertFalse(regatta.dead_heat([60.5, 58.0], [60.5, 58.5]))

    def test_roundings(self):
        events = [["Wad", "north"], ["Wad", "north"], ["Wad", "buoy"]]
        self.assertEqual(regatta.roundings(events), {"Wad": ["north", "buoy"]})


class PointsTest(unittest.TestCase):
    def test_net_of_few_races(self):
        self.assertEqual(regatta.net([1, 2]), 3)
        self.assertEqual(regatta.net([]), 0)

    def test_redress(self):
        self.assertEqual(regatta.redress([2, 4]), 30)

    def test_one_table(self):
        self.assertEqual(regatta.tables([{"Wad": 1, "Lek": 2}]), [{"Wad": 1, "Lek": 2}])


class BoardTest(unittest.TestCase):
    def test_frame(self):
        self.assertEqual(regatta.frame("Wad").rstrip(), b"Wad")
        lengths = {len(regatta.frame(name)) for name in ("", "Wad", "W" * 99)}
        self.assertEqual(len(lengths), 1)


class JudgesTest(unittest.TestCase):
    def test_one_judge(self):
        self.assertEqual(regatta.collect([[["Wad", 3], ["Lek", 5]]]), {"Wad": 3, "Lek": 5})
