"""What `import deepgym_gym` loads, shows and registers."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import deepgym_gym
from deepgym_gym import errors

ROOT = Path(__file__).parents[2]
PUBLIC = [
    "Action",
    "ActionError",
    "ActionType",
    "AsyncDeepGym",
    "CapacityError",
    "CaseResult",
    "DeepGym",
    "DeepGymError",
    "DefinitionError",
    "MultiTurnEnvironment",
    "Observation",
    "OutputLimitError",
    "ProviderError",
    "RunResult",
    "SandboxEnv",
    "SandboxError",
    "SandboxExhaustedError",
    "SandboxLostError",
    "SandboxRetiredError",
    "SandboxTimeoutError",
    "SandboxUnavailableError",
    "SandboxWriteError",
    "SessionClosedError",
    "SessionStateError",
    "SetupError",
    "StepResult",
    "StepVerdict",
    "TextSpace",
    "Trajectory",
    "VerifierError",
    "__version__",
    "list_environments",
    "load_environment",
]


def modules_after(statement: str) -> set[str]:
    """The names of the modules that a fresh interpreter has loaded after `statement`."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_adds_only_its_own_light_modules_to_gymnasium() -> None:
    added = modules_after("import gymnasium, deepgym_gym") - modules_after("import gymnasium")

    foreign = {name.split(".")[0] for name in added} - sys.stdlib_module_names

    assert foreign == {"deepgym_gym"}
    assert {name for name in added if name.startswith("deepgym_gym")} == {
        "deepgym_gym",
        "deepgym_gym.errors",
        "deepgym_gym.registry",
    }


def test_public_names_are_locked_and_sorted() -> None:
    assert deepgym_gym.__all__ == PUBLIC
    assert sorted(PUBLIC) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(deepgym_gym, name) is not None
    assert name in dir(deepgym_gym)


def test_every_error_is_public() -> None:
    raised = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.DeepGymError)
    }

    assert raised - set(deepgym_gym.__all__) == set()


def test_type_checkers_see_the_names_where_they_are_at_run_time() -> None:
    tree = ast.parse(Path(deepgym_gym.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for block in ast.walk(tree)
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    eager = {"__version__", "list_environments", "load_environment"}
    assert set(seen) == set(deepgym_gym.__all__) - eager
    for name, module in seen.items():
        assert module is not None
        assert getattr(deepgym_gym, name) is getattr(importlib.import_module(module), name)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Sandboxenv'"):
        getattr(deepgym_gym, "Sandboxenv")  # noqa: B009  # a type checker would refuse the name


def test_version_is_in_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert f"## [{deepgym_gym.__version__}]" in changelog


@pytest.mark.parametrize("name", ["registry", "wrappers", "server"])
def test_mapped_folder_is_not_importable_by_its_bare_name(name: str, tmp_path: Path) -> None:
    # -I and a foreign folder: neither the checkout nor the caller's path helps.
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import deepgym_gym.{name}, {name}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )

    assert f"ModuleNotFoundError: No module named '{name}'" in done.stderr
