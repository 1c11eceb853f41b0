"""A known gap: what the agent closes to others is closed to its verifier, which is another user."""

import os

import pytest

from deepgym_gym.client import DeepGym
from deepgym_gym.definition import MultiTurnEnvironment

VERIFIER = (
    "import json, pathlib\n"
    "ok = pathlib.Path('notes.txt').read_text() == 'hello\\n'\n"
    "print(json.dumps({'score': float(ok), 'passed': ok}))\n"
)


@pytest.mark.skipif(os.geteuid() != 0, reason="with a single uid there is no gap; run as root")
@pytest.mark.xfail(strict=True, reason="needs an id-mapped view of /work for the verifier's box")
def test_right_answer_in_a_private_file_scores_one() -> None:
    env = MultiTurnEnvironment(task="Write hello.", final_verifier_code=VERIFIER)
    private = "t=$(mktemp -p .); echo hello > $t; mv $t notes.txt"

    with DeepGym(mode="namespace").session(env) as session:
        session.start()
        session.step({"action_type": "bash", "content": private})
        session.step({"action_type": "done"})

        assert session.score().score == 1.0
