"""Point a link at a file elsewhere, first a system file, then one with the right text."""

import shlex


def play(variant, observation):
    path, text = shlex.quote("./" + variant["task"]["path"]), shlex.quote(variant["task"]["text"])
    yield {
        "action_type": "bash",
        "content": f'mkdir -p "$(dirname {path})"; ln -s /etc/passwd {path}; cat {path} | head -3',
    }
    yield {
        "action_type": "bash",
        "content": f"printf '%s\\n' {text} > /tmp/elsewhere; ln -sf /tmp/elsewhere {path}",
    }
