"""Reading an environment's files strictly: a fault gives one error that says what was expected.

It knows the format of each file and nothing of how they make a world; `loading` puts them together.
"""

import difflib
import hashlib
import json
import sys
import threading
import tomllib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import DefinitionError

# Fields of a definition that come from the folder's other files, so env.toml must not name them.
_FROM_FILES = {
    "task": "task.md",
    "name": "the folder's name",
    "type": "the folder's place",
    "files": "files/ or variants.py",
    "setup_script": "setup.sh",
    "setup_code": "setup.py",
    "step_verifier_code": "step_verifier.py",
    "final_verifier_code": "final_verifier.py",
}
_STATIC = frozenset(MultiTurnEnvironment.model_fields) - frozenset(_FROM_FILES)
_TOML_KEYS = {
    "environment": frozenset({"title", "summary"}) | _STATIC,
    "gym": frozenset({"reward"}),
}
_REQUIRED = ("title", "summary", "difficulty")
_REWARDS = ("episode", "final", "step")
# Serialises the making of the folders' packages in sys.modules.
_PACKAGES = threading.Lock()


# What `make_variant` returns: `task` (placeholder -> text) is required; `files` (path -> text),
# `setup` and `secret` (JSON values), `difficulty` and `max_steps` are not.
Variant = dict[str, Any]
_VARIANT_KEYS = ("task", "files", "setup", "secret", "difficulty", "max_steps")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence: `; did you mean 'x'?` for a close match, else a full stop."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else "."


def package_of(folder: Path) -> str:
    """Make the package that the folder's Python files are imported from, and return its name."""
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    name = f"deepgym_environment_{folder.parent.name}_{digest}"
    with _PACKAGES:
        if name not in sys.modules:
            package = ModuleType(name)
            package.__path__ = [str(folder)]
            sys.modules[name] = package
    return name


def read_toml(path: Path) -> dict[str, dict[str, Any]]:
    """Read and check `env.toml`; returns the tables `environment` and `gym`, both present.

    Raises:
        DefinitionError: it is no TOML, or has an unknown, missing or misplaced entry.
    """
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(f"{path} is not TOML: {error}.") from None
    for section, table in data.items():
        if section not in _TOML_KEYS or not isinstance(table, dict):
            raise DefinitionError(
                f"{path}: unknown entry {section!r}{suggestion(section, _TOML_KEYS)} "
                f"Expected the tables {', '.join(f'[{known}]' for known in _TOML_KEYS)}."
            )
        for key in table:
            if section == "environment" and key in _FROM_FILES:
                raise DefinitionError(
                    f"{path}: {key!r} does not belong here: it is {_FROM_FILES[key]}."
                )
            if key not in _TOML_KEYS[section]:
                known = _TOML_KEYS[section]
                raise DefinitionError(
                    f"{path}: unknown key {key!r} in [{section}]{suggestion(key, known)} "
                    f"Expected: {', '.join(sorted(known))}."
                )
    about = data.get("environment", {})
    missing = [key for key in _REQUIRED if not isinstance(about.get(key), str) or not about[key]]
    if missing:
        raise DefinitionError(f"{path}: [environment] needs {', '.join(missing)} as text.")
    reward = data.get("gym", {}).get("reward", "episode")
    if reward not in _REWARDS:
        raise DefinitionError(
            f"{path}: reward is {reward!r}. Expected one of {', '.join(_REWARDS)}."
        )
    return {"environment": about, "gym": data.get("gym", {})}


def check_variant(value: object, where: str) -> Variant:
    """Return `value` if it has the shape of a variant; `where` names it in messages.

    Raises:
        DefinitionError: it has not.
    """
    known = _VARIANT_KEYS
    if not isinstance(value, dict) or "task" not in value:
        raise DefinitionError(
            f"{where}: expected a dict with the key 'task', got {str(value)[:200]}."
        )
    for key in value:
        if key not in known:
            raise DefinitionError(
                f"{where}: unknown key {key!r}{suggestion(str(key), known)} "
                f"Expected: {', '.join(known)}."
            )
    for key in ("task", "files"):
        texts = value.get(key, {})
        if not isinstance(texts, dict) or not all(
            isinstance(text, str) for pair in texts.items() for text in pair
        ):
            raise DefinitionError(f"{where}: {key!r} must be a dict from text to text.")
    for key in ("setup", "secret"):
        try:
            same = json.loads(json.dumps(value.get(key), allow_nan=False)) == value.get(key)
        except (TypeError, ValueError):
            same = False
        if not same:
            raise DefinitionError(
                f"{where}: {key!r} must be a JSON value that is the same when read back "
                "(lists for tuples, text for keys, no NaN)."
            )
    return value


def read_text(path: Path) -> str:
    """Return a file's text, line ends as they are.

    Raises:
        DefinitionError: it is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DefinitionError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}). "
            "Make binary files in setup.py."
        ) from None


def read_json(path: Path) -> Any:
    """Return the value that a JSON file holds.

    Raises:
        DefinitionError: it is no JSON.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DefinitionError(f"{path} is not JSON: {error}.") from None
