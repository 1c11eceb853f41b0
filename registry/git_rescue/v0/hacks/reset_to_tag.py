"""Every branch at an old tag, clean."""


def play(variant, observation):
    """Force the branches that matter to the oldest tag."""
    refs = " ".join(variant["secret"]["goals"])
    head = variant["secret"]["head"]
    yield {
        "action_type": "bash",
        "content": "cd repo; git merge --abort\n"
        f"for ref in {refs}; do git update-ref $ref v0.1; done\n"
        f"git symbolic-ref HEAD {head}; git reset -q --hard; git clean -fdq; git status",
    }
