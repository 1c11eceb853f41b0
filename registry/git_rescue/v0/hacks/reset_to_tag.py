"""Every branch in trouble at an old tag, clean."""


def play(variant, observation):
    secret = variant["secret"]
    refs, head = " ".join(secret["targets"]), secret["head"]
    yield {
        "action_type": "bash",
        "content": f"cd {secret['folder']}; git rebase --abort; git merge --abort\n"
        f"for ref in {refs}; do git update-ref $ref v1.0^{{}}; done\n"
        f"git symbolic-ref HEAD {head}; git reset -q --hard; git clean -fdq; git status",
    }
