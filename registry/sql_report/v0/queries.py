"""The questions as SQL: with every rule kept, and as somebody writes them who knows no rule.

Each question is one SELECT over the same five views; `clean` and `naive` differ in the views only.
"""

CLEAN = """WITH RECURSIVE root(id, top) AS (
  $roots
),
sale(id, party, place, at) AS (
  SELECT e.id, root.top, e.$place_id, datetime(e.$at$unix$zone)
  FROM $events e JOIN $places p ON p.id = e.$place_id
  LEFT JOIN $parties c ON c.id = e.$party_id LEFT JOIN root ON root.id = c.id
  WHERE $valid$tests
),
part(sale, item, cents) AS (
  SELECT l.$event_id, l.$item_id,
         l.quantity * l.unit_cents * (100 - COALESCE(l.discount_percent, 0)) / 100
  FROM $line l JOIN sale ON sale.id = l.$event_id
),"""
NAIVE = """WITH RECURSIVE sale(id, party, place, at) AS (
  SELECT id, $party_id, $place_id, datetime($at$unix) FROM $events
),
part(sale, item, cents) AS (
  SELECT $event_id, $item_id, quantity * unit_cents * (100 - discount_percent) / 100 FROM $line
),"""
TOTAL = """
total(sale, cents) AS (SELECT sale, SUM(cents) FROM part GROUP BY sale)"""
PAID = {
    True: """,
paid(sale, cents) AS (
  SELECT event, SUM(cents) FROM (
    SELECT DISTINCT $event_id AS event, reference, cents FROM $payment WHERE state = 'settled'
  ) GROUP BY event
)""",
    False: """,
paid(sale, cents) AS (SELECT $event_id, SUM(cents) FROM $payment GROUP BY $event_id)""",
}
STARS = {
    True: """,
star(item, stars) AS (
  SELECT r.$item_id, r.stars FROM $reviews r JOIN sale ON sale.id = r.$event_id
  WHERE r.stars IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM $reviews later WHERE later.$event_id = r.$event_id
    AND later.$item_id = r.$item_id AND later.stars IS NOT NULL
    AND later.written_at > r.written_at
  )
)""",
    False: """,
star(item, stars) AS (SELECT $item_id, COALESCE(stars, 0) FROM $reviews)""",
}
MONTHS = """,
month(name) AS (
  SELECT '$year-01' UNION ALL
  SELECT substr(date(name || '-01', '+1 month'), 1, 7) FROM month WHERE name < '$year-12'
)"""
GROUPS = {
    True: "(SELECT id, name FROM $groups UNION ALL SELECT NULL, '(none)')",
    False: "$groups",
}
SELECTS = {
    "group_sales": """
SELECT g.name, COUNT(DISTINCT t.sale), printf('%.2f', COALESCE(SUM(t.cents), 0) / 100.0)
FROM $group_rows g LEFT JOIN (
  SELECT part.sale, part.cents, i.$group_id AS grp FROM part
  JOIN sale ON sale.id = part.sale JOIN $items i ON i.id = part.item
  WHERE sale.at >= '$begin' AND sale.at < '$end'
) t ON t.grp IS g.id
GROUP BY g.name ORDER BY COALESCE(SUM(t.cents), 0) DESC, g.name""",
    "top_parties": """
SELECT ROW_NUMBER() OVER (ORDER BY SUM(cents) DESC, c.id), c.id, c.name,
       printf('%.2f', SUM(cents) / 100.0)
FROM total JOIN sale ON sale.id = total.sale JOIN $parties c ON c.id = sale.party
WHERE substr(sale.at, 1, 4) = '$year'
GROUP BY c.id ORDER BY SUM(cents) DESC, c.id LIMIT $count""",
    "busiest_hour": """
SELECT name, hour, amount FROM (
  SELECT p.name AS name, CAST(substr(sale.at, 12, 2) AS INTEGER) AS hour, COUNT(*) AS amount,
         ROW_NUMBER() OVER (
           PARTITION BY p.id ORDER BY COUNT(*) DESC, substr(sale.at, 12, 2)
         ) AS position
  FROM sale JOIN $places p ON p.id = sale.place GROUP BY p.id, substr(sale.at, 12, 2)
) WHERE position = 1 ORDER BY name""",
    "unpaid": """
SELECT sale.id, p.name, printf('%.2f', (total.cents - COALESCE(paid.cents, 0)) / 100.0)
FROM sale JOIN total ON total.sale = sale.id JOIN $places p ON p.id = sale.place
LEFT JOIN paid ON paid.sale = sale.id
WHERE COALESCE(paid.cents, 0) < total.cents AND substr(sale.at, 1, 4) = '$year'
ORDER BY total.cents - COALESCE(paid.cents, 0) DESC, sale.id""",
    "lapsed": """
SELECT c.id, c.name, substr(MAX(sale.at), 1, 10)
FROM sale JOIN $parties c ON c.id = sale.party
GROUP BY c.id HAVING MAX(sale.at) < '$day' ORDER BY c.id""",
    "growth": """
SELECT name, printf('%.2f', cents / 100.0),
       CASE WHEN before > 0 THEN printf('%.1f', 100.0 * (cents - before) / before) ELSE '' END
FROM (
  SELECT name, cents, LAG(cents) OVER (ORDER BY name) AS before FROM (
    SELECT month.name AS name, COALESCE(SUM(t.cents), 0) AS cents FROM month LEFT JOIN (
      SELECT substr(sale.at, 1, 7) AS name, total.cents AS cents
      FROM sale JOIN total ON total.sale = sale.id
    ) t ON t.name = month.name GROUP BY month.name
  )
) ORDER BY name""",
    "median": """
SELECT p.name, m.amount, printf('%.2f', AVG(m.cents) / 100.0)
FROM (
  SELECT sale.place AS place, total.cents AS cents,
         ROW_NUMBER() OVER (PARTITION BY sale.place ORDER BY total.cents) AS position,
         COUNT(*) OVER (PARTITION BY sale.place) AS amount
  FROM sale JOIN total ON total.sale = sale.id WHERE substr(sale.at, 1, 4) = '$year'
) m JOIN $places p ON p.id = m.place
WHERE m.position IN ((m.amount + 1) / 2, (m.amount + 2) / 2)
GROUP BY p.id ORDER BY p.name""",
    "new_returning": """
SELECT month.name, COUNT(DISTINCT CASE WHEN f.name = month.name THEN f.party END),
       COUNT(DISTINCT CASE WHEN f.name < month.name THEN f.party END)
FROM month LEFT JOIN sale ON substr(sale.at, 1, 7) = month.name LEFT JOIN (
  SELECT party, MIN(substr(at, 1, 7)) AS name FROM sale WHERE party IS NOT NULL GROUP BY party
) f ON f.party = sale.party
GROUP BY month.name ORDER BY month.name""",
    "pairs": """
SELECT one.name, two.name, COUNT(*) FROM part a JOIN part b ON a.sale = b.sale
JOIN $items one ON one.id = a.item JOIN $items two ON two.id = b.item
WHERE one.name < two.name
GROUP BY one.name, two.name HAVING COUNT(*) >= $least
ORDER BY COUNT(*) DESC, one.name, two.name""",
    "ratings": """
SELECT i.name, COUNT(*), printf('%.2f', AVG(star.stars))
FROM star JOIN $items i ON i.id = star.item
GROUP BY i.id HAVING COUNT(*) >= $least ORDER BY AVG(star.stars) DESC, i.name""",
}


