"""The game of `guess_number`: answers, prices, lies, and step rewards that sum to the score."""

import re

import pytest

from deepgym_gym.actions import Observation
from deepgym_gym.playing import Play
from deepgym_gym.registry import find_environment, make_env
from tests.registry.playing import play, play_player

ENVIRONMENT = find_environment("guess_number")
# 1 to 100, honest, 1 coin for each wrong guess.
RULES = ENVIRONMENT.variant(0)["secret"]
NUMBER, PAR, PURSE = RULES["number"], RULES["par"], RULES["purse"]
# Wrong guesses that rule out as little as possible.
FAR = [number for number in range(1, 101) if number < NUMBER][:PURSE]


def guess(number: int) -> str:
    return f"echo GUESS {number}"


def last_line(play: Play, step: int) -> str:
    lines = play.observations[step].content.splitlines()
    return lines[-1] if lines else ""


def test_answers_come_as_the_last_line_of_the_steps_result() -> None:
    played = play("guess_number", 0, guess(NUMBER - 1), guess(NUMBER + 1), guess(NUMBER))

    assert last_line(played, 1) == f"higher ({PURSE - 1} coins left)"
    assert last_line(played, 2) == f"lower ({PURSE - 2} coins left)"
    assert last_line(played, 3) == f"correct (spent 2 of {PURSE} coins)"
    assert played.observations[1].content.startswith(f"GUESS {NUMBER - 1}\n")
    assert played.result.score == 1.0


@pytest.mark.parametrize("wrong", range(len(FAR) + 1))
def test_each_coin_beyond_par_costs_the_same_share(wrong: int) -> None:
    played = play("guess_number", 0, *map(guess, FAR[:wrong]), guess(NUMBER))

    over = max(0, wrong - PAR) / (PURSE - PAR)
    if wrong < PURSE:
        assert played.result.score == pytest.approx(1.0 - 0.5 * over, abs=1 / 4096)
        assert played.result.passed == (wrong <= PAR)
    else:
        assert last_line(played, wrong + 1) == "no answer: no coins are left"
        assert played.result.score < 0.05
    assert sum(played.rewards) == played.result.score
    assert min(played.rewards) >= 0.0


def test_guessing_without_listening_is_worth_next_to_nothing() -> None:
    blind = [
        guess(1 + 99 * step // PURSE) for step in range(PURSE) if 1 + 99 * step // PURSE != NUMBER
    ]

    result = play("guess_number", 0, *blind).result

    assert 0.0 < result.score <= 0.15


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (
            "seq -f 'GUESS %.0f' 1 100",
            f"no answer: 100 guesses in one step ({PURSE - 1} coins left)",
        ),
        (
            f"echo GUESS 1; echo GUESS {NUMBER} >&2",
            f"no answer: 2 guesses in one step ({PURSE - 1} coins left)",
        ),
        ("echo GUESS", "GUESS"),
        ("echo GUESS fifty", "GUESS fifty"),
        ("echo GUESS 1e1", "GUESS 1e1"),
        ("echo GUESS 99999999999999999999", "GUESS 99999999999999999999"),
        ("echo I GUESS 5", "I GUESS 5"),
        ("true", ""),
        ("echo 'GUESS 101'", f"lower ({PURSE - 1} coins left)"),
        ("echo '  GUESS   -5  '", f"higher ({PURSE - 1} coins left)"),
        ("echo GUESS 1; echo GUESS 1", f"higher ({PURSE - 1} coins left)"),
        ("printf 'GUESS 1\\r\\n'", f"higher ({PURSE - 1} coins left)"),
        ("printf '\\xff\\x00\\nGUESS 1\\n\\xfe'", f"higher ({PURSE - 1} coins left)"),
    ],
)
def test_odd_guess_gets_the_answer_that_the_task_promises(command: str, answer: str) -> None:
    played = play("guess_number", 0, command)

    assert last_line(played, 1) == answer
    assert played.result.has_verdict
    assert played.result.score <= 0.01


def test_guess_after_the_number_was_named_changes_nothing() -> None:
    played = play("guess_number", 0, guess(NUMBER), guess(1), guess(NUMBER))

    assert played.rewards[:3] == (1.0, 0.0, 0.0)
    assert last_line(played, 2) == "the number is found already: send done"
    assert played.result.score == 1.0


@pytest.mark.parametrize("variant", range(ENVIRONMENT.table_size))
def test_answers_lie_only_as_often_as_allowed_and_where_planned(variant: int) -> None:
    rules = ENVIRONMENT.variant(variant)["secret"]

    played = play_player("guess_number", variant, ENVIRONMENT.reference(variant))

    lies = []
    for step, observation in enumerate(played.observations[1:]):
        said = re.search(r"GUESS (-?\d+)\n(higher|lower)", observation.content)
        if said and (said[2] == "higher") != (rules["number"] > int(said[1])):
            lies.append(step)
    assert lies == [step for step in rules["lie_at"] if step < len(played.rewards) - 2]
    assert len(rules["lie_at"]) <= rules["lies"]
    assert played.result.score == 1.0
    assert sum(played.rewards) == 1.0


def test_gymnasium_return_is_the_score() -> None:
    env = make_env("guess_number")
    player = ENVIRONMENT.reference(4)
    rewards: list[float] = []
    info: dict[str, object] = {}

    try:
        observation, _ = env.reset(options={"variant": 4})
        ended = False
        while not ended:
            action = player(Observation(content=observation["content"]))
            observation, reward, terminated, truncated, info = env.step(action)
            rewards.append(float(reward))
            ended = terminated or truncated
    finally:
        env.close()

    assert sum(rewards) == 1.0 == info["score"]
