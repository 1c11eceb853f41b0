"""The best play: even splits by price, or by weight where answers may lie."""

import re

from .optimum import after, balanced_guess, honest_guess

ANSWER = re.compile(r"^(higher|lower|correct)\b", re.MULTILINE)


def play(variant, observation):
    rules = variant["secret"]
    low, high, coins = rules["low"], rules["high"], rules["par"]
    candidates = [(low, high, 0)]
    while True:
        if rules["lies"]:
            guess = balanced_guess(candidates, rules["lies"], max(coins, 1))
        else:
            low, high = candidates[0][0], candidates[-1][1]
            guess = honest_guess(low, high, coins, rules["price_low"], rules["price_high"])
        observation = yield {"action_type": "bash", "content": f"echo GUESS {guess}"}
        found = ANSWER.findall(observation)
        if not found or found[-1] == "correct":
            return
        # The price shows the truth where prices differ; the variants with lies have one price.
        coins -= rules["price_low"] if found[-1] == "higher" else rules["price_high"]
        candidates = after(candidates, rules["lies"], guess, found[-1])
