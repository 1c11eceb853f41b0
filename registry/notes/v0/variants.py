"""What varies: the text (Unicode, spaces, quotes), the file's name and folder, the newline rule."""

import random

NEWLINE = {
    "any": "It does not matter whether the file ends in a newline.",
    "one": "After the text comes exactly one newline, and nothing more.",
    "none": "The file holds the text alone: no newline comes after it.",
    "two": "After the text come exactly two newlines (so the file ends in an empty line).",
}

# (text, path, newline rule)
TABLE = [
    ("hello", "notes.txt", "any"),
    ("hello world", "greeting.txt", "one"),
    ("grüße aus köln", "notes.txt", "none"),
    ("""it's "fine", isn't it?""", "quotes.txt", "one"),
    ("日本語のメモ", "deep/er/notes.md", "none"),
    ("$HOME costs $5 & !!", "money.txt", "one"),
    ("  two before, three after   ", "padded.txt", "none"),
    # The same word and file as variant 0, under a stricter rule.
    ("hello", "notes.txt", "one"),
    (r"C:\new\table\\end", "escapes.txt", "two"),
    ("tick ✅ and cross ❌", "my notes.txt", "one"),
    ("-n", "-list.txt", "none"),
    ("#!*?[a-z]{1,2} %s %%", ".config/app/notes", "two"),
]

LINES = """
amber birch cedar delta ember fjord grove harbor island jasper kernel lantern meadow nectar
orchard pebble quartz river saffron timber umbra valley willow yarrow zephyr
größe élan señor naïve smörgås żółw čaj привет море שלום 光 海辺 바람 ✨ ☂ 🌱
"""
WORDS = LINES.split()
SIGNS = ["'", '"', "\\", "$", "!", "&", ";", "|", "*", "?", "#", "%", "~", "<", ">", "(", ")", "="]
JOINTS = [" ", "  ", "-", "_", ", ", "/", ": ", "."]
ENDINGS = [".txt", ".md", ".log", "", ".note"]


def text_of(rng):
    """Make a line of one to four words; about half of them hold signs that a shell would eat."""
    text = rng.choice(WORDS)
    for _ in range(rng.randrange(4)):
        text += rng.choice(JOINTS) + rng.choice(WORDS)
    if rng.random() < 0.5:
        for _ in range(rng.randint(1, 4)):
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(SIGNS) + text[at:]
    if rng.random() < 0.2:
        text = " " * rng.randint(0, 3) + text + " " * rng.randint(1, 3)
    return text


def path_of(rng):
    """Make a path of one to three parts; some names hold a space, a leading dot or a dash."""
    plain = [word for word in WORDS if word.isascii()]
    parts = []
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        name = rng.choice(plain)
        if rng.random() < 0.25:
            name += " " + rng.choice(plain)
        if rng.random() < 0.15:
            name = rng.choice([".", "-", "_"]) + name
        parts.append(name)
    parts[-1] += rng.choice(ENDINGS)
    return "/".join(parts)


def make_variant(variant):
    """Return the parameters of one variant."""
    if variant < len(TABLE):
        text, path, newline = TABLE[variant]
    else:
        rng = random.Random(f"notes:{variant}")
        text, path = text_of(rng), path_of(rng)
        # "any" is left out where the end of the text would be lost among what does not matter.
        newline = rng.choice(["one", "none", "two"])
    folders = path.split("/")[:-1]
    return {
        "task": {
            "kind": "word" if text.isalnum() else "text",
            "text": text,
            "path": path,
            "newline": NEWLINE[newline],
            "folders": " Make the folders that it needs." if folders else "",
        },
        "secret": {"text": text, "path": path, "newline": newline},
        "difficulty": "easy" if newline == "any" or text == "hello" else "medium",
    }


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