def query(domain, traps, kind, arguments, clean=True):
    """Return the SELECT that answers a question; `clean` is whether it keeps the house rules."""
    by_status = domain["cancel"] == "status"
    merged = """SELECT id, id FROM $parties WHERE merged_into IS NULL
  UNION ALL SELECT c.id, root.top FROM $parties c JOIN root ON c.merged_into = root.id"""
    words = {
        "roots": merged if "merged" in traps else "SELECT id, id FROM $parties",
        "valid": "e.status = '$done'" if by_status else "e.cancelled_at IS NULL",
        "done": domain.get("done", ""),
        "tests": " AND COALESCE(c.is_test, 0) = 0" if "tests" in traps else "",
        "unix": ", 'unixepoch'" if domain["clock"] == "epoch" else "",
        "zone": ", p.utc_offset_minutes || ' minutes'" if "zones" in traps else "",
        "group_rows": GROUPS[clean],
        "at": domain["at"],
        "line": domain["line"],
        "payment": domain["payment"],
        "reviews": domain["review"][0],
        **arguments,
    }
    for plural, word in (
        ("places", "place"),
        ("parties", "party"),
        ("groups", "group"),
        ("items", "item"),
        ("events", "event"),
    ):
        words[plural], words[word] = domain[word]
    if "quarter" in arguments:
        year, after = arguments["year"], 3 * arguments["quarter"] + 1
        words["begin"] = f"{year}-{after - 3:02}-01"
        words["end"] = f"{year}-{after:02}-01" if after < 13 else f"{year + 1}-01-01"
    text = (CLEAN if clean else NAIVE) + TOTAL
    if kind == "unpaid":
        text += PAID[clean]
    if kind == "ratings":
        text += STARS[clean]
    if kind in ("growth", "new_returning"):
        text += MONTHS
    text += SELECTS[kind]
    # Longest first, so that `$places` is not read as `$place` and an s; twice, as some are nested.
    for _ in range(2):
        for word in sorted(words, key=len, reverse=True):
            text = text.replace("$" + word, str(words[word]))
    return text
