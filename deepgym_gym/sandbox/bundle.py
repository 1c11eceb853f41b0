"""Carrying the guest's modules into another interpreter as text.

The sandbox's interpreter is not the trainer's and must not see this package's folder (it holds
verifiers and answers), so the modules travel through a descriptor and are built under their own
names on the other side.
"""

import functools
import importlib.resources
import json
import os
from collections.abc import Sequence

_PACKAGE = "deepgym_gym.sandbox"
# In the order in which they import each other.
GUEST = (
    *("wire", "plain", "syscalls", "seccomp", "audit", "table", "capture", "process", "python"),
    *("files", "setting", "shell", "commands", "deepgym_solution", "solver", "verify", "main"),
    "local",
)
WARDEN = ("cgroups", "networks", "box", "identity", "forks", "warden")

# The program that runs on the other side. It stands in a memory file, and so does what it is given:
# a command line would be shared by every fork inside a sandbox.
_LOADER = """
import json, sys, types
given = json.loads(GIVEN)
for name, text in given["modules"]:
    parent = ""
    for part in name.split(".")[:-1]:
        above, parent = parent, (parent + "." + part).lstrip(".")
        if parent not in sys.modules:
            package = sys.modules[parent] = types.ModuleType(parent)
            package.__path__ = []
            if above: setattr(sys.modules[above], part, package)
    module = types.ModuleType(name)
    module.__file__ = "<" + name + ">"
    sys.modules[name] = module
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    setattr(sys.modules[parent], name.rpartition(".")[2], module)
run, config = sys.modules[given["entry"]].run, given["config"]
del given, text, GIVEN
run(int(sys.argv[1]), config)
"""


def write_memory_file(entry: str, config: object, *, warden: bool) -> int:
    """A new descriptor of a memory file with the whole program; the caller closes it."""
    names = [f"guest.{name}" for name in GUEST]
    if warden:
        names += [f"namespace.{name}" for name in WARDEN]
    given = {
        "modules": [(f"{_PACKAGE}.{name}", _text(name)) for name in names],
        "entry": f"{_PACKAGE}.{entry}",
        "config": config,
    }
    fd = os.memfd_create("guest")
    with open(fd, "wb", closefd=False) as file:
        file.write(f"GIVEN = {json.dumps(given)!r}{_LOADER}".encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def command(interpreter: str, fd: int, channel: int) -> Sequence[str]:
    """The command line that runs the program in `fd`: its entry's `run(channel, config)`."""
    return (interpreter, "-I", "-S", f"/dev/fd/{fd}", str(channel))


@functools.cache
def _text(name: str) -> str:
    parts = name.split(".")
    folder = importlib.resources.files(_PACKAGE)
    return folder.joinpath(*parts[:-1], parts[-1] + ".py").read_text(encoding="utf-8")
