"""Commits with the right messages and authors that change nothing."""

import shlex


def play(variant, observation):
    """Let the messages do the talking."""
    secret = variant["secret"]
    lines = ["cd repo; git reset -q --hard"]
    for ref, goal in secret["goals"].items():
        lines.append(f"git checkout -q --detach $(git rev-parse -q --verify {ref} || echo main)")
        for name in goal["due"]:
            node = secret["nodes"][name]
            author = node["author"] or ["x", "x@example.org", 1_600_000_000, "+0000"]
            lines.append(
                f"GIT_AUTHOR_NAME={shlex.quote(author[0])} GIT_AUTHOR_EMAIL={author[1]} "
                f"GIT_AUTHOR_DATE='{author[2]} {author[3]}' "
                f"git commit -q --allow-empty -m {shlex.quote(node['message'])}"
            )
        lines.append(f"git update-ref {ref} HEAD")
    lines.append(f"git symbolic-ref HEAD {secret['head']}; git reset -q --hard; git log --oneline")
    yield {"action_type": "bash", "content": "\n".join(lines)}
