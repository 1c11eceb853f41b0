"""Small packages, the faults that can be planted in them, and what each makes go wrong.

Host side only. A package's right text lies in `packages/<name>/`; a fault is a replacement in one
of its files. What the package must answer is never written down: it is what the right text answers
when it is called here.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from itertools import count
from pathlib import Path
from random import Random
from types import CodeType, ModuleType
from typing import Any

FOLDER = Path(__file__).parent / "packages"

# A call is [function, [arguments]]; an outcome ["value", it] or ["raises", class name]. Both are
# JSON, where bytes are {"hex": text}.
Call = list[Any]
Outcome = list[Any]
Knobs = dict[str, Any]
Probes = Callable[[Random, Knobs], list[Call]]

_numbers = count()


@dataclass(frozen=True)
class Fault:
    """One fault: `right` in `file` becomes `wrong`, `probes` gives calls that then go wrong."""

    kind: str
    file: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    symptom: str
    probes: Probes


class Package:
    """One of the little packages.

    Args:
        name: its import name, and its folder's.
        modules: its modules in an order in which each imports only earlier ones.
        knobs: constants of `config.py` and the values that they can take.
    """

    def __init__(self, name: str, modules: tuple[str, ...], knobs: dict[str, tuple[Any, ...]]):
        self.name = name
        self.modules = modules
        self.knobs = knobs
        self.faults: dict[str, Fault] = {}
        self.others: Probes = lambda rng, knobs: []

    def fault(
        self,
        kind: str,
        file: str,
        right: str | tuple[str, ...],
        wrong: str | tuple[str, ...],
        symptom: str,
    ) -> Callable[[Probes], Probes]:
        """Add a fault; the decorated function gives its probes. Tuples make several changes."""

        def add(probes: Probes) -> Probes:
            before = (right,) if isinstance(right, str) else right
            after = (wrong,) if isinstance(wrong, str) else wrong
            text = " ".join(symptom.split())
            self.faults[kind] = Fault(kind, file, before, after, text, probes)
            return probes

        return add

    def rest(self, calls: Probes) -> Probes:
        """Set the calls of functions that no fault concerns."""
        self.others = calls
        return calls

    def texts(self, knobs: Knobs, kinds: tuple[str, ...] = ()) -> dict[str, str]:
        """Return the files (path -> text) with these constants and these faults."""
        files = dict(_read(self.name))
        config = f"{self.name}/config.py"
        for name, value in knobs.items():
            lines = files[config].split("\n")
            at = next(i for i, line in enumerate(lines) if line.startswith(f"{name} = "))
            lines[at] = f"{name} = {value!r}"
            files[config] = "\n".join(lines)
        for kind in kinds:
            path, changes = self.changes(kind)
            for right, wrong in changes:
                if files[path].count(right) != 1:
                    raise ValueError(f"{path} must hold exactly once: {right}")
                files[path] = files[path].replace(right, wrong)
        return files

    def changes(self, kind: str) -> tuple[str, list[tuple[str, str]]]:
        """Return a fault's file and its replacements (right, wrong)."""
        fault = self.faults[kind]
        return f"{self.name}/{fault.file}", list(zip(fault.right, fault.wrong, strict=True))

    def outcomes(self, knobs: Knobs, kinds: tuple[str, ...], calls: list[Call]) -> list[Outcome]:
        """Return what the package with these faults makes of each call."""
        with _loaded(self, self.texts(knobs, kinds)) as module:
            return _in_thread(lambda: [_outcome(module, call) for call in calls])


def same(one: Outcome, other: Outcome) -> bool:
    """Say whether two outcomes are equal, as JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def decoded(value: Any) -> Any:
    """Return a JSON value with its bytes as bytes."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"hex"}:
            return bytes.fromhex(value["hex"])
        return {key: decoded(item) for key, item in value.items()}
    return value


def encoded(value: Any) -> Any:
    """Return plain data as JSON."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, list | tuple):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        return {key: encoded(item) for key, item in value.items()}
    return value


def call(function: str, *arguments: Any) -> Call:
    """Return a call."""
    return [function, encoded(list(arguments))]


@lru_cache(maxsize=32)
def _read(name: str) -> tuple[tuple[str, str], ...]:
    folder = FOLDER / name
    return tuple(
        (path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    )


@contextmanager
def _loaded(package: Package, texts: dict[str, str]) -> Iterator[ModuleType]:
    """Import a package from its text, under a name that nothing else has."""
    name = f"deepgym_debug_python_{package.name}_{next(_numbers)}"
    root = module_from_spec(ModuleSpec(name, None, is_package=True))
    modules = {name: root}
    try:
        sys.modules[name] = root
        for short in package.modules:
            module = module_from_spec(ModuleSpec(f"{name}.{short}", None))
            modules[module.__name__] = sys.modules[module.__name__] = module
            _run_text(texts, f"{package.name}/{short}.py", module)
            setattr(root, short, module)
        _run_text(texts, f"{package.name}/__init__.py", root)
        yield root
    finally:
        for key in modules:
            sys.modules.pop(key, None)


def _run_text(texts: dict[str, str], path: str, module: ModuleType) -> None:
    # Our own text, and how else would it become a module without being on disk?
    exec(_compiled(texts[path], path), module.__dict__)  # noqa: S102


@lru_cache(maxsize=512)
def _compiled(text: str, path: str) -> CodeType:
    return compile(text, path, "exec")


def _outcome(module: ModuleType, wanted: Call) -> Outcome:
    function, arguments = wanted
    target: Any = module
    try:
        for part in function.split("."):
            target = getattr(target, part)
        return ["value", encoded(target(*decoded(arguments)))]
    except Exception as error:
        return ["raises", type(error).__name__]


def _in_thread(work: Callable[[], list[Outcome]]) -> list[Outcome]:
    """Run where no event loop is running, since the packages start their own."""
    results: list[list[Outcome]] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]
