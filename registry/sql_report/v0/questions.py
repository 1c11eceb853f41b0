"""The questions and the house rules in words."""

# kind -> (columns, question, order or None); each is filled from the trade's words.
QUESTIONS = {
    "group_sales": (
        ["{group}", "{events}", "revenue"],
        "What did each {group} bring in in quarter {quarter} of {year}? One row for each {group}, "
        "and one named `(none)` for the {items} that have no {group}; a {group} that sold nothing "
        "has the values `0` and `0.00`. `{events}` is the number of different {events} with at "
        "least one {item} of the {group}, `revenue` the sum over their {line} of that {group}.",
        "by revenue, highest first, then by {group}",
    ),
    "top_parties": (
        ["rank", "{party}_id", "name", "revenue"],
        "Which {count} {parties} brought in the most in {year}? `rank` is 1, 2, 3 and so on "
        "without gaps or repeats (of equal revenues the lower id comes first), `name` the name of "
        "the {party}, `revenue` the sum of the totals of the {events} of that {party} in the year.",
        "by rank",
    ),
    "busiest_hour": (
        ["{place}", "hour", "{events}"],
        "In which hour of the day does each {place} have the most {events}, over all dates? One "
        "row for each {place}. `hour` is a number from 0 to 23, `{events}` how many there are in "
        "that hour; of equally busy hours give the earliest.",
        "by {place}",
    ),
    "unpaid": (
        ["{event}_id", "{place}", "due"],
        "Which {events} of {year} are not paid in full? One row for each of the {events} for "
        "which less has been paid than its total. `due` is the total less what has been paid.",
        "by due, highest first, then by {event}_id",
    ),
    "lapsed": (
        ["{party}_id", "name", "last_day"],
        "Which {parties} have stayed away since {day}? One row for each {party} with at least one "
        "of the {events}, all of them before that day. `last_day` is the date of the last one, "
        "as YYYY-MM-DD.",
        None,
    ),
    "growth": (
        ["month", "revenue", "change"],
        "How did revenue develop in {year}? One row for each of the twelve months. `month` is "
        "written as YYYY-MM, `revenue` is the sum of the totals of its {events}, and `change` how "
        "much that is above (or, negative, below) the month before, in percent of the month "
        "before. `change` is empty in January, and where the month before had no revenue.",
        "by month",
    ),
    "median": (
        ["{place}", "{events}", "median"],
        "What is the median of the totals of the {events} in {year}, for each {place}? `{events}` "
        "is how many there were. The median of an even number of totals is the mean of the two in "
        "the middle.",
        "by {place}",
    ),
    "new_returning": (
        ["month", "new", "returning"],
        "How many {parties} were new in each month of {year}, and how many came back? One row for "
        "each of the twelve months, written as YYYY-MM. `new` counts the {parties} whose first of "
        "all {events} (of any year) was in that month, `returning` those who had {events} in that "
        "month and in an earlier one. Each {party} counts once a month.",
        "by month",
    ),
    "pairs": (
        ["{item}_a", "{item}_b", "{events}"],
        "Which two {items} occur together most, over all dates? One row for each pair that is in "
        "at least {least} of the {events} together. `{item}_a` and `{item}_b` are the two names, "
        "the alphabetically first one in `{item}_a`.",
        "by {events}, highest first, then by {item}_a, then by {item}_b",
    ),
    "ratings": (
        ["{item}", "{reviews}", "mean_stars"],
        "How are the {items} rated, over all dates? One row for each {item} with at least {least} "
        "{reviews} that count. `{item}` is its name, `{reviews}` how many count, `mean_stars` "
        "the mean of their stars.",
        "by mean_stars before rounding, highest first, then by {item}",
    ),
}
DECIMALS = {
    "revenue": "two decimals",
    "due": "two decimals",
    "median": "two decimals",
    "mean_stars": "two decimals",
    "change": "one decimal",
}


