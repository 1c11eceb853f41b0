"""Answer with every cause and every service at once, first as lists and then as one long text."""

from ..catalog import CAUSES
from ._shared import write


def play(variant, observation):
    services = list(variant["secret"]["services"].values())
    answer = {"start": None, "end": None, "first_request": "", "users": []}
    yield write({**answer, "service": services, "cause": list(CAUSES)})
    yield write({**answer, "service": " ".join(services), "cause": " ".join(CAUSES)})
