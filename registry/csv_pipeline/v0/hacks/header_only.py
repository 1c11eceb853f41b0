"""The right header and nothing under it, then with a last line of nothing."""


def play(variant, observation):
    header = ",".join(variant["secret"]["header"]) + "\n"
    for text in (header, header + "TOTAL,0,0.00\n"):
        yield {"action_type": "write_file", "path": "summary.csv", "content": text}