def words_of(domain):
    """Return the trade's words for the texts."""
    words = {key: domain[key] for key in ("about", "line", "payment", "at")}
    for plural, word in (
        ("places", "place"),
        ("parties", "party"),
        ("groups", "group"),
        ("items", "item"),
        ("events", "event"),
        ("reviews", "review"),
    ):
        words[plural], words[word] = domain[word]
    words["a_party"] = ("an " if words["party"][0] in "aeiou" else "a ") + words["party"]
    return words


def rules(domain, traps, kind):
    """Return the house rules of a world as lines of a list."""
    words = words_of(domain)
    if domain["cancel"] == "status":
        lines = ["Only {events} with the status `" + domain["done"] + "` count, in every respect."]
    else:
        lines = ["{events} that were cancelled (`cancelled_at` is set) count in no respect."]
    if "tests" in traps:
        lines.append("{events} of test accounts (`is_test` is 1) never count.")
    clock = {
        "iso": "text without a zone",
        "isoz": "text",
        "epoch": "seconds since 1970-01-01 00:00:00 UTC",
    }[domain["clock"]]
    if "zones" in traps:
        lines.append(
            "All times in the database are in UTC (" + clock + "). Dates, months and hours in "
            "questions and answers are those of the {place} where it happened: `{places}` holds "
            "the minutes to add. Of the {events}, `{at}` decides."
        )
    else:
        lines.append(
            "All times in the database (" + clock + ") are taken as they are; nothing is to be "
            "converted to another zone. Of the {events}, `{at}` decides."
        )
    lines.append(
        "Amounts are in cents. A row of `{line}` comes to `quantity` times `unit_cents`, less "
        "`discount_percent` percent (NULL: no discount), always a whole number of cents; the "
        "total of one of the {events} is the sum of its rows. `list_cents` plays no part. In the "
        "answer amounts are not in cents but in units of 100 cents, such as `12.50`."
    )
    lines.append("{events} without {a_party} belong to nobody, but count like any other.")
    if "merged" in traps:
        lines.append(
            "An account with `merged_into` was taken over by that account, which may have been "
            "taken over in turn: all it did counts as done by the last of them, which alone is "
            "{a_party} in questions and answers."
        )
    lines.append("Two {parties} may have the same name, and are two all the same.")
    if kind == "unpaid" or traps:
        lines.append(
            "What has been paid for one of the {events} is the sum of its rows in `{payment}` "
            "whose state is `settled`; refunds are negative, and nothing else reduces it."
            + (
                " Some rows were imported twice: rows with the same `reference` are one payment."
                if "copies" in traps
                else ""
            )
        )
    if kind == "ratings" or traps:
        lines.append(
            "Rows of `{reviews}` without stars do not count, nor do those of {events} that do "
            "not count."
            + (
                " Where several that have stars are about the same {item} of the same {event}, "
                "only the latest (`written_at`) counts."
                if "copies" in traps
                else ""
            )
        )
    filled = []
    for line in lines:
        text = line.format(**words)
        filled.append("- " + text[0].upper() + text[1:])
    return "\n".join(filled)


def question(domain, kind, arguments):
    """Return (columns, text of the question, text on the order, text on numbers)."""
    words = {**words_of(domain), **arguments}
    columns, text, order = QUESTIONS[kind]
    columns = [column.format(**words) for column in columns]
    if order:
        order = (
            f"The rows are sorted {order.format(**words)}. Text is sorted by its Unicode code "
            "points (as SQLite does), numbers by value."
        )
    else:
        order = "The order of the rows does not matter."
    rounded = [f"`{column}` with {DECIMALS[column]}" for column in columns if column in DECIMALS]
    numbers = "Write whole numbers without a decimal point"
    if rounded:
        numbers += ", and " + " and ".join(rounded)
        numbers += ", also where the last ones are 0. Round only at the very end; where exactly "
        numbers += "half a unit is to be rounded, up and down are both right"
    return columns, text.format(**words), order, numbers + ". No thousands separators."
