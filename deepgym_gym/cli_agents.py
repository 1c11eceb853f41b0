"""Who acts in `deepgym-gym run`: a scripted agent, a person, or a program that speaks JSON lines.

The protocol of a program: for each observation it gets one JSON line on stdin and answers with one
JSON line on stdout, the action. Its stderr is passed on. An observation has the fields of
`Observation` and `task`, `reward` (of the last step; null for the first observation) and
`allowed_actions`. The last line has `"done": true` and wants no answer; stdin is closed after it.
A program that exits early, is late, or says nothing usable again and again has failed: that ends
the command and is no verdict.
"""

import json
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from rich.console import Console

from deepgym_gym.actions import Action, Observation, parse_action
from deepgym_gym.cli_human import Human
from deepgym_gym.cli_text import CommandFailedError, Exit, visible
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.limits import MAX_ACTION_CHARS, MIB
from deepgym_gym.registry.loading import RegistryEnvironment
from deepgym_gym.registry.players import Player, idle, random_player

SCRIPTED = ("reference", "idle", "random", "human")
# JSON may spell each character of an action's text as \uXXXX.
MAX_LINE_BYTES = 6 * MAX_ACTION_CHARS + MIB
# After the last line a program may still save what it learned.
FAREWELL_S = 5.0


class Agent(Protocol):
    """What `run` asks of whoever acts."""

    def act(self, observation: Observation, reward: float | None) -> Action | None:
        """Return the next action; None stops acting, and the episode is scored as it is.

        Raises:
            ActionError: what it said is no action; it is told so and asked again.
            CommandFailedError: it has failed.
        """
        ...

    def end(self, observation: Observation, reward: float | None) -> None:
        """Hear the last observation."""
        ...


class Scripted:
    """A player of the registry as an agent."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def act(self, observation: Observation, reward: float | None) -> Action | None:
        """Return the script's next action."""
        return self._player(observation)

    def end(self, observation: Observation, reward: float | None) -> None:
        """Scripts do not care."""


class Program:
    """A program that is fed observations and answers with actions, one JSON line each.

    Args:
        command: split as a shell would, run without one.
        definition: of the episode; its task goes into each line.
        timeout_s: for each answer.

    Raises:
        CommandFailedError: it cannot be started.
    """

    def __init__(self, command: str, definition: MultiTurnEnvironment, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._about = {
            "task": definition.task,
            "allowed_actions": sorted(definition.allowed_actions),
        }
        self._unread = b""
        self._name = command
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise CommandFailedError(
                f"--agent {command!r}: {error}. Expected {', '.join(SCRIPTED)} or a program and "
                "its arguments, quoted as for a shell.",
                Exit.USAGE,
            ) from None
        if not words:
            raise CommandFailedError("--agent is empty. Try: --agent reference", Exit.USAGE)
        try:
            # A session of its own, so that all that it starts can be ended with it.
            self._process = subprocess.Popen(  # noqa: S603  # it is the user's own program
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandFailedError(
                f"--agent {command!r} cannot be started: {error.strerror}. "
                f"Expected {', '.join(SCRIPTED)} or a program and its arguments.",
                Exit.USAGE,
            ) from None
        if self._process.stdin is None or self._process.stdout is None:
            raise CommandFailedError(f"--agent {command!r} has no pipes")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)

    def act(self, observation: Observation, reward: float | None) -> Action | None:
        """Send the observation and return the answer.

        Raises:
            ActionError: the answer is no action.
            CommandFailedError: it exited, was late, or sent a line without end.
        """
        self._exchange(observation, reward, answer=True)
        line, _, self._unread = self._unread.partition(b"\n")
        return parse_action(line.decode("utf-8", "replace"))

    def end(self, observation: Observation, reward: float | None) -> None:
        """Send the last observation, close the program's stdin and give it a moment to finish."""
        last = observation.model_copy(update={"done": True})
        # The episode is over: how the program leaves changes nothing.
        with suppress(CommandFailedError, OSError, subprocess.TimeoutExpired):
            self._exchange(last, reward, answer=False)
            self._stdin.close()
            self._process.wait(FAREWELL_S)

    def close(self) -> None:
        """End the program and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._stdin, self._stdout):
            # Closing flushes, which fails where the program is gone.
            with suppress(OSError):
                stream.close()

    def _exchange(self, observation: Observation, reward: float | None, *, answer: bool) -> None:
        """Write one line, and read until there is one where an `answer` is wanted.

        Both at once: a program may write while it should read.
        """
        fields = {**observation.model_dump(mode="json"), "reward": reward, **self._about}
        unsent = memoryview(json.dumps(fields).encode() + b"\n")
        deadline = time.monotonic() + (self._timeout_s if answer else FAREWELL_S)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            while unsent or (answer and b"\n" not in self._unread):
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready and time.monotonic() >= deadline:
                    raise CommandFailedError(
                        f"The agent {self._name!r} gave no action within {self._timeout_s:g} s. "
                        "Give it longer with --agent-timeout."
                    )
                for key, _ in ready:
                    if key.fileobj is self._stdout:
                        self._receive()
                    elif unsent:
                        unsent = unsent[self._send(unsent) :]
                    if not unsent and self._stdin in selector.get_map():
                        selector.unregister(self._stdin)

    def _send(self, data: memoryview) -> int:
        try:
            return os.write(self._stdin.fileno(), data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise self._gone() from None

    def _receive(self) -> None:
        try:
            data = os.read(self._stdout.fileno(), 1 << 16)
        except BlockingIOError:
            return
        if not data:
            raise self._gone()
        self._unread += data
        if len(self._unread) > MAX_LINE_BYTES:
            raise CommandFailedError(
                f"The agent {self._name!r} sent more than {MAX_LINE_BYTES} bytes for one action. "
                'Expected one JSON line, such as {"action_type": "bash", "content": "ls"}.'
            )

    def _gone(self) -> CommandFailedError:
        try:
            how = f"exited with code {self._process.wait(FAREWELL_S)}"
        except subprocess.TimeoutExpired:
            how = "closed its pipes"
        return CommandFailedError(
            f"The agent {self._name!r} {how} before it answered. It is asked for one JSON line "
            "for each observation until one has done: true."
        )


@contextmanager
def open_agent(
    word: str,
    environment: RegistryEnvironment,
    variant: int,
    console: Console,
    timeout_s: float,
) -> Iterator[Agent]:
    """Make the agent that `--agent` names, and end it afterwards.

    Raises:
        CommandFailedError: a program cannot be started.
        DefinitionError: the environment has no reference.
    """
    definition = environment.definition(variant)
    if word == "human":
        yield Human(definition, console)
    elif word == "reference":
        yield Scripted(environment.reference(variant))
    elif word == "idle":
        yield Scripted(idle())
    elif word == "random":
        yield Scripted(random_player(variant, definition.task))
    else:
        program = Program(word, definition, timeout_s)
        try:
            yield program
        finally:
            program.close()


def spelled(action: Action) -> str:
    """Say an action's kind as a prompt, such as `bash>` or `write_file notes.txt>`."""
    return visible(
        f"{action.action_type} {action.path}>" if action.path else f"{action.action_type}>"
    )
