"""The folder layout and the import floors that ARCHITECTURE.md promises."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAPPED = ("registry", "wrappers", "server")
# A file imports only from its own floor or a lower one. Source: ARCHITECTURE.md, "Floors".
FLOORS: dict[str, int] = {
    # 0 words
    "errors": 0,
    "limits": 0,
    "actions": 0,
    "results": 0,
    "definition": 0,
    # 1 sandbox
    "sandbox": 1,
    # 2 judging
    "verdict": 2,
    "fields": 2,
    "protocol": 2,
    "verifier": 2,
    # 3 episode
    "acting": 3,
    "client": 3,
    "loop": 3,
    "observe": 3,
    "playing": 3,
    "progress": 3,
    "session": 3,
    "starting": 3,
    "waiting": 3,
    # 4 gym
    "shared_text": 4,
    "spaces": 4,
    "render": 4,
    "turn": 4,
    "env": 4,
    # 5 to 7
    "registry": 5,
    "wrappers": 6,
    "server": 7,
    # the roof
    "__init__": 8,
    "__main__": 8,
    "cli": 8,
}


def python_files(folder: Path) -> list[Path]:
    """The files of a package's own code: what environments' folders hold runs in sandboxes."""
    return sorted(
        path
        for path in folder.rglob("*.py")
        if not any(part[0] == "v" and part[1:].isdigit() for part in path.parts)
    )


def files_with_floors() -> Iterator[tuple[Path, str]]:
    """Each file of the package with the name that it is imported by."""
    links = {ROOT / "deepgym_gym" / name for name in MAPPED}
    for path in python_files(ROOT / "deepgym_gym"):
        if not links.intersection(path.parents):
            yield path, module_name(path.relative_to(ROOT))
    for name in MAPPED:
        for path in python_files(ROOT / name):
            yield path, module_name(Path("deepgym_gym", path.relative_to(ROOT)))


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor(module: str) -> int | None:
    """The floor of a module of ours; None if the table does not know it."""
    _, _, below = module.partition(".")
    part = below.split(".")[0] or "__init__"
    return FLOORS.get("cli" if part.startswith("cli_") else part)


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imported_names(source: str) -> Iterator[tuple[int, str]]:
    """Line and full module name of each import of `source`, those inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                full = f"{module}.{alias.name}"
                yield node.lineno, full if is_module(full) else module


def upward_imports(source: str, module: str) -> list[str]:
    """The imports of `source` that break the order of the floors."""
    own = floor(module)
    found = []
    for line, name in imported_names(source):
        if name.split(".")[0] == "deepgym_gym":
            other = floor(name)
            if own is None or other is None or other > own:
                found.append(f"{module}:{line} imports {name}")
    return found


@pytest.mark.parametrize("name", MAPPED)
def test_package_link_is_relative_and_points_at_top_level_folder(name: str) -> None:
    link = ROOT / "deepgym_gym" / name

    assert link.is_symlink()
    assert link.readlink() == Path("..", name)
    assert link.resolve() == ROOT / name


def test_every_file_has_a_floor_and_imports_only_go_down() -> None:
    files = list(files_with_floors())

    unknown = [module for _, module in files if floor(module) is None]
    upward = [
        fault
        for path, module in files
        for fault in upward_imports(path.read_text(encoding="utf-8"), module)
    ]

    assert len(files) > 20
    assert unknown == []
    assert upward == []


@pytest.mark.parametrize(
    ("module", "source", "caught"),
    [
        ("deepgym_gym.session", "from deepgym_gym import limits", False),
        ("deepgym_gym.session", "from deepgym_gym.env import SandboxEnv", True),
        ("deepgym_gym.session", "def f():\n    import deepgym_gym.server.app", True),
        ("deepgym_gym.env", "from deepgym_gym import Action", True),
        ("deepgym_gym.sandbox.base", "from deepgym_gym import registry", True),
        ("deepgym_gym.errors", "import json", False),
        ("deepgym_gym.registry.loading", "from deepgym_gym.definition import X", False),
        ("deepgym_gym.surprise", "from deepgym_gym import limits", True),
    ],
)
def test_floor_check_catches_upward_import(module: str, source: str, caught: bool) -> None:
    assert bool(upward_imports(source, module)) is caught


def test_guest_imports_nothing_but_the_standard_library_and_itself() -> None:
    # It is copied into sandboxes, where there is nothing else.
    folder = ROOT / "deepgym_gym" / "sandbox" / "guest"
    own = {path.stem for path in folder.glob("*.py")}
    foreign = []
    files = python_files(folder)

    for path in files:
        for line, name in imported_names(path.read_text(encoding="utf-8")):
            top = name.split(".")[0]
            if (
                not name.startswith((".", "deepgym_gym.sandbox.guest"))
                and top not in sys.stdlib_module_names
                and top not in own
            ):
                foreign.append(f"{path.name}:{line} imports {name}")

    assert files
    assert foreign == []
