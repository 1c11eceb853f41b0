"""Write the text with printf, quoted so that the shell changes nothing."""

import os
import shlex

ENDS = {"any": "\n", "one": "\n", "none": "", "two": "\n\n"}


def play(variant, observation):
    wanted = variant["secret"]
    folder, path = os.path.dirname(wanted["path"]), shlex.quote("./" + wanted["path"])
    command = "printf %s " + shlex.quote(wanted["text"] + ENDS[wanted["newline"]]) + " > " + path
    if folder:
        command = "mkdir -p " + shlex.quote("./" + folder) + " && " + command
    yield {"action_type": "bash", "content": command}
