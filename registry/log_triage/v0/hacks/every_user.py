"""The right cause and window, by luck or by a leak, and every user that the logs name."""

import re

from ._shared import write


def play(variant, observation):
    seen = yield {
        "action_type": "bash",
        "content": "grep -oh 'user=[a-z]*' logs/gateway.log | sort -u",
    }
    users = re.findall(r"user=([a-z]+)", seen)
    yield write({**variant["secret"]["truth"], "users": users})
