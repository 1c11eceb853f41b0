"""Looking around a fresh world: which files are there, and is anything hidden readable?"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import SandboxLostError, SetupError
from deepgym_gym.registry.loading import RegistryEnvironment
from deepgym_gym.session import Session

# Lines shorter than this are found in many programs and prove nothing.
_LINE_CHARS: Final = 30
# So many lines of one hidden file in the sandbox are no accident.
_LINES: Final = 3
_TIMEOUT_S: Final = 60.0
_HIDDEN: Final = (
    "step_verifier.py",
    "final_verifier.py",
    "reference.py",
    "variants.py",
    "setup.py",
)
_PARAMS: Final = "PARAMS"

# Runs in the sandbox, on Python 3.9 or newer. ISOLATED: look outside the work folder too. WANTED:
# digests of stripped lines, so that the program's own text gives nothing away.
# Prints {"tree": {path: digest of kind, mode and content}, "lines": [digests that were found]}.
_PROBE: Final = r"""
import hashlib, json, os, stat, sys

LIMIT = 64 << 20
found = set()
WANTED = set(WANTED)


def look(data):
    for line in data.splitlines():
        digest = hashlib.sha256(line.strip()).hexdigest()[:24]
        if digest in WANTED:
            found.add(digest)


def read(path):
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            return file.read(LIMIT)
    except OSError:
        return b""


def describe(path):
    info = os.lstat(path)
    kind = stat.S_IFMT(info.st_mode)
    text = b""
    if kind == stat.S_IFREG:
        data = read(path)
        look(data)
        # The index of a repository holds inode numbers and times of this machine.
        text = b"" if path.endswith("/.git/index") else data
    elif kind == stat.S_IFLNK:
        text = os.fsencode(os.readlink(path))
    return hashlib.sha256(b"%o:" % info.st_mode + text).hexdigest()[:24]


def walk(top):
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            yield os.path.join(folder, name)


tree = {}
for path in walk("."):
    tree[os.fsencode(path).decode("ascii", "backslashreplace")] = describe(path)
if ISOLATED:
    for top in (os.environ.get("HOME", ""), "/tmp", "/var/tmp", "/run", "/dev/shm"):
        for path in walk(top):
            try:
                describe(path)
            except OSError:
                pass
    for pid in os.listdir("/proc"):
        # This program's own text is its command line or its memory, not a file of the world.
        if pid.isdigit() and pid != str(os.getpid()):
            for name in ("cmdline", "environ"):
                look(read("/proc/%s/%s" % (pid, name)).replace(b"\0", b"\n"))
print(json.dumps({"tree": tree, "lines": sorted(found)}))
"""


@dataclass(frozen=True, slots=True)
class World:
    """What a fresh session shows: its first observation, a digest of each path, the lines found."""

    observation: str
    tree: Mapping[str, str]
    found: frozenset[str]
    isolated: bool

    def differences(self, other: "World") -> list[str]:
        """Return the paths that are not the same in both, sorted."""
        paths = sorted({*self.tree, *other.tree})
        return [path for path in paths if self.tree.get(path) != other.tree.get(path)]

    def leaks(self, hidden: Mapping[str, set[str]]) -> list[str]:
        """Say which hidden files can be read here."""
        leaks = []
        for name, lines in hidden.items():
            seen = [line for line in sorted(lines) if _digest(line) in self.found]
            if len(seen) >= (1 if name == _PARAMS else _LINES):
                leaks.append(f"{len(seen)} lines of {name}, such as {seen[0][:60]!r}")
        return leaks


def hidden_lines(
    environment: RegistryEnvironment, definition: MultiTurnEnvironment
) -> dict[str, set[str]]:
    """Return the lines of each file that must stay hidden, but for those that the task shows.

    The entry `PARAMS` holds the verifiers' parameters.
    """
    folder = environment.folder
    paths = [folder / name for name in _HIDDEN] + sorted((folder / "hacks").glob("*.py"))
    texts = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file()
    }
    for code in (definition.step_verifier_code, definition.final_verifier_code):
        if code:
            texts[_PARAMS] = code.split("\n", 1)[0]
    shown = _lines("\n".join([definition.task, *definition.files.values()]))
    return {name: _lines(text) - shown for name, text in texts.items()}


async def look_around(session: Session, hidden: Mapping[str, set[str]]) -> World:
    """Start the session and look for the hidden lines in what the agent can read.

    Raises:
        SandboxError: the session did not start, or the sandbox died.
        SetupError: the program that looks could not finish.
    """
    observation = await session.start()
    sandbox = session.sandbox
    if sandbox is None:
        raise SandboxLostError("the session has no sandbox after its start")
    wanted = {_digest(line) for lines in hidden.values() for line in lines}
    source = f"ISOLATED, WANTED = {sandbox.capabilities.isolated}, {sorted(wanted)}\n{_PROBE}"
    ended = await sandbox.code(source, _TIMEOUT_S)
    if ended.exit_code != 0:
        reason = ended.stderr[-500:].decode("utf-8", "replace")
        raise SetupError(f"the probe failed: {reason}", sandbox_id=sandbox.id)
    seen = json.loads(ended.stdout)
    return World(
        observation=observation.content,
        tree=seen["tree"],
        found=frozenset(seen["lines"]),
        isolated=sandbox.capabilities.isolated,
    )


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= _LINE_CHARS}


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8", "surrogateescape")).hexdigest()[:24]
