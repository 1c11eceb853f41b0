"""`deepgym-gym run`: one episode, shown as it happens."""

import sys
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from deepgym_gym.actions import Action, Observation
from deepgym_gym.cli_agents import Agent, open_agent, spelled
from deepgym_gym.cli_text import CommandFailedError, Exit, err, out, print_json, shown, verdict_text
from deepgym_gym.client import DeepGym, SyncSession
from deepgym_gym.errors import ActionError, SandboxError, VerifierError
from deepgym_gym.playing import MAX_REJECTED, rejected_observation
from deepgym_gym.registry.loading import RegistryEnvironment
from deepgym_gym.results import RunResult, Trajectory
from deepgym_gym.session import SessionState


def run(
    environment: RegistryEnvironment,
    *,
    agent: str,
    variant: int,
    backend: str,
    agent_timeout_s: float,
    full: bool,
    as_json: bool,
) -> Exit:
    """Play one episode and say how it was judged; `OK` only for a passed verdict.

    Raises:
        CommandFailedError: the agent's program failed.
        DeepGymError: the environment or the sandbox is not to be had.
    """
    console = err() if as_json else out()
    definition = environment.definition(variant)
    client = DeepGym(mode=backend)
    console.print(Rule(Text(f"{environment.info.id}, variant {variant}", "bold")))
    console.print(shown(definition.task, full=True), soft_wrap=True)
    console.print(
        Text(
            f"\nActions: {', '.join(sorted(definition.allowed_actions))}. "
            f"Steps: {definition.max_steps or 'no limit'}. Agent: {agent}.",
            "dim",
        )
    )
    with (
        open_agent(agent, environment, variant, console, agent_timeout_s) as player,
        client.session(definition) as session,
    ):
        # Who types sees the action already.
        screen = Screen(console, full, echo=not (agent == "human" and sys.stdin.isatty()))
        observation, reward = _play(session, player, screen)
        result = session.score()
        player.end(observation, reward)
        trajectory = session.trajectory
    _show_result(console, result)
    if as_json:
        print_json(_as_json(environment, variant, agent, result, trajectory))
    return Exit.OK if result.has_verdict and result.passed else Exit.FAILED


class Screen:
    """Shows what happens in an episode."""

    def __init__(self, console: Console, full: bool, *, echo: bool) -> None:
        self._console = console
        self._full = full
        self._echo = echo

    def observation(self, observation: Observation, reward: float | None) -> None:
        """Show what the agent is told."""
        if observation.content.strip():
            text = shown(observation.content.rstrip("\n"), full=self._full)
            self._console.print(text, soft_wrap=True)
        notes = []
        code = (observation.metadata or {}).get("exit_code")
        if code:
            notes.append(f"exit code {code}")
        if reward:
            notes.append(f"reward {reward:g}")
        if notes:
            self._console.print(Text(", ".join(notes), "dim"))

    def action(self, step: int, action: Action) -> None:
        """Show what the agent does."""
        if not self._echo:
            return
        line = Text.assemble((f"\n[{step}] {spelled(action)} ", "bold cyan"))
        separator = "\n" if "\n" in action.content.rstrip("\n") else ""
        line.append(separator)
        line.append_text(shown(action.content.rstrip("\n"), full=self._full))
        self._console.print(line, soft_wrap=True)

    def rejected(self, error: ActionError) -> None:
        """Show why an action did not count."""
        self._console.print(Text(f"rejected: {error}", "yellow"), soft_wrap=True)

    def failed(self, error: Exception) -> None:
        """Show what ended the episode."""
        self._console.print(Text(f"the episode ended: {error}", "yellow"), soft_wrap=True)


def _play(session: SyncSession, player: Agent, screen: Screen) -> tuple[Observation, float | None]:
    observation: Observation = session.start()
    reward: float | None = None
    rejected = 0
    screen.observation(observation, reward)
    # A rejected write may have been the last step, which no observation says.
    while session.state is SessionState.RUNNING:
        try:
            action = player.act(observation, reward)
            if action is None:
                break
            screen.action(observation.step + 1, action)
            observation, reward, _ = session.step(action)
        except ActionError as error:
            rejected += 1
            screen.rejected(error)
            if rejected >= MAX_REJECTED:
                raise CommandFailedError(
                    f"The agent's last {rejected} answers were no usable actions. Expected one "
                    'JSON line such as {"action_type": "bash", "content": "ls"}.'
                ) from None
            observation = rejected_observation(error, session.step_number)
        except (SandboxError, VerifierError) as error:
            # Whose fault it was is in the result that `score` returns.
            screen.failed(error)
            break
        else:
            rejected = 0
            screen.observation(observation, reward)
    return observation, reward


def _show_result(console: Console, result: RunResult) -> None:
    console.print()
    # A rule without a title keeps its line character where the encoding lacks it.
    console.print(Rule(Text("result", "dim"), style="dim"))
    console.print(verdict_text(result))
    for name, value in (result.reward_components or {}).items():
        console.print(Text(f"  {name}: {value:g}"))
    if result.output.strip():
        console.print(shown(result.output.rstrip("\n")), soft_wrap=True)


def _as_json(
    environment: RegistryEnvironment,
    variant: int,
    agent: str,
    result: RunResult,
    trajectory: Trajectory,
) -> dict[str, Any]:
    return {
        "environment": environment.info.id,
        "variant": variant,
        "agent": agent,
        "result": {**result.model_dump(mode="json"), "has_verdict": result.has_verdict},
        "trajectory": trajectory.model_dump(mode="json"),
    }
