"""Is the file there, does it hold exactly the text, and is there nothing else?

Parts: text 0.6, newline 0.2, tidy 0.2; the last two count only with the right text. More than two
other entries in the work folder mean that names or words were tried out: nothing is given then.
"""

import json
import os
import stat

LIMIT = 1 << 16
ENDS = {"any": None, "one": "\n", "none": "", "two": "\n\n"}


def read_plain(path):
    """Return (bytes, None), or (None, reason) unless it is a regular file that no link leads to."""
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        part = "/".join(parts[:count])
        try:
            mode = os.lstat(part).st_mode
        except OSError as error:
            return None, f"{part}: {error.strerror}"
        if count < len(parts) and not stat.S_ISDIR(mode):
            return None, f"{part} is not a folder"
        if count == len(parts) and not stat.S_ISREG(mode):
            return None, f"{part} is not a regular file"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return None, f"{path} cannot be read: {error.strerror}"
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(LIMIT + 1)
        except OSError as error:
            return None, f"{path} cannot be read: {error.strerror}"
    return (None, f"{path} is too long") if len(data) > LIMIT else (data, None)


def others(path, enough):
    """Count entries of the work folder that the task did not ask for, up to `enough`."""
    parts = path.split("/")
    wanted = {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
    count, folders = 0, [""]
    while folders and count < enough:
        folder = folders.pop()
        try:
            entries = os.scandir(folder or ".")
        except OSError:
            continue
        with entries:
            for entry in entries:
                name = folder + "/" + entry.name if folder else entry.name
                if name not in wanted:
                    count += 1
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                if count >= enough:
                    break
    return count


def judge(params):
    """Return (parts, details)."""
    parts = {"text": 0.0, "newline": 0.0, "tidy": 0.0}
    data, reason = read_plain(params["path"])
    if data is None:
        return parts, reason
    extra = others(params["path"], 3)
    if extra > 2:
        return parts, "more than two other entries in the work folder"
    text, end = params["text"].encode("utf-8"), ENDS[params["newline"]]
    if data.rstrip(b"\n") != text:
        return parts, "the text differs"
    parts["text"] = 0.6
    details = []
    if end is None or data == text + end.encode("ascii"):
        parts["newline"] = 0.2
    else:
        details.append("wrong number of newlines at the end")
    if extra == 0:
        parts["tidy"] = 0.2
    else:
        details.append(f"{extra} other entries in the work folder")
    return parts, "; ".join(details) or "exact"


parts, details = judge(PARAMS)
score = round(sum(parts.values()), 6)
print(
    json.dumps(
        {
            "score": score,
            "passed": score == 1.0,
            "details": details,
            "reward_components": parts,
        }
    )
)
