import unittest

import parcels


class PricesTest(unittest.TestCase):
    def test_heavier_parcels_cost_more(self):
        self.assertGreater(parcels.price(3001), parcels.price(901))

    def test_discount(self):
        self.assertEqual(parcels.discounted(1000, 10), 900)
        self.assertEqual(parcels.discounted(199, 0), 199)

    def test_franked(self):
        self.assertEqual(parcels.franked([0.5, 0.25], 0.75), "right")
        self.assertEqual(parcels.franked([0.5], 0.75), "short")
        self.assertEqual(parcels.franked([1.0], 0.75), "over")


class LabelsTest(unittest.TestCase):
    def test_labels(self):
        found = parcels.labels([["A1", ["fragile"]]])
        self.assertEqual(found, [{"code": "A1", "fragile": "yes"}])

    def test_print_bytes(self):
        self.assertEqual(parcels.print_bytes("Köln"), b"K\xf6ln")
        self.assertEqual(parcels.print_bytes("\u6d77 A1"), b"? A1")


class ScansTest(unittest.TestCase):
    def test_last_seen(self):
        scans = [["A1", "2024-03-05 09:10", "Lyon"], ["A1", "2024-03-04 22:00", "Brno"]]
        self.assertEqual(parcels.last_seen(scans), {"A1": "Lyon"})

    def test_leaves_later_when_handed_over_later(self):
        early = parcels.leaves_on("2024-03-05T12:00:00+00:00")
        late = parcels.leaves_on("2024-03-07T12:00:00+00:00")
        self.assertLess(early, late)


class DepotTest(unittest.TestCase):
    def test_no_moves(self):
        state = {"Lyon": ["A1"], "Brno": []}
        self.assertEqual(parcels.history(state, []), [state])

    def test_no_such_place(self):
        tree = {"name": "hub", "below": [{"name": "Lyon"}]}
        self.assertEqual(parcels.path(tree, "Brno"), [])

    def test_load(self):
        self.assertEqual(parcels.load([["A1", 20], ["B2", 30], ["C3", 1]], 50), ["A1", "B2"])

    def test_dispatch(self):
        self.assertEqual(parcels.dispatch([["A1", 2], ["B2", 1], ["C3", 3]]), ["B2", "A1", "C3"])


class CouriersTest(unittest.TestCase):
    def test_one_courier(self):
        self.assertEqual(parcels.deliver_all(["B2", "A1"], 1), ["A1", "B2"])
