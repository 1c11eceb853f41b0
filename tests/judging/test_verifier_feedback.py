"""What a step verifier may tell the agent and hand to the next verifier (`verifier_feedback`)."""

import json

import pytest

from deepgym_gym import loop
from deepgym_gym.actions import Action, ActionType
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import VerifierError
from deepgym_gym.limits import FEEDBACK_BYTES, STATE_BYTES
from deepgym_gym.results import RunResult
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.session import Session

# Counts its own calls; says what it was given; scores nothing. The answer of step 2 has no state.
COUNTING = """
import json, os
path = os.environ["VERIFIER_STATE_PATH"]
state = json.load(open(path))
answer = {"score": 0.0, "feedback": f"given {json.dumps(state)}", "passed": False}
if os.environ["STEP_NUMBER"] != "2":
    answer["state"] = {"count": (state or {"count": 0})["count"] + 1}
print(json.dumps(answer))
"""
REPORTING = """
import json, os
state = json.load(open(os.environ["VERIFIER_STATE_PATH"]))
print(json.dumps({"score": 1.0, "passed": True, "details": json.dumps(state)}))
"""


def play(
    step_verifier: str, *commands: str, verifier_feedback: bool = True, backend: str = "namespace"
) -> tuple[list[str], RunResult]:
    """Play bash commands; the texts of the observations after them, and the result."""
    definition = MultiTurnEnvironment(
        task="-",
        step_verifier_code=step_verifier,
        final_verifier_code=REPORTING if verifier_feedback else 'print("{}")',
        verifier_feedback=verifier_feedback,
    )

    async def episode() -> tuple[list[str], RunResult]:
        async with Session(definition, get_backend(backend)) as session:
            await session.start()
            texts = []
            for command in commands:
                action = Action(action_type=ActionType.BASH, content=command)
                texts.append((await session.step(action)).observation.content)
            return texts, await session.score()

    return loop.run(episode())


@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_state_goes_from_verifier_to_verifier_and_feedback_to_the_agent(backend: str) -> None:
    texts, result = play(COUNTING, "echo one", "true", "printf three", "echo four", backend=backend)

    assert texts == [
        "one\ngiven null",
        'given {"count": 1}',
        # Step 2 left no state: that of step 1 stays.
        'three\ngiven {"count": 1}',
        'four\ngiven {"count": 2}',
    ]
    assert json.loads(result.output) == {"count": 3}


def test_final_verifier_finds_null_where_no_step_was_judged() -> None:
    _, result = play(COUNTING)

    assert result.output == "null"


def test_without_the_field_nothing_is_told_and_nothing_is_kept() -> None:
    verifier = """
import json, os
given = "VERIFIER_STATE_PATH" in os.environ
print(json.dumps({"score": float(given), "feedback": "psst", "state": 1}))
"""

    texts, _ = play(verifier, "echo one", "echo two", verifier_feedback=False)

    assert texts == ["one\n", "two\n"]


def test_agent_finds_neither_the_state_nor_its_name() -> None:
    kept = "a-state-that-nobody-may-read"
    verifier = f"print({json.dumps(json.dumps({'score': 0, 'state': kept}))})"
    look = (
        "env | grep -c VERIFIER_STATE_PATH;"
        " for top in /work /tmp /run /dev/shm /var/tmp $HOME; do"
        " grep -rl a-state-that $top 2>/dev/null; done; true"
    )

    texts, result = play(verifier, "true", look)

    assert texts[1].split() == ["0"]
    assert json.loads(result.output) == kept


@pytest.mark.parametrize(
    ("field", "size", "usable"),
    [
        ("feedback", FEEDBACK_BYTES, True),
        ("feedback", FEEDBACK_BYTES + 1, False),
        # Two quotes belong to the JSON text.
        ("state", STATE_BYTES - 2, True),
        ("state", STATE_BYTES - 1, False),
    ],
)
def test_text_beyond_its_limit_is_the_verifiers_own_failure(
    field: str, size: int, usable: bool
) -> None:
    verifier = f"import json\nprint(json.dumps({{'score': 0, '{field}': 'x' * {size}}}))"

    if usable:
        texts, _ = play(verifier, "true")
        assert len(texts[0]) == (size if field == "feedback" else 0)
    else:
        with pytest.raises(VerifierError, match=f"{field} has"):
            play(verifier, "true")
