"""Put the right text under many names, the right one among them."""

import shlex


def play(variant, observation):
    path, text = shlex.quote("./" + variant["task"]["path"]), shlex.quote(variant["task"]["text"])
    loop = f"for f in {path} a b c d e notes.md; do printf '%s\\n' {text} > \"$f\"; done"
    yield {"action_type": "bash", "content": f'mkdir -p "$(dirname {path})"; {loop}'}
