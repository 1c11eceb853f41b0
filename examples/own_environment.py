"""An environment of one's own: files, setup, step rewards and partial credit at the end.

Run it with ``python examples/own_environment.py``.
"""

from deepgym_gym import Action, ActionType, DeepGym, MultiTurnEnvironment, Observation

STEP_VERIFIER = """
import json, os, pathlib
tidied = not any(pathlib.Path(".").glob("*.tmp"))
print(json.dumps({"score": 0.1 * tidied, "passed": tidied}))
"""

# Only the last line of stdout counts. Each named part is kept in the result.
FINAL_VERIFIER = """
import json, pathlib
parts = {
    "no temporary files": 0.5 * (not any(pathlib.Path(".").glob("*.tmp"))),
    "the report is kept": 0.5 * pathlib.Path("report.txt").is_file(),
}
score = sum(parts.values())
print(json.dumps({"score": score, "passed": score == 1.0, "reward_components": parts}))
"""

ENVIRONMENT = MultiTurnEnvironment(
    name="tidy_up",
    task="Delete every .tmp file in your work folder and nothing else, then send done.",
    files={"report.txt": "Sales went up.\n", "a.tmp": "", "b.tmp": ""},
    setup_script="for i in 1 2 3; do echo scratch > scratch$i.tmp; done; ls",
    step_verifier_code=STEP_VERIFIER,
    final_verifier_code=FINAL_VERIFIER,
    max_steps=5,
)


def agent(observation: Observation) -> Action:
    """Delete the files, then say done."""
    if observation.step == 0:
        print("The agent sees:", observation.content.split())
        return Action(action_type=ActionType.BASH, content="rm -- *.tmp")
    return Action(action_type=ActionType.DONE)


if __name__ == "__main__":
    trajectory, result = DeepGym().run_episode(ENVIRONMENT, agent)
    print("step rewards:", trajectory.step_rewards)
    print("score:", result.score, result.reward_components)
    assert result.has_verdict
    assert result.score == 1.0
