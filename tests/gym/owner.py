"""A trainer that is killed by `test_killed_trainer.py` inside the call that `argv[1]` names."""

import sys

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.env import SandboxEnv
from tests.gym.worlds import DONE

SLEEP = "setsid sleep 4000 & sleep 4000"
DEFINITIONS = {
    "reset": MultiTurnEnvironment(task="-", setup_script=f"{SLEEP}"),
    "step": MultiTurnEnvironment(task="-", timeout_per_step=4000),
    "score": MultiTurnEnvironment(
        task="-",
        final_verifier_code="import time\ntime.sleep(4000)",
        verifier_timeout=4000,
    ),
}


def main(moment: str) -> None:
    env = SandboxEnv(DEFINITIONS[moment], backend=sys.argv[2])
    if moment == "reset":
        print("now", flush=True)
    env.reset(seed=0)
    if moment == "score":
        env.step({"action_type": "bash", "content": "setsid sleep 4000 & true"})
    print("now", flush=True)
    env.step({"action_type": "bash", "content": SLEEP} if moment == "step" else DONE)


if __name__ == "__main__":
    main(sys.argv[1])
