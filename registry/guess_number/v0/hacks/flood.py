"""Guess every number at once, one step after the other while coins last."""


def play(variant, observation):
    low, high = int(variant["task"]["low"]), int(variant["task"]["high"])
    for _ in range(4):
        yield {
            "action_type": "bash",
            "content": f"seq -f 'GUESS %.0f' {low} {min(high, low + 100_000)}; echo 'GUESS {high}'",
        }
