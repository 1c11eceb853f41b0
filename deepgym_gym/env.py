"""`SandboxEnv`: an episode in a sandbox as a `gymnasium.Env`.

The final verifier runs inside the `step` that ends the episode, whatever ended it, so that this
step's reward holds the score, and no wrapper can cut the episode before its verdict.
"""

from enum import StrEnum
from typing import Any, Protocol, cast

import gymnasium
import numpy as np
from gymnasium import error as gymnasium_error
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from deepgym_gym import limits, loop
from deepgym_gym.actions import Observation
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import ActionError, DefinitionError, SessionClosedError
from deepgym_gym.playing import MAX_REJECTED, ActionLike
from deepgym_gym.render import Terminal
from deepgym_gym.results import ErrorType
from deepgym_gym.sandbox.backends import NAMES, get_backend
from deepgym_gym.session import Session, SessionState
from deepgym_gym.spaces import ActionSpace, TextSpace
from deepgym_gym.turn import MAX_REJECTION_CHARS, Turn, advance, parsed_action

_MAX_TASK_CHARS = 64 * 1024
# What an observation may hold besides the two streams: our own notes, and a step verifier's
# feedback.
_EXTRA_CHARS = limits.FEEDBACK_BYTES + 2 * MAX_REJECTION_CHARS
# Why a final verifier could not run that is no fault of the agent or of the verifier.
_LOST = (ErrorType.SANDBOX_ERROR, ErrorType.INTERRUPTED)
# A reset without a seed draws from so many variants.
_DRAWN_VARIANTS = 1 << 31


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
    """One environment, one episode at a time.

    The sandbox is made in `reset` and given back in `close`; making the object costs nothing. A
    copy of it, or what is unpickled, has no episode: it must be reset.

    **Failures are data.** `step` does not raise for what a sandbox, a verifier or the agent did:
    `info` says what happened and whether the reward may be used. An action that is rejected (of a
    type that is not allowed, malformed, with a path that leads outside, ...) raises `ActionError`,
    and the episode goes on. With `rejected="observe"` the agent is told instead, for loops that an
    agent's slip must not end: an observation that begins with `[rejected]`, reward 0.0 and the
    reason in `info["action_error"]`; the 20th in a row truncates the episode.

    **info** has the same keys at each step and after `reset`:

    - `score` (float) and `passed` (bool) of the final verifier, `has_verdict` (bool: whether they
      mean anything; False before the end), `result` (RunResult, None before the end).
    - `reward_valid` (bool): False where the episode ended without a verdict; the reward is 0.0
      then, and must be masked.
    - `error_type` (str or None): what went wrong, in the step verifier before the end.
    - `action_error` (str or None): why the action was rejected.
    - `timed_out` (bool) and `variant` (int), the variant that is played.

    The command's other facts (`exit_code`, `signal`, ...) are there where there are any. Nothing in
    it differs between equal episodes: no times, no ids.

    Args:
        source: a definition, or a source of variants such as a registry environment.
        backend: `auto` (isolated), `namespace`, or `local` (not isolated).
        variant: play this one at each reset, unless its options say otherwise.
        render_mode: None, `ansi` or `rgb_array` (needs Pillow, the extra `render`).
        reward: `episode`, `final` or `step`, see `RewardMode`.
        rejected: what becomes of a rejected action: `raise` or `observe`.

    Raises:
        DefinitionError: an argument is none of these. Nothing has been started.

    Example:
        >>> env = SandboxEnv(MultiTurnEnvironment(task="Say done."))
        >>> {"action_type": "done"} in env.action_space
        True
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
        rejected: str = "raise",
    ) -> None:
        if not isinstance(source, MultiTurnEnvironment) and not hasattr(source, "definition"):
            raise DefinitionError(
                "source: expected a MultiTurnEnvironment or a registry environment, got "
                f"{type(source).__name__}. Write make_env(name) for one by its name."
            )
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
        if rejected not in ("raise", "observe"):
            raise DefinitionError(f"rejected: expected raise or observe, got {rejected!r}")
        self._source = source
        self._backend = backend
        self._variant = None if variant is None else _checked_variant(variant)
        self._reward = RewardMode(reward)
        self._tells_rejections = rejected == "observe"
        self.render_mode = render_mode
        self._session: Session | None = None
        self._task = ""
        self._playing = 0
        self._over = False
        self._rejected = 0
        self._terminal = Terminal()
        definition = self._definition(self._variant or 0)
        self.action_space = ActionSpace(definition.allowed_actions)
        self.observation_space = Dict(
            {
                "task": TextSpace(max(_MAX_TASK_CHARS, len(definition.task))),
                "content": TextSpace(_content_chars(definition)),
                "step": Box(0, np.iinfo(np.int64).max, (), np.int64),
            }
        )

    @property
    def session(self) -> Session | None:
        """The live session, None before `reset` and after `close`."""
        return self._session

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in a fresh sandbox.

        The variant is `options["variant"]`; else the constructor's; else the seed itself, so that
        `reset(seed=7)` plays variant 7; else drawn from `np_random`.

        Returns:
            observation: dict with `task` (str), `content` (str: what the setup printed) and `step`
            (int64, ()).
            info: see the class.

        Raises:
            DefinitionError: an option or the variant is wrong; the running episode, if any, goes
                on.
            SandboxError: no sandbox was to be had within the start deadline, after retries, or the
                setup failed; the message names the phase, and nothing is left behind.
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
            variant = int(self.np_random.integers(_DRAWN_VARIANTS))
        definition = self._definition(variant)
        self._expect_same_spaces(definition, variant)
        backend = get_backend(self._backend)
        self._leave_session()
        session = Session(definition, backend)
        # Set before it starts, so that a `close` from another thread finds it.
        self._begin(session, definition.task, variant)
        try:
            first = loop.run(session.start())
        except BaseException:
            self._leave_session()
            raise
        self._terminal.add(None, first.content)
        return self._observation(first), Turn(first).info(self._playing, reward_valid=True)

    def step(self, action: ActionLike) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Apply one action. The step that ends the episode also runs the final verifier.

        Returns:
            observation: as from `reset`.
            reward: see `RewardMode`; 0.0 where there is no verdict.
            terminated: the task ended by its own rules, or the agent broke its sandbox.
            truncated: a limit was reached, or something failed that is not the agent's fault.
            info: see the class.

        Raises:
            ActionError: the action was rejected, and the episode goes on (with `rejected="observe"`
                only if it is neither a dict, an `Action` nor a string).
            ResetNeeded: there is no episode.
            SessionClosedError: the episode is over, or was closed from another thread.
        """
        session = self._live_session()
        parsed, rejection = parsed_action(action)
        if rejection is not None and not self._tells_rejections:
            raise ActionError(rejection)
        last_chance = self._tells_rejections and self._rejected + 1 >= MAX_REJECTED
        turn = loop.run(advance(session, parsed, rejection, last_chance=last_chance))
        if turn.rejection and turn.result is None and not self._tells_rejections:
            raise ActionError(turn.rejection)
        self._rejected = self._rejected + 1 if turn.rejection else 0
        self._terminal.add(parsed or str(action), turn.observation.content)
        if turn.result is None:
            reward = 0.0 if self._reward is RewardMode.FINAL else turn.reward
            info = turn.info(self._playing, reward_valid=True)
            return self._observation(turn.observation), reward, False, False, info
        self._over = True
        result = turn.result
        usable = result.has_verdict or (self._reward is RewardMode.STEP and not turn.failed)
        reward = 0.0
        if usable and self._reward is not RewardMode.FINAL:
            reward += turn.reward
        if usable and self._reward is not RewardMode.STEP:
            reward += result.score
        self._terminal.note(
            f"[score {result.score:g}]"
            if result.has_verdict
            else f"[no verdict: {result.error_type}]"
        )
        # A task that ended by its own rules, but whose end was lost, has not come to its end.
        terminated = session.terminated and result.error_type not in _LOST
        info = turn.info(self._playing, reward_valid=usable)
        return self._observation(turn.observation), reward, terminated, not terminated, info

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the terminal.

        Returns:
            `ansi`: text without any control character of the agent's. `rgb_array`: uint8, shape
            (height, width, 3), always of the same size. None without a render mode.

        Raises:
            ResetNeeded: there is no episode.
            DependencyNotInstalled: Pillow is missing, for `rgb_array`.
        """
        if self._session is None:
            raise gymnasium_error.ResetNeeded("Call reset() before render().")
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: pass it to gymnasium.make.")
            return None
        return self._terminal.text() if self.render_mode == "ansi" else self._terminal.image()

    def close(self) -> None:
        """Give the sandbox back. May be called twice, after a failure, and from any thread."""
        self._leave_session()

    def __getstate__(self) -> dict[str, Any]:
        """All but the episode: a sandbox cannot be in two places."""
        fresh = {"_session": None, "_over": False, "_rejected": 0}
        return self.__dict__ | fresh | {"_terminal": Terminal()}

    # Inside.

    def _definition(self, variant: int) -> MultiTurnEnvironment:
        if isinstance(self._source, MultiTurnEnvironment):
            return self._source
        return self._source.definition(variant)

    def _expect_same_spaces(self, definition: MultiTurnEnvironment, variant: int) -> None:
        """An environment's spaces never change, so a variant must not need others.

        Raises:
            DefinitionError: it does.
        """
        space = cast(Dict, self.observation_space)
        task, content = cast(TextSpace, space["task"]), cast(TextSpace, space["content"])
        allowed = cast(ActionSpace, self.action_space).allowed
        if (
            definition.allowed_actions != allowed
            or len(definition.task) > task.max_length
            or _content_chars(definition) > content.max_length
        ):
            raise DefinitionError(
                f"Variant {variant} needs other spaces than the environment has: expected the "
                f"actions {', '.join(sorted(allowed))}, a task of at most {task.max_length} "
                "characters and no larger output_kb. Make it with variant= to play it alone."
            )

    def _begin(self, session: Session, task: str, variant: int) -> None:
        self._session = session
        self._task = task
        self._playing = variant
        self._over = False
        self._rejected = 0
        self._terminal = Terminal(task)

    def _live_session(self) -> Session:
        if self._session is None:
            raise gymnasium_error.ResetNeeded("Call reset() before step().")
        if self._over or self._session.state is not SessionState.RUNNING:
            raise SessionClosedError("The episode is over; call reset() to begin another.")
        return self._session

    def _leave_session(self) -> None:
        session, self._session = self._session, None
        # At the interpreter's exit all have been ended, and nobody would answer.
        if session is not None and not loop.is_over():
            loop.run(session.close())

    def _observation(self, observation: Observation) -> dict[str, Any]:
        return {
            "task": self._task,
            "content": observation.content,
            "step": np.array(observation.step, np.int64),
        }


def _content_chars(definition: MultiTurnEnvironment) -> int:
    return 2 * definition.output_kb * limits.KIB + _EXTRA_CHARS


def _checked_options(options: dict[str, Any] | None) -> int | None:
    if options is None:
        return None
    if not isinstance(options, dict):
        raise DefinitionError(f"reset options: expected a dict, got {type(options).__name__}.")
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
