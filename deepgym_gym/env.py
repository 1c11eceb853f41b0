"""`SandboxEnv`: an episode in a sandbox as a `gymnasium.Env`."""

from enum import StrEnum
from typing import Any, Protocol, SupportsFloat, cast

import gymnasium
import numpy as np
from gymnasium import error as gymnasium_error
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from deepgym_gym import limits, loop
from deepgym_gym.actions import Action, Observation, parse_action
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import (
    ActionError,
    DefinitionError,
    SandboxError,
    SessionClosedError,
    VerifierError,
)
from deepgym_gym.render import Terminal
from deepgym_gym.results import RunResult
from deepgym_gym.sandbox.backends import NAMES, get_backend
from deepgym_gym.session import Session, SessionState
from deepgym_gym.spaces import ActionSpace, TextSpace

ActionLike = Action | dict[str, Any] | str
_MAX_TASK_CHARS = 64 * 1024
# What an observation may hold besides the two streams: our own notes, and a step verifier's
# feedback.
_EXTRA_CHARS = limits.FEEDBACK_BYTES + 4096
_MAX_VARIANT = 1 << 31


class RewardMode(StrEnum):
    """What `step` gives as reward.

    `episode`: the step verifier's reward, and the final score on top at the step that ends the
    episode. `final`: the final score alone. `step`: the step verifier's rewards alone.
    """

    EPISODE = "episode"
    FINAL = "final"
    STEP = "step"


