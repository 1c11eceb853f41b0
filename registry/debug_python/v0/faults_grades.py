"""Where the twelve kinds of fault fit into `grades`."""

from datetime import UTC, datetime, timedelta, timezone

from .planting import Package, call

grades = Package(
    "grades",
    ("config", "marks", "rubric", "deadlines", "lists", "book"),
    {"WEEKS": (8, 10, 12, 15), "PASS_AT": (0.5, 0.55, 0.6, 0.7), "OFFSET_HOURS": (2, 3, 9, -5, -8)},
)

NAMES = ("Ada", "Bob", "Eve", "Ivo", "Mia", "Noa", "Tom", "Uma", "Zoe", "Kai")
ACCENTED = ("Zoë", "Jürgen", "Renée", "Łukasz", "Søren", "İpek", "Nikó", "Βασίλης", "Žana")
TASKS = ("essay", "exam", "lab", "poster", "project", "quiz", "report", "talk")


@grades.rest
def rest(rng, knobs):
    of = rng.randint(20, 90)
    parts = [{"name": name, "points": 3} for name in rng.sample(TASKS, 2)]
    exam = {"name": "exam", "parts": parts}
    return [
        *(call("percent", rng.randint(0, of), of) for _ in range(3)),
        call("outline", {"name": "all", "parts": [exam, {"name": "talk", "points": 2}]}),
        call("outline", exam, 1, ["all"]),
    ]


@grades.fault(
    "off_by_one",
    "deadlines.py",
    "range(1, WEEKS + 1)",
    "range(1, WEEKS)",
    """A student who never came is said to have missed one week less than there are, and nobody is
    ever missed in the week of the farewell party.""",
)
def off_by_one(rng, knobs):
    weeks = knobs["WEEKS"]
    calls = []
    for number in range(10):
        present = rng.sample(range(1, weeks), rng.randint(0, weeks - 1))
        # Two of ten were there at the end.
        calls.append(call("absences", present + [weeks] * (number % 5 == 4)))
    return calls


@grades.fault(
    "mutable_default",
    "book.py",
    "    def __init__(self, name):\n        self.name = name\n        self.points = {}\n",
    "    def __init__(self, name, points={}):\n"
    "        self.name = name\n        self.points = points\n",
    """All students have the same points, namely those that were entered last for each task, and
    students who only ever handed in one task have points for others, too.""",
)
def mutable_default(rng, knobs):
    calls = []
    for _ in range(8):
        names, tasks = rng.sample(NAMES, 3), rng.sample(TASKS, 3)
        commands = [
            ["enter", name, task, rng.randint(1, 30)]
            for name, task in zip(names, tasks, strict=True)
        ]
        commands += [["enter", names[0], tasks[1], rng.randint(1, 30)], ["total", names[1]]]
        calls.append(call("run", commands))
    return calls


@grades.fault(
    "aliasing",
    "lists.py",
    "members = {name: [] for name in names}",
    "members = dict.fromkeys(names, [])",
    """According to the list of groups everybody is in every group, even in those that nobody has
    chosen.""",
)
def aliasing(rng, knobs):
    calls = []
    for _ in range(8):
        names = rng.sample(["red", "green", "blue", "white", "black"], rng.randint(2, 4))
        students = rng.sample(NAMES, rng.randint(2, 6))
        calls.append(call("groups", names, [[rng.choice(names), one] for one in students]))
    return calls


