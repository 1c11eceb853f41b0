"""What varies: the trouble (six kinds in three degrees), the repository and its past."""

import random

from . import lost, merging, rewriting
from .tale import Tale

KINDS = {
    "lost_commit": lost,
    "merge_conflict": merging,
    "detached_work": lost,
    "bad_rebase": merging,
    "wrong_author": rewriting,
    "secret": rewriting,
}
LEVELS = ["easy", "medium", "hard"]
TABLE = [(kind, level) for level in LEVELS for kind in KINDS]
# About twice what the reference needs.
STEPS = {"easy": 12, "medium": 16, "hard": 20}


def make_variant(variant):
    """Return the parameters of one variant."""
    rng = random.Random(f"git_rescue:{variant}")
    if variant < len(TABLE):
        kind, level = TABLE[variant]
    else:
        kind, level = rng.choice(sorted(KINDS)), rng.choice(LEVELS)
    tale = Tale(rng)
    made = getattr(KINDS[kind], f"{kind}_{level}")(tale)
    world, head = tale.world, made["head"]
    start = made.get("start") or f"ref: refs/heads/{made.get('start_branch', 'main')}"
    now = f"{tale.clock + 3600} {tale.zones[tale.me]}"
    return {
        "task": {
            "folder": tale.folder,
            "me": tale.me,
            "story": made["story"],
            "wanted": made["wanted"],
            "head": head,
        },
        "setup": world.setup(
            tale.folder, start, tale.config(), now=now, steps=made.get("steps", [])
        ),
        "secret": world.secret(
            tale.folder,
            f"refs/heads/{head}",
            word=made.get("word", ""),
            wrong=made.get("wrong", ""),
            # For the reference and the hacks alone.
            kind=kind,
            level=level,
            play=made["play"],
            files=world.wanted[f"refs/heads/{head}"].files,
        ),
        "difficulty": level,
        "max_steps": STEPS[level],
    }


VARIANTS = [make_variant(number) for number in range(len(TABLE))]
