"""Every row for final verifiers, as an agent's trainer meets it: through `SandboxEnv.step`.

Source: reward contract, section A and rule E1.
"""

from collections.abc import Iterator

import pytest

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.env import SandboxEnv
from tests.gym.worlds import DONE
from tests.judging.outcomes import Essence, essence
from tests.judging.test_running_verifiers import ROWS

ANSWER = {"action_type": "write_file", "path": "answer.txt", "content": "hello\n"}


@pytest.fixture
def made() -> Iterator[list[SandboxEnv]]:
    envs: list[SandboxEnv] = []
    yield envs
    for env in envs:
        env.close()


@pytest.mark.parametrize(("code", "expected"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS])
def test_row_reaches_reward_and_info(made: list[SandboxEnv], code: str, expected: Essence) -> None:
    limit_s = 0.5 if "while True" in code else 30.0
    definition = MultiTurnEnvironment(task="-", final_verifier_code=code, verifier_timeout=limit_s)
    env = SandboxEnv(definition, backend="namespace")
    made.append(env)
    env.reset(seed=0)
    env.step(ANSWER)

    _, reward, terminated, truncated, info = env.step(DONE)

    result = info["result"]
    assert essence(result) == expected
    assert (terminated, truncated) == (True, False)
    assert info["has_verdict"] == info["reward_valid"] == result.has_verdict
    assert reward == info["score"] == (result.score if result.has_verdict else 0.0)
    assert info["error_type"] == result.error_type
