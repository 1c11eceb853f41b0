import unittest

import ledger

NOON = "2024-03-05T12:00:00+00:00"


class MoneyTest(unittest.TestCase):
    def test_parse_and_show(self):
        for text in ("12.30", "-0.05", "0.00", "1000.99"):
            self.assertEqual(ledger.show(ledger.parse(text)), text)

    def test_parse_refuses_other_texts(self):
        for text in ("", "1,5", "1.234", "one", "--1"):
            with self.assertRaises(ValueError):
                ledger.parse(text)

    def test_split_even(self):
        self.assertEqual(ledger.split(900, 3), [300, 300, 300])

    def test_allocate(self):
        self.assertEqual(ledger.allocate(1000, [0.5, 0.25, 0.25]), [500, 250, 250])
        with self.assertRaises(ValueError):
            ledger.allocate(1000, [0.5, 0.4])

    def test_rates(self):
        rows = [["USD", "2024-02-01", 92], ["USD", "2024-01-01", 90]]
        self.assertEqual(ledger.quotes(rows, [["USD", "2024-03-01"]]), [92])
        with self.assertRaises(LookupError):
            ledger.quotes(rows, [["SEK", "2024-03-01"]])


class AccountsTest(unittest.TestCase):
    def test_tree(self):
        names = ["home:food:bread", "home:rent"]
        self.assertEqual(ledger.children(names, "home"), ["home:food", "home:rent"])
        self.assertEqual(ledger.depth("home:food"), 2)

    def test_total_of_nothing(self):
        self.assertEqual(ledger.total({}, "home"), 0)


class FilesTest(unittest.TestCase):
    def test_round_trip(self):
        rows = [{"account": "home:café", "amount": "1.50"}]
        data = ledger.write(["account", "amount"], rows)
        self.assertEqual(ledger.read(data), rows)


class BookTest(unittest.TestCase):
    def test_balances(self):
        answers = ledger.run(
            [
                ["post", "home", "3.00", NOON],
                ["post", "work", "1.00", NOON, ["new"]],
                ["post", "home", "-1.50", NOON],
                ["balances"],
                ["tagged", "new"],
                ["largest", 1],
                ["statement", "garden", 1],
            ]
        )
        self.assertEqual(answers, [1, 2, 3, {"home": 150, "work": 100}, [2], [1], []])

    def test_day(self):
        self.assertEqual(ledger.booking_day(NOON), "2024-03-05")


class TellersTest(unittest.TestCase):
    def test_one_transfer(self):
        before = {"a": 100, "b": 0}
        after = ledger.transfer_all(before, [["a", "b", 30]])
        self.assertEqual(after, {"balances": {"a": 70, "b": 30}, "done": [True]})
        self.assertEqual(before, {"a": 100, "b": 0})
