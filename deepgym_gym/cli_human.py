"""A person as the agent: a prompt in the terminal that turns lines into actions."""

import sys

from rich.console import Console
from rich.text import Text

from deepgym_gym.actions import Action, ActionType, Observation, parse_action
from deepgym_gym.definition import MultiTurnEnvironment

HELP = """\
What you type is run as one action of the type that the prompt shows.
Lines that begin with a colon are for the prompt:
  :bash, :code     run shell commands, or Python, from now on
  :bash TEXT       run TEXT as one such action (:code TEXT as well)
  :multi           several lines as one action; a line with a single . ends it
  :write PATH      write a file: type its lines; a line with a single . ends it
  :task            show the task again
  :done            end the episode and see the score (Ctrl-D does the same)
  :help            this text
Ctrl-C gives up without a score. To send a text that begins with a colon, or a line that
is a single dot, type the colon or the dot twice."""


class Human:
    """A person at the terminal. Reads lines from stdin, which need not be a terminal.

    Args:
        definition: of the episode; says which actions there are.
        console: where the prompt and the help go.
    """

    def __init__(self, definition: MultiTurnEnvironment, console: Console) -> None:
        self._definition = definition
        self._console = console
        self._allowed = definition.allowed_actions
        runnable = [kind for kind in (ActionType.BASH, ActionType.CODE) if kind in self._allowed]
        self._kind: ActionType | None = runnable[0] if runnable else None
        self._greeted = False
        if sys.stdin.isatty():
            # Line editing and history for `input`.
            import readline  # noqa: F401

    def act(self, observation: Observation, reward: float | None) -> Action | None:
        """Ask until there is an action. None at the end of input where `done` is not allowed.

        Raises:
            ActionError: what was typed makes no action, such as an absolute path.
        """
        if not self._greeted:
            self._greeted = True
            self._say("Type a command, :help for help, Ctrl-D to end the episode.")
        while True:
            try:
                line = self._ask(self._prompt(observation))
            except EOFError:
                self._console.print()
                return self._done()
            word, _, rest = line.partition(" ")
            if not line.strip():
                continue
            if line.startswith("::") or not line.startswith(":"):
                text = line[1:] if line.startswith("::") else line
                if self._kind is not None:
                    return Action(action_type=self._kind, content=text)
                self._say("This environment runs no commands. Try :write PATH, :done or :help.")
            elif word in (":bash", ":code"):
                kind = ActionType(word[1:])
                if rest.strip():
                    return Action(action_type=kind, content=rest)
                if kind in self._allowed:
                    self._kind = kind
                else:
                    self._say(f"{kind} is not allowed here.")
            elif word == ":multi" and self._kind is not None:
                return Action(action_type=self._kind, content=self._block())
            elif word == ":write" and rest.strip():
                path = rest.strip()
                return parse_action(
                    {"action_type": "write_file", "path": path, "content": self._block()}
                )
            elif word == ":task":
                self._say(self._definition.task)
            elif word == ":done":
                return self._done()
            else:
                if word != ":help":
                    self._say(f"No such command: {line}")
                self._say(HELP)

    def end(self, observation: Observation, reward: float | None) -> None:
        """The person sees it on the screen."""

    def _prompt(self, observation: Observation) -> str:
        limit = self._definition.max_steps
        of = f"/{limit}" if limit is not None else ""
        return f"[{observation.step + 1}{of}] {self._kind or ':write, :done'}> "

    def _done(self) -> Action | None:
        if ActionType.DONE not in self._allowed:
            return None
        return Action(action_type=ActionType.DONE)

    def _block(self) -> str:
        self._say("Type the lines; a line with a single . ends them.")
        lines = []
        while True:
            try:
                line = self._ask("| ")
            except EOFError:
                break
            if line == ".":
                break
            lines.append(line[1:] if line == ".." else line)
        return "".join(f"{line}\n" for line in lines)

    def _ask(self, prompt: str) -> str:
        if sys.stdin.isatty() and not self._console.stderr:
            # readline must know the prompt, or it paints over it when the line is edited.
            return input(prompt)
        self._console.print(Text(prompt), end="")
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.removesuffix("\n")

    def _say(self, text: str) -> None:
        self._console.print(Text(text, "dim"), soft_wrap=True)