@grades.fault(
    "float_compare",
    "marks.py",
    "return reached >= PASS_AT - 1e-6",
    "return reached >= PASS_AT",
    """A student who has exactly the share of the points that is needed was told that she has
    failed. Others with exactly the same share have passed.""",
)
def float_compare(rng, knobs):
    goal = round(knobs["PASS_AT"] * 10_000)
    calls = []
    while len(calls) < 16:
        first = rng.randint(1, 8) * 10
        second = rng.randint(1, 9 - first // 10) * 10
        weights = [first, second, 100 - first - second]
        shares = [rng.randint(20, 90) for _ in range(2)]
        rest = goal - shares[0] * weights[0] - shares[1] * weights[1]
        if not weights[2] or rest % weights[2] or not 1 <= rest // weights[2] <= 100:
            continue
        shares.append(rest // weights[2])
        parts = [[share / 100 for share in shares], [weight / 100 for weight in weights]]
        reached = 0.0
        for share, weight in zip(*parts, strict=True):
            reached += share * weight
        if reached < knobs["PASS_AT"]:
            calls.append(call("passes", *parts))
            calls.append(call("passes", [*parts[0][:2], parts[0][2] - 0.01], parts[1]))
    return calls


@grades.fault(
    "wrong_key",
    "lists.py",
    (
        'by_id = {result["id"]: result["points"] for result in results}',
        'by_id.get(student["id"])',
    ),
    (
        'by_id = {result["name"]: result["points"] for result in results}',
        'by_id.get(student["name"])',
    ),
    """Two students have complained about their points. One got those of somebody else, the other
    one none at all, although both had handed in.""",
)
def wrong_key(rng, knobs):
    calls = []
    for _ in range(8):
        names = rng.sample(NAMES, 3)
        names.insert(rng.randrange(3), names[0])
        students = [{"id": f"s{at}", "name": name} for at, name in enumerate(names, 10)]
        results = [{**student, "points": 7 + 9 * at} for at, student in enumerate(students)]
        if rng.random() < 0.5:
            results[-1]["name"] = results[-1]["name"].upper()
        rng.shuffle(results)
        calls.append(call("join", students, results))
    return calls


@grades.fault(
    "time_zone",
    "deadlines.py",
    "here = moment.astimezone(timezone(timedelta(hours=OFFSET_HOURS)))",
    "here = moment.astimezone(timezone.utc)",
    """Hand-ins shortly before or after midnight are judged wrongly: either some come through that
    were late, or some are refused that were not. During the day all is well.""",
)
def time_zone(rng, knobs):
    calls = []
    here = timezone(timedelta(hours=knobs["OFFSET_HOURS"]))
    while len(calls) < 30:
        midnight = datetime(2024, rng.randint(1, 12), rng.randint(2, 27), tzinfo=here)
        zone = timezone(timedelta(hours=rng.randint(-9, 12)))
        at = (midnight + timedelta(minutes=rng.randint(-590, 590))).astimezone(zone)
        last_day = (midnight - timedelta(days=1)).date()
        fooled = (at < midnight) != (at.astimezone(UTC).date() <= last_day)
        if fooled:
            calls.append(call("in_time", at.isoformat(), last_day.isoformat()))
            for days in (-1, 1):
                noon = midnight + timedelta(hours=12, days=days)
                calls.append(call("in_time", noon.isoformat(), last_day.isoformat()))
    return calls


@grades.fault(
    "recursion_base",
    "rubric.py",
    """    if task.get("optional"):
        return 0
    if "parts" not in task:
        return task["points"]
""",
    """    if "parts" not in task:
        return 0 if task.get("optional") else task["points"]
""",
    """The sum of the points on the cover sheet is higher than anybody can reach without the
    optional tasks. For sheets whose optional tasks have no parts it is right.""",
)
def recursion_base(rng, knobs):
    calls = []
    for number in range(10):
        names = rng.sample(TASKS, 6)
        ends = [{"name": name, "points": rng.randint(2, 20)} for name in names[2:]]
        extra = {"name": names[0], "optional": True, "parts": ends[:2]}
        parts = [extra, *ends[2:]]
        if number % 5 == 4:
            parts = [*ends[2:], {"name": "extra", "points": 5, "optional": True}]
        rng.shuffle(parts)
        sheet = {"name": names[1], "parts": parts}
        calls.append(call("points", {"name": "all", "parts": [sheet]} if number % 2 else sheet))
    return calls


@grades.fault(
    "encoding",
    "lists.py",
    'return text.encode("utf-8")',
    'return text.encode("ascii", "ignore")',
    """On the notice board some students do not find their names, or only what looks like a
    misprint of them: letters are missing.""",
)
def encoding(rng, knobs):
    calls = []
    for _ in range(8):
        names = rng.sample(ACCENTED, rng.randint(1, 3)) + rng.sample(NAMES, 2)
        rng.shuffle(names)
        calls.append(call("publish", [[name, rng.randint(0, 60)] for name in names]))
    return calls


@grades.fault(
    "early_return",
    "marks.py",
    """        if points.get(task, -1) < least:
            return False
""",
    """        return points.get(task, -1) >= least
""",
    """Somebody got the certificate who had not even handed in all of the tasks that are needed for
    it. It looks as if only one of them counted.""",
)
def early_return(rng, knobs):
    calls = []
    for number in range(12):
        tasks = rng.sample(TASKS, rng.randint(2, 4))
        needed = {task: rng.randint(3, 9) for task in tasks}
        got = {task: least + rng.randint(0, 3) for task, least in needed.items()}
        if number % 3:
            failed = rng.choice(tasks[1:])
            got[failed] = needed[failed] - 1
            if number % 3 == 2:
                del got[failed]
        calls.append(call("passed_all", got, needed))
    return calls


@grades.fault(
    "sort_stability",
    "lists.py",
    "order = sorted(rows, key=lambda row: row[1], reverse=True)",
    "order = sorted(rows, key=lambda row: (row[1], row[0]), reverse=True)",
    """In the ranking of the competition, students who had handed in early stand behind others with
    the same points who were later.""",
)
def sort_stability(rng, knobs):
    calls = []
    while len(calls) < 8:
        rows = [[name, rng.choice([12, 17])] for name in rng.sample(NAMES, rng.randint(4, 6))]
        ties = sorted(rows, key=lambda row: (row[1], row[0]), reverse=True)
        if ties != sorted(rows, key=lambda row: row[1], reverse=True):
            calls.append(call("ranking", rows))
    return calls


@grades.fault(
    "integer_division",
    "marks.py",
    "return points + int(correction / 2)",
    "return points + correction // 2",
    """Some students lose a point more by a correction than others gain by the opposite one.""",
)
def integer_division(rng, knobs):
    calls = []
    for number in range(12):
        correction = rng.randint(1, 20) * 2 - 1
        # One in three is a correction upwards or an even one.
        correction = -correction if number % 3 else rng.choice([correction, -correction - 1])
        calls.append(call("corrected", rng.randint(20, 90), correction))
    return calls


@grades.fault(
    "concurrency",
    "book.py",
    "self._lock = threading.RLock()",
    "self._lock = threading.Lock()",
    """Entering the points of a whole class at once is refused: somebody else is said to be writing.
    I am the only one here. Entering them one by one works.""",
)
def concurrency(rng, knobs):
    calls = []
    for number in range(8):
        names, task = rng.sample(NAMES, rng.randint(2, 4)), rng.choice(TASKS)
        rows = [[name, rng.randint(1, 30)] for name in names]
        commands = [["enter_all", task, rows]]
        if number % 2:
            commands = [["enter_all", task, rows[:1]], ["total", names[0]]]
        calls.append(call("run", commands))
    return calls
