"""The right keys with nothing in them."""


def play(variant, observation):
    """Fill the form with blanks."""
    content = (
        '{"service": "", "cause": "", "first_request": "", "start": "", "end": "", "users": []}'
    )
    yield {"action_type": "write_file", "path": "answer.json", "content": content}
