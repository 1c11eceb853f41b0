"""Answer the guess in the step's output, and reward what it brought.

The score after each step depends on the answers so far alone, never falls, and the step's reward is
what it rose by; so the rewards sum to the score. Scores are multiples of 1/4096, which floating
point adds without error.

The history of the game is the verifier's own state, which no agent can reach. A number that has not
been named is worth up to 0.4: the square of the share of the needed bits that the answers gave, so
that guessing without listening to the answers is worth next to nothing.
"""

import json
import math
import os
import re

GUESS = re.compile(rb"\s*GUESS\s+([+-]?[0-9]{1,18})\s*")
LIMIT = 4 << 20
START = {"history": [], "spent": 0, "found": False, "information": 0.0, "named": 0.0}


def guesses_in(path):
    """Return the different numbers that the step's output guesses."""
    with open(path, "rb") as file:
        lines = file.read(LIMIT).splitlines()
    return {int(match.group(1)) for match in map(GUESS.fullmatch, lines) if match}


def possibilities(history):
    """Count the pairs of a number and the lies it has left that explain the answers so far."""
    low, high, lies = PARAMS["low"], PARAMS["high"], PARAMS["lies"]
    guesses = sorted({guess for guess, _ in history if low <= guess <= high})
    total = 0
    for before, behind in zip([low - 1, *guesses], [*guesses, high + 1]):
        first, size = before + 1, behind - before - 1
        if size > 0:
            told = sum((answer == "higher") != (first > guess) for guess, answer in history)
            total += size * max(0, lies + 1 - told)
    return total


def parts_of(state):
    """Return (information, named): the two parts of the score."""
    everything = (PARAMS["high"] - PARAMS["low"] + 1) * (PARAMS["lies"] + 1)
    left = 1 if state["found"] else max(1, possibilities(state["history"]))
    share = math.log(everything / left) / math.log(everything)
    information = math.floor(0.4 * share * share * 4096) / 4096
    if not state["found"]:
        return information, 0.0
    over = max(0, state["spent"] - PARAMS["par"]) / (PARAMS["purse"] - PARAMS["par"])
    return information, math.ceil((1.0 - 0.5 * min(1.0, over)) * 4096) / 4096 - information


def answer(state, guesses):
    """Play one step; changes the state and returns what the agent is told."""
    left = PARAMS["purse"] - state["spent"]
    if not guesses:
        return ""
    if state["found"]:
        return "the number is found already: send done"
    if left <= 0:
        return "no answer: no coins are left"
    if len(guesses) > 1:
        state["spent"] += 1
        return f"no answer: {len(guesses)} guesses in one step ({left - 1} coins left)"
    (guess,) = guesses
    if guess == PARAMS["number"]:
        state["found"] = True
        return f"correct (spent {state['spent']} of {PARAMS['purse']} coins)"
    higher = guess < PARAMS["number"]
    state["spent"] += PARAMS["price_low"] if higher else PARAMS["price_high"]
    if len(state["history"]) in PARAMS["lie_at"]:
        higher = not higher
    word = "higher" if higher else "lower"
    state["history"].append([guess, word])
    return f"{word} ({max(0, PARAMS['purse'] - state['spent'])} coins left)"


with open(os.environ["VERIFIER_STATE_PATH"], "rb") as file:
    state = json.load(file) or START
before = state["information"] + state["named"]
feedback = answer(state, guesses_in(os.environ["STEP_OUTPUT_PATH"]))
state["information"], state["named"] = parts_of(state)
print(
    json.dumps(
        {
            "score": state["information"] + state["named"] - before,
            "passed": state["found"],
            "feedback": feedback,
            "state": state,
        }
    )
)
