"""Write the header alone; then with empty rows and rows of zeros below."""


def play(variant, observation):
    task = variant["task"]
    path = "/" + task["report"]
    header = task["header"] + "\n"
    width = task["header"].count(",")
    folder = path.rsplit("/", 1)[0].lstrip("/") or "."
    yield {"action_type": "bash", "content": f"mkdir -p {folder}"}
    zeros = (",".join(["0"] * (width + 1)) + "\n") * 12
    for text in (header, header + "," * width + "\n", header + zeros):
        yield {"action_type": "write_file", "path": task["report"], "content": text}