class EnvironmentSource(Protocol):
    """Where an environment's variants come from."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    def definition(self, variant: int) -> MultiTurnEnvironment:
        """Return one variant.

        Raises:
            DefinitionError: there is no such variant.
        """
        ...


class SandboxEnv(gymnasium.Env[dict[str, Any], ActionLike]):
    """One environment, one session at a time.

    The sandbox is made in `reset` and given back in `close`; making the object costs nothing.
    `step` never raises for a failure of the sandbox or of a verifier: `info` says what happened,
    and whether the reward may be used.

    Args:
        source: a definition, or a source of variants such as a registry environment.
        backend: `auto` (isolated), `namespace`, or `local` (not isolated).
        variant: play this one at each reset, unless its options say otherwise.
        render_mode: None, `ansi` or `rgb_array`.
        reward: `episode`, `final` or `step`, see `RewardMode`.

    Raises:
        DefinitionError: an argument is none of these.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # Gymnasium's own way

    def __init__(
        self,
        source: MultiTurnEnvironment | EnvironmentSource,
        *,
        backend: str = "auto",
        variant: int | None = None,
        render_mode: str | None = None,
        reward: str = "episode",
    ) -> None:
        if backend not in NAMES:
            # Raises with the list of names.
            get_backend(backend)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = ", ".join(self.metadata["render_modes"])
            raise DefinitionError(
                f"render_mode: expected None or one of {modes}, got {render_mode!r}"
            )
        if reward not in list(RewardMode):
            raise DefinitionError(
                f"reward: expected one of {', '.join(RewardMode)}, got {reward!r}"
            )
        self._source = source
        self._backend = backend
        self._variant = None if variant is None else _checked_variant(variant)
        self._reward = RewardMode(reward)
        self.render_mode = render_mode
        self._session: Session | None = None
        self._over = False
        self._terminal = Terminal()
        definition = self._definition(self._variant or 0)
        self._task = definition.task
        self.action_space = ActionSpace(definition.allowed_actions)
        chars = 2 * definition.output_kb * limits.KIB + _EXTRA_CHARS
        self.observation_space = Dict(
            {
                "task": TextSpace(max(_MAX_TASK_CHARS, len(definition.task))),
                "content": TextSpace(chars),
                "step": Box(0, np.iinfo(np.int64).max, (), np.int64),
            }
        )

    @property
    def session(self) -> Session | None:
        """The live session, None before `reset` and after `close`."""
        return self._session

    def _definition(self, variant: int) -> MultiTurnEnvironment:
        if isinstance(self._source, MultiTurnEnvironment):
            return self._source
        return self._source.definition(variant)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in a fresh sandbox.

        The variant is `options["variant"]`; else the constructor's; else the seed itself, so that
        `reset(seed=7)` plays variant 7; else drawn from `np_random`.

        Returns:
            observation: dict with `task` (str), `content` (str: what the setup printed) and `step`
            (int64, ()).
            info: as from `step`.

        Raises:
            DefinitionError: an option or the variant is wrong; the running episode, if any, goes
            on.
            SandboxError: no sandbox was to be had, or the setup failed; nothing is left behind.
        """
        wanted = _checked_options(options)
        super().reset(seed=seed)
        if wanted is not None:
            variant = wanted
        elif self._variant is not None:
            variant = self._variant
        elif seed is not None:
            variant = seed
        else:
            variant = int(self.np_random.integers(_MAX_VARIANT))
        definition = self._definition(variant)
        self._leave_session()
        session = Session(definition, get_backend(self._backend))
        # Set before it starts, so that a `close` from another thread, or after a failure, finds it.
        self._session = session
        self._over = False
        first = loop.run(session.start())
        self._task = definition.task
        self._terminal = Terminal(definition.task)
        self._terminal.add(None, first.content)
        return self._observation(first), self._info(None, first, reward_valid=True)

    def step(
        self, action: ActionLike
    ) -> tuple[dict[str, Any], SupportsFloat, bool, bool, dict[str, Any]]:
        """Apply one action. The step that ends the episode also runs the final verifier.

        Returns:
            observation: as from `reset`.
            reward: float64, see `RewardMode`; 0.0 where there is no verdict.
            terminated: the task ended by its own rules, or the agent broke its sandbox.
            truncated: a limit was reached, or something failed that is not the agent's fault.
            info: `has_verdict`, `reward_valid` (False: mask this reward, it means nothing),
            `error_type`, `timed_out`
                and `result` (None before the end); at the end also `score` and `passed`; the
                command's `exit_code` if it has one.

        Raises:
            ActionError: the action was rejected; the episode goes on.
            ResetNeeded: there is no episode.
            SessionClosedError: the episode is over.
        """
        session = self._live_session()
        parsed = parse_action(action)
        before = session.trajectory.final_observation or Observation(content="")
        observation, reward, result, failed = loop.run(_advance(session, parsed, before))
        self._terminal.add(parsed, observation.content)
        if result is None:
            return (
                self._observation(observation),
                0.0 if self._reward is RewardMode.FINAL else reward,
                False,
                False,
                self._info(None, observation, reward_valid=True),
            )
        self._over = True
        usable = result.has_verdict or (self._reward is RewardMode.STEP and not failed)
        total = 0.0
        if usable and self._reward is not RewardMode.FINAL:
            total += reward
        if usable and self._reward is not RewardMode.STEP:
            total += result.score
        return (
            self._observation(observation),
            total,
            session.terminated,
            session.truncated,
            self._info(result, observation, reward_valid=usable),
        )

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the terminal.

        Returns:
            `ansi`: text without any control character of the agent's. `rgb_array`: uint8, shape
            (height, width, 3). None without a render mode.

        Raises:
            ResetNeeded: there has been no episode.
            DependencyNotInstalled: Pillow is missing, for `rgb_array`.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: pass it to gymnasium.make.")
            return None
        if self._session is None:
            raise gymnasium_error.ResetNeeded("Call reset() before render().")
        return self._terminal.text() if self.render_mode == "ansi" else self._terminal.image()

    def close(self) -> None:
        """Give the sandbox back. May be called twice, after a failure, and from any thread."""
        self._leave_session()

    # Inside.

    def _live_session(self) -> Session:
        if self._session is None:
            raise gymnasium_error.ResetNeeded("Call reset() before step().")
        if self._over or self._session.state is not SessionState.RUNNING:
            raise SessionClosedError("The episode is over; call reset() to begin another.")
        return self._session

    def _leave_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            loop.run(session.close())

    def _observation(self, observation: Observation) -> dict[str, Any]:
        return {
            "task": self._task,
            "content": observation.content,
            "step": np.array(observation.step, np.int64),
        }

    def _info(
        self, result: RunResult | None, observation: Observation, *, reward_valid: bool
    ) -> dict[str, Any]:
        """Nothing in it differs between equal episodes: no times, no ids."""
        metadata = observation.metadata or {}
        verdict = self._session.step_verdict if self._session else None
        error_type = verdict.error_type if verdict else None
        if result is not None:
            error_type = result.error_type
            result = result.model_copy(update={"execution_time_ms": 0.0, "sandbox_id": ""})
        info: dict[str, Any] = {
            "result": result,
            "has_verdict": result.has_verdict if result else False,
            "reward_valid": reward_valid,
            "error_type": error_type,
            "timed_out": bool(metadata.get("timed_out", False)),
        }
        # Only there when they mean something: vector environments make typed arrays, with masks, of
        # them.
        if result is not None:
            info |= {"score": result.score, "passed": result.passed}
        if metadata.get("exit_code") is not None:
            info["exit_code"] = metadata["exit_code"]
        return info


async def _advance(
    session: Session, action: Action, before: Observation
) -> tuple[Observation, float, RunResult | None, bool]:
    """One step, and the score if it ended the episode, in one visit to the loop.

    Returns:
        The observation, the step's reward, the result if the episode is over, and whether the step
        failed.
    """
    reward, failed = 0.0, False
    try:
        observation, reward, _ = await session.step(action)
    except ActionError as error:
        # A rejected write that used up the last step: there is no step left in which to say more.
        if session.state is not SessionState.ENDED:
            raise
        observation = Observation(content=f"[rejected] {error}", step=session.step_number)
    except (SandboxError, VerifierError):
        # Source: reward contract, rule E1.
        failed = True
        observation = Observation(content=before.content, step=session.step_number)
    if session.state is SessionState.RUNNING:
        return observation, reward, None, False
    return observation, reward, await session.score(), failed


def _checked_options(options: dict[str, Any] | None) -> int | None:
    if options is None:
        return None
    unknown = sorted(str(key) for key in options if key != "variant")
    if unknown:
        raise DefinitionError(
            f"reset options: expected only 'variant', got {', '.join(unknown)}. "
            'Write reset(options={"variant": 3}).'
        )
    variant = options.get("variant")
    return None if variant is None else _checked_variant(variant)


def _checked_variant(variant: object) -> int:
    if isinstance(variant, bool) or not isinstance(variant, int | np.integer) or variant < 0:
        raise DefinitionError(f"variant: expected an integer of at least 0, got {variant!r}")
    return int(cast(int, variant))
