"""`MultiTurnEnvironment`: all that there is to say about an environment, as validated data."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic import ValidationError as _ValidationError

from deepgym_gym import limits
from deepgym_gym.actions import ActionType, path_fault
from deepgym_gym.errors import DefinitionError

Seconds = Annotated[float, Field(gt=0, le=limits.MAX_TIMEOUT_S, allow_inf_nan=False)]
SHELL_ACTIONS = frozenset(
    {ActionType.CODE, ActionType.BASH, ActionType.WRITE_FILE, ActionType.DONE}
)


class MultiTurnEnvironment(BaseModel):
    """A multi-turn environment: the task, the world at its start, how it is judged and its limits.

    Frozen, so that one definition can serve many sessions and threads. All times are seconds.

    Raises:
        DefinitionError: if a field is unknown, missing or out of range; nothing has been created.

    Example:
        >>> MultiTurnEnvironment(task="Say done.").max_steps
        10
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # What the agent sees, and where it acts.
    task: Annotated[str, Field(min_length=1)]
    name: str = ""
    type: Literal["multi-turn"] = "multi-turn"
    files: dict[str, str] = Field(default_factory=dict)
    setup_script: str | None = None
    setup_code: str | None = None
    allowed_actions: frozenset[ActionType] = SHELL_ACTIONS
    # One bash for the whole episode, so that `cd`, `export` and functions persist.
    persistent_shell: bool = False
    image: str | None = None

    # How it is judged.
    step_verifier_code: str | None = None
    final_verifier_code: str | None = None
    # None: `timeout_per_step`.
    verifier_timeout: Seconds | None = None
    # Leave the agent's processes running (frozen by default, killed before the final verifier) when
    # a verifier must talk to a server that the agent started.
    keep_processes: bool = False
    # The step verifier's JSON may also hold "feedback", a text that ends the step's observation,
    # and "state", any JSON value of at most STATE_BYTES, which the next step verifier and the final
    # one find in the file that VERIFIER_STATE_PATH names (`null` before the first). The agent can
    # reach neither the file nor what is not said in "feedback".
    verifier_feedback: bool = False

    # Limits.
    max_steps: Annotated[int, Field(ge=1)] | None = limits.MAX_STEPS
    timeout_per_step: Seconds = limits.TIMEOUT_PER_STEP_S
    setup_timeout: Seconds = limits.SETUP_TIMEOUT_S
    memory_mb: Annotated[int, Field(ge=32, le=1 << 20)] = limits.MEMORY_MB
    pids: Annotated[int, Field(ge=8, le=1 << 16)] = limits.PIDS
    # For backends that can hold it; `namespace` and `local` do not.
    cpus: Annotated[float, Field(gt=0, le=1024, allow_inf_nan=False)] = limits.CPUS
    disk_mb: Annotated[int, Field(ge=1, le=1 << 20)] = limits.DISK_MB
    shm_mb: Annotated[int, Field(ge=1, le=1 << 16)] = limits.SHM_MB
    output_kb: Annotated[int, Field(ge=1, le=64 * 1024)] = limits.OUTPUT_KB

    # What it is about.
    difficulty: Literal["easy", "medium", "hard"] = "medium"
    domain: str = "agentic"
    tags: tuple[str, ...] = ()

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except _ValidationError as error:
            raise _as_definition_error(error) from None

    @field_validator("files")
    @classmethod
    def _relative_files(cls, files: dict[str, str]) -> dict[str, str]:
        for path in files:
            reason = path_fault(path)
            if reason:
                raise ValueError(f'files need relative paths without "..": {reason}')
        return files

    @field_validator("setup_script")
    @classmethod
    def _no_nul(cls, script: str | None) -> str | None:
        if script and "\0" in script:
            raise ValueError("setup_script holds a NUL character")
        return script

    @model_validator(mode="after")
    def _some_action(self) -> Self:
        if not self.allowed_actions:
            raise ValueError("allowed_actions must name at least one action type")
        return self


def _as_definition_error(error: _ValidationError) -> DefinitionError:
    lines = [
        f"{'.'.join(str(part) for part in item['loc']) or 'definition'}: "
        f"{item['msg'].removeprefix('Value error, ')}"
        f" (got {str(item.get('input'))[:80]!r})"
        for item in error.errors(include_url=False)
    ]
    return DefinitionError("Bad environment definition. " + "; ".join(lines))
