"""The shipped environments: found by their folders, loaded when asked for, registered by name.

Importing this module reads nothing: `register_all` looks at folder names only, and everything that
needs pydantic, numpy or an environment's files is imported by the function that needs it, so that
`import deepgym_gym` stays light.

Example:
    >>> from deepgym_gym.registry import load_environment
    >>> load_environment("notes").task.splitlines()[0]
    'Write the word `hello` into the file `notes.txt`, then send done.'
"""

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepgym_gym.errors import DefinitionError

if TYPE_CHECKING:
    from deepgym_gym.definition import MultiTurnEnvironment
    from deepgym_gym.env import SandboxEnv
    from deepgym_gym.registry.loading import EnvironmentInfo, RegistryEnvironment

__all__ = [
    "NAMESPACE",
    "EnvironmentInfo",
    "RegistryEnvironment",
    "environment_info",
    "find_environment",
    "list_environments",
    "load_environment",
    "make_env",
    "register_all",
]

NAMESPACE = "deepgym"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_VERSION = re.compile(r"v(0|[1-9][0-9]*)")
_ID = re.compile(r"(?:deepgym/)?(?P<name>[^/]+?)(?:-v(?P<version>0|[1-9][0-9]*))?")


def __getattr__(name: str) -> Any:
    # The two classes live in `loading`, which imports pydantic: they are looked up when first used.
    if name in ("EnvironmentInfo", "RegistryEnvironment"):
        from deepgym_gym.registry import loading

        return getattr(loading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@lru_cache(maxsize=1)
def _folders() -> dict[str, dict[int, Path]]:
    """Map each shipped name to its versions and their folders, read from folder names alone."""
    found: dict[str, dict[int, Path]] = {}
    for name in sorted(os.listdir(__path__[0])):
        folder = os.path.join(__path__[0], name)
        if _NAME.fullmatch(name) and os.path.isdir(folder):
            versions = {
                int(match[1]): Path(folder, entry)
                for entry in os.listdir(folder)
                if (match := _VERSION.fullmatch(entry))
                and os.path.isfile(os.path.join(folder, entry, "env.toml"))
            }
            if versions:
                found[name] = dict(sorted(versions.items()))
    return found


def list_environments() -> list[str]:
    """Return the sorted names of the shipped environments, such as `notes`."""
    return list(_folders())


def find_environment(name: str | Path, version: int | None = None) -> "RegistryEnvironment":
    """Return the environment of that name.

    Args:
        name: `notes`, `notes-v0`, `deepgym/notes-v0`, or the `Path` of an environment's folder
            anywhere.
        version: which one of several; None takes the one in `name`, else the highest.

    Raises:
        DefinitionError: there is no such environment, or its folder is not a correct one.
    """
    if isinstance(name, Path):
        return _load(name.absolute())
    match = _ID.fullmatch(name) if isinstance(name, str) else None
    versions = _folders().get(match["name"]) if match else None
    if match is None or versions is None:
        from deepgym_gym.registry.folder import suggestion

        raise DefinitionError(
            f"No environment named {name!r}{suggestion(str(name), list_environments())} "
            f"Expected one of: {', '.join(list_environments())}."
        )
    if version is None:
        version = int(match["version"]) if match["version"] else max(versions)
    if version not in versions:
        known = ", ".join(f"v{number}" for number in versions)
        raise DefinitionError(f"{match['name']!r} has no version {version!r}. Expected: {known}.")
    return _load(versions[version])


@lru_cache(maxsize=256)
def _load(folder: Path) -> "RegistryEnvironment":
    from deepgym_gym.registry.loading import RegistryEnvironment

    return RegistryEnvironment(folder)


def load_environment(name: str, variant: int = 0) -> "MultiTurnEnvironment":
    """Return the definition of one variant of a shipped environment.

    Args:
        name: as for `find_environment`.
        variant: from 0; any number gives a world, the first few are those of the variant table.

    Raises:
        DefinitionError: no such environment or variant.
    """
    return find_environment(name).definition(variant)


def environment_info(name: str) -> "EnvironmentInfo":
    """Return what `deepgym-gym list` and `show` say about an environment.

    Raises:
        DefinitionError: no such environment.
    """
    return find_environment(name).info


def make_env(name: str, version: int | None = None, **kwargs: Any) -> "SandboxEnv":
    """Make the Gymnasium environment; the entry point of every registered id.

    Args:
        name: as for `find_environment`.
        version: None takes the highest.
        **kwargs: for `SandboxEnv`; `reward` defaults to what the environment's folder says.

    Raises:
        DefinitionError: no such environment, or an option is wrong. Nothing has been started.
    """
    environment = find_environment(name, version)
    # Later, so that a wrong name costs no import.
    from deepgym_gym.env import SandboxEnv

    return SandboxEnv(environment, **{"reward": environment.reward, **kwargs})


def register_all() -> None:
    """Register every shipped environment with Gymnasium, as `deepgym/<name>-v<version>`.

    Safe to call again. `max_episode_steps` stays unset on purpose: an outer TimeLimit would cut an
    episode before its verifier ran. Gymnasium's passive checker is off: 1.4 has it raise a
    `TypeError` from every step of an environment whose first `reset` failed, as one may where a
    sandbox is started, after the action took effect.
    """
    import gymnasium

    for name, versions in _folders().items():
        for version in versions:
            env_id = f"{NAMESPACE}/{name}-v{version}"
            if env_id not in gymnasium.registry:
                gymnasium.register(
                    id=env_id,
                    entry_point="deepgym_gym.registry:make_env",
                    disable_env_checker=True,
                    kwargs={"name": name, "version": version},
                )
