"""Gymnasium environments for agents that act over many turns in a real, isolated sandbox.

Importing this package registers every shipped environment::

    import deepgym_gym
    import gymnasium

    env = gymnasium.make("deepgym/notes-v0")

Public names are loaded when they are first used, so the import adds little to Gymnasium's own and
loads neither docker nor fastapi nor a trainer.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from deepgym_gym.registry import list_environments, load_environment, register_all

if TYPE_CHECKING:
    from deepgym_gym.actions import Action, ActionType, Observation
    from deepgym_gym.client import AsyncDeepGym, DeepGym
    from deepgym_gym.definition import MultiTurnEnvironment
    from deepgym_gym.env import SandboxEnv
    from deepgym_gym.errors import (
        ActionError,
        CapacityError,
        DeepGymError,
        DefinitionError,
        OutputLimitError,
        ProviderError,
        SandboxError,
        SandboxExhaustedError,
        SandboxLostError,
        SandboxRetiredError,
        SandboxTimeoutError,
        SandboxUnavailableError,
        SandboxWriteError,
        SessionClosedError,
        SessionStateError,
        SetupError,
        VerifierError,
    )
    from deepgym_gym.results import CaseResult, RunResult, StepResult, StepVerdict, Trajectory
    from deepgym_gym.spaces import TextSpace

__version__ = "0.1.0"

__all__ = [
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

# Where each lazy name lives; what is in __all__ and not here is imported above.
_HOMES = {
    "Action": "actions",
    "ActionType": "actions",
    "AsyncDeepGym": "client",
    "CaseResult": "results",
    "DeepGym": "client",
    "MultiTurnEnvironment": "definition",
    "Observation": "actions",
    "RunResult": "results",
    "SandboxEnv": "env",
    "StepResult": "results",
    "StepVerdict": "results",
    "TextSpace": "spaces",
    "Trajectory": "results",
}


# Hidden from type checkers, which would take any misspelled name for a lazy one.
if not TYPE_CHECKING:

    def __getattr__(name):
        home = _HOMES.get(name, "errors" if name in __all__ else None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})


register_all()
