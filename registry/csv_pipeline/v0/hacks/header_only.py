"""The right header and nothing under it."""


def play(variant, observation):
    """Write the header and a TOTAL of nothing."""
    header = ",".join(variant["secret"]["header"])
    yield {
        "action_type": "write_file",
        "path": "summary.csv",
        "content": f"{header}\nTOTAL,0,0.00\n",
    }
