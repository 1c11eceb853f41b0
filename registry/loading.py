"""An environment's folder as a source of definitions and of the agents that prove it.

It is separate from the package's front so that `import deepgym_gym` pays for none of it. The
folder's own Python files (`variants.py`, `reference.py`, `hacks/`) are trusted code of the package
that ships them and run on the host; setup and verifiers are only read as text here. Each folder
becomes a package of its own, so that two environments' `variants` never meet and a file may import
its neighbours relatively (`from .words import WORDS`).

Source: CONTRIBUTING.md, on environments' folders.
"""

import importlib
import operator
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Any, Literal, SupportsIndex

from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import DefinitionError
from deepgym_gym.registry.folder import (
    Variant,
    check_variant,
    package_of,
    read_json,
    read_text,
    read_toml,
)
from deepgym_gym.registry.players import Player, Script, iter_actions

_FOLDER = re.compile(r"v(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class EnvironmentInfo:
    """What there is to say about a shipped environment without making a world of it."""

    name: str
    version: int
    id: str
    title: str
    summary: str
    difficulty: str
    domain: str
    tags: tuple[str, ...]
    path: Path


class RegistryEnvironment:
    """An environment's folder: a source of definitions, one for each variant number.

    Constructing it reads `env.toml` only. Everything else is read when first used and kept.

    Args:
        folder: `<anywhere>/<name>/v<N>`.

    Raises:
        DefinitionError: the folder or its `env.toml` is wrong.

    Example:
        >>> from deepgym_gym.registry import find_environment
        >>> find_environment("notes").definition(0).name
        'notes'
    """

    def __init__(self, folder: Path) -> None:  # the class says it
        match = _FOLDER.fullmatch(folder.name)
        if match is None or not (folder / "env.toml").is_file():
            raise DefinitionError(
                f"{folder} is not an environment's folder. Expected <name>/v<N> holding env.toml."
            )
        self.folder = folder
        self.name = folder.parent.name
        self.version = int(match[1])
        table = read_toml(folder / "env.toml")
        about = table["environment"]
        title, summary = about.pop("title"), about.pop("summary")
        self.reward: Literal["episode", "final", "step"] = table["gym"].get("reward", "episode")
        self._static = about
        # Checked here, with a stand-in for the task, so that a wrong field names env.toml and no
        # variant.
        self._build({"task": "-"}, "env.toml")
        self.info = EnvironmentInfo(
            name=self.name,
            version=self.version,
            id=f"deepgym/{self.name}-v{self.version}",
            title=title,
            summary=summary,
            difficulty=about["difficulty"],
            domain=about.get("domain", "agentic"),
            tags=tuple(about.get("tags", ())),
            path=folder,
        )

    def __repr__(self) -> str:
        return f"RegistryEnvironment({str(self.folder)!r})"

    @property
    def table_size(self) -> int:
        """How many variants the table names; they are numbers 0 to `table_size - 1`."""
        return len(self._table)

    def variant(self, number: SupportsIndex) -> Variant:
        """Return the parameters of one variant, a fresh copy at each call.

        Raises:
            DefinitionError: the number is not an integer from 0, or `variants.py` gave something
                wrong.
        """
        try:
            index = operator.index(number)
        except TypeError:
            index = -1
        if index < 0 or isinstance(number, bool):
            raise DefinitionError(
                f"Bad variant of {self.name!r}: expected an integer from 0, got {number!r}."
            )
        if (self.folder / "variants.py").is_file():
            value = self._call("variants.py", "make_variant", index)
        else:
            value = deepcopy(self._table[index % len(self._table)])
        return check_variant(value, f"{self.name} variant {index}")

    def definition(self, variant: SupportsIndex) -> MultiTurnEnvironment:
        """Return the definition of one variant. Equal numbers give equal definitions.

        Raises:
            DefinitionError: as for `variant`, or the folder's files do not fit together.
        """
        world = self.variant(variant)
        where = f"variant {operator.index(variant)}"
        fields: dict[str, Any] = {"task": self._task(world["task"], where)}
        fields["files"] = dict(sorted({**self._files, **world.get("files", {})}.items()))
        texts = self._texts
        if "setup.sh" in texts:
            fields["setup_script"] = texts["setup.sh"]
        for field, file, params in (
            ("setup_code", "setup.py", world.get("setup")),
            ("step_verifier_code", "step_verifier.py", world.get("secret")),
            ("final_verifier_code", "final_verifier.py", world.get("secret")),
        ):
            if file in texts:
                # ASCII, so that the line means the same under every encoding.
                fields[field] = f"PARAMS = {ascii(params)}\n{texts[file]}"
        for key in ("difficulty", "max_steps"):
            if key in world:
                fields[key] = world[key]
        return self._build(fields, where)

    def reference(self, variant: SupportsIndex) -> Player:
        """Return the agent that must score 1.0, from `reference.py` or `reference_actions.json`.

        Raises:
            DefinitionError: the environment has neither, or it is wrong.
        """
        name = f"{self.name} reference"
        listed = self.folder / "reference_actions.json"
        if not (self.folder / "reference.py").is_file() and listed.is_file():
            actions = read_json(listed)
            if not isinstance(actions, list):
                raise DefinitionError(f"{listed} must hold a list of actions.")
            return Player(name, lambda text: iter_actions(actions))
        return self._player("reference.py", name, variant)

    def hacks(self, variant: SupportsIndex) -> dict[str, Player]:
        """Return the agents that look for a shortcut and must score 0, by name.

        Raises:
            DefinitionError: one of the files is wrong.
        """
        return {
            path.stem: self._player(f"hacks/{path.name}", f"{self.name} hack {path.stem}", variant)
            for path in sorted((self.folder / "hacks").glob("*.py"))
            if not path.name.startswith("_")
        }

    def _player(self, file: str, name: str, variant: SupportsIndex) -> Player:
        play: Callable[[Mapping[str, Any], str], Script] = self.load_function(file, "play")
        world = self.variant(variant)
        return Player(name, lambda text: play(world, text))

    def load_function(self, file: str, function: str) -> Any:
        """Import one of the folder's host-side files and return a function of it.

        Raises:
            DefinitionError: the file cannot be imported or has no such function.
        """
        path = self.folder / file
        if not path.is_file():
            raise DefinitionError(f"{path} is missing. Expected a file that defines {function}().")
        found = getattr(self._module(file), function, None)
        if not callable(found):
            raise DefinitionError(f"{path} must define {function}().")
        return found

    def _build(self, fields: dict[str, Any], where: str) -> MultiTurnEnvironment:
        try:
            return MultiTurnEnvironment(**{"name": self.name, **self._static, **fields})
        except DefinitionError as error:
            raise DefinitionError(f"{self.folder} ({where}): {error}") from None

    def _task(self, words: Mapping[str, str], where: str) -> str:
        try:
            return self._task_template.substitute(words)
        except (KeyError, ValueError) as error:
            raise DefinitionError(
                f"{self.folder / 'task.md'} ({where}): bad or unknown placeholder {error}; "
                f"got the words {sorted(words)}. A dollar sign is written $$."
            ) from None

    @cached_property
    def _task_template(self) -> Template:
        path = self.folder / "task.md"
        if not path.is_file():
            raise DefinitionError(f"{path} is missing. Expected the task that the agent reads.")
        return Template(read_text(path).rstrip("\n"))

    @cached_property
    def _texts(self) -> dict[str, str]:
        names = ("setup.sh", "setup.py", "step_verifier.py", "final_verifier.py")
        return {
            name: read_text(self.folder / name) for name in names if (self.folder / name).is_file()
        }

    @cached_property
    def _files(self) -> dict[str, str]:
        root = self.folder / "files"
        return {
            path.relative_to(root).as_posix(): read_text(path)
            for path in sorted(root.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    @cached_property
    def _table(self) -> list[Any]:
        if (self.folder / "variants.py").is_file():
            table = getattr(self._module("variants.py"), "VARIANTS", None)
        elif (self.folder / "variants.json").is_file():
            table = read_json(self.folder / "variants.json")
        else:
            table = [{"task": {}}]
        if not isinstance(table, list | tuple) or not table:
            raise DefinitionError(f"{self.folder}: the variant table must be a list with entries.")
        return list(table)

    def _module(self, file: str) -> ModuleType:
        package = package_of(self.folder)
        name = ".".join([package, *Path(file).with_suffix("").parts])
        try:
            return importlib.import_module(name)
        except Exception as error:
            raise DefinitionError(
                f"{self.folder / file} could not be imported: {type(error).__name__}: {error}"
            ) from error

    def _call(self, file: str, function: str, *args: object) -> Any:
        called = self.load_function(file, function)
        try:
            return called(*args)
        except Exception as error:
            raise DefinitionError(
                f"{self.folder / file}: {function}{args} raised {type(error).__name__}: {error}"
            ) from error
