"""Report what the step verifiers counted; nothing in the work folder matters."""

import json
import os

with open(os.environ["VERIFIER_STATE_PATH"], "rb") as file:
    state = json.load(file) or {"found": False, "spent": 0, "information": 0.0, "named": 0.0}
print(
    json.dumps(
        {
            "score": state["information"] + state["named"],
            "passed": state["found"] and state["spent"] <= PARAMS["par"],
            "details": f"{'' if state['found'] else 'not '}named, {state['spent']} coins spent",
            "reward_components": {"information": state["information"], "named": state["named"]},
        }
    )
)
