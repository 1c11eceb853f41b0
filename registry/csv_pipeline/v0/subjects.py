"""What the files can be about, and how they can be written. Host side."""

# `names` are the groups of the summary, one of them with a comma; `units` what one unit is in the
# base unit, `monthly` says that these change from month to month.
SUBJECTS = [
    {
        "things": "web shop orders",
        "id": "order",
        "key": "region",
        "amount": "amount",
        "base": "EUR",
        "units": {"EUR": "1", "USD": "0.92", "GBP": "1.17", "SEK": "0.088"},
        "monthly": True,
        "names": ["north", "south", "east", "île-de-france", "zürich", "são paulo", "lyon, rhône"],
        "excluded": ["cancelled", "test"],
    },
    {
        "things": "freight waybills",
        "id": "waybill",
        "key": "depot",
        "amount": "weight",
        "base": "kg",
        "units": {"kg": "1", "g": "0.001", "t": "1000", "lb": "0.45359237"},
        "monthly": False,
        "names": ["aarhus", "bremen", "cádiz", "dunkirk", "gävle", "køge", "hall 3, west"],
        "excluded": ["returned", "void"],
    },
    {
        "things": "energy meter readings",
        "id": "reading",
        "key": "site",
        "amount": "energy",
        "base": "kWh",
        "units": {"kWh": "1", "Wh": "0.001", "MWh": "1000", "MJ": "0.2777777778"},
        "monthly": False,
        "names": ["mill", "harbour", "school", "bakery", "brücke", "café", "pumps, old"],
        "excluded": ["faulty", "estimated"],
    },
    {
        "things": "gifts to a charity",
        "id": "gift",
        "key": "campaign",
        "amount": "amount",
        "base": "CHF",
        "units": {"CHF": "1", "EUR": "0.95", "USD": "0.88", "JPY": "0.0059"},
        "monthly": True,
        "names": ["spring", "wells", "reading aloud", "forêt", "señales", "roof", "bread, rice"],
        "excluded": ["refunded", "pledge"],
    },
]
# Encoding, separator, decimal mark, thousands mark, date format, end of line.
FORMS = [
    ("utf-8", ",", ".", "'", "%Y-%m-%d", "\n"),
    ("cp1252", ";", ",", ".", "%d.%m.%Y", "\r\n"),
    ("utf-8-sig", ";", ",", " ", "%d/%m/%Y", "\n"),
    ("utf-16", "\t", ".", ",", "%m/%d/%Y", "\r\n"),
    ("latin-1", "|", ".", "'", "%Y%m%d", "\n"),
]
MARKS = {
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "vertical bar",
    ".": "point",
    "'": "apostrophe",
    " ": "blank",
}
DATES = {
    "%Y-%m-%d": "year-month-day, as 2024-03-31",
    "%d.%m.%Y": "day.month.year, as 31.03.2024",
    "%d/%m/%Y": "day/month/year, as 31/03/2024",
    "%m/%d/%Y": "month/day/year, as 03/31/2024",
    "%Y%m%d": "year, month, day without anything between, as 20240331",
}
