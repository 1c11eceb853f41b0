"""Every name that the files hold, with made-up numbers."""


def play(variant, observation):
    """Write the right names with a constant."""
    lines = [",".join(variant["secret"]["header"])]
    lines += [f"{name},1,1.00" for name, _, _ in variant["secret"]["summary"]]
    yield {"action_type": "write_file", "path": "summary.csv", "content": "\n".join(lines) + "\n"}
