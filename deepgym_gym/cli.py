"""The command line: `deepgym-gym list | show | run | check | doctor | demo`.

Here are the words and options of each command; what a command does is in the file `cli_<name>.py`,
imported when it is used.
"""

import io
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.text import Text

import deepgym_gym
from deepgym_gym.cli_text import CommandFailedError, Exit, err, out, print_json, shown, table
from deepgym_gym.errors import DeepGymError, DefinitionError, SandboxUnavailableError, SetupError
from deepgym_gym.registry import find_environment, list_environments
from deepgym_gym.registry.loading import RegistryEnvironment

EPILOG = (
    "Exit codes: 0 all went well; 1 an episode was not passed or a check failed; "
    "2 wrong usage or an unknown name; 3 no sandbox can be had here; "
    "130 interrupted; 143 terminated."
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    # An unexpected error is a bug of ours: Python's own traceback says most, and shows no values.
    pretty_exceptions_enable=False,
    epilog=EPILOG,
    help="Gymnasium environments for agents that act in real, isolated sandboxes.",
)

Environment = Annotated[str, typer.Argument(metavar="ENV", help="A name, or a folder's path.")]
Backend = Annotated[str, typer.Option(help="Where to run: auto, namespace or local.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


def main() -> None:
    """Run the command line; every expected error is one message and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Agents may say what the terminal's encoding cannot.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # As Ctrl-C does: agents and sandboxes are ended on the way out.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except CommandFailedError as error:
        _fail(str(error), error.code)
    except SandboxUnavailableError as error:
        _fail(f"{error}\nTo see what is missing: deepgym-gym doctor", Exit.NO_SANDBOX)
    except DefinitionError as error:
        hint = "" if "deepgym-gym" in str(error) else "\nFor the options: deepgym-gym --help"
        _fail(f"{error}{hint}", Exit.USAGE)
    except SetupError as error:
        _fail(f"{error}\nTo prove an environment: deepgym-gym check ENV", Exit.FAILED)
    except DeepGymError as error:
        _fail(f"{type(error).__name__}: {error}\nThen try: deepgym-gym doctor", Exit.FAILED)


def _terminate(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _fail(message: str, code: Exit) -> None:
    err().print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)
    sys.exit(code)


def _find(name: str) -> RegistryEnvironment:
    if "/" in name and Path(name).is_dir():
        return find_environment(Path(name))
    try:
        return find_environment(name)
    except DefinitionError as error:
        raise DefinitionError(f"{error}\nTo see them all: deepgym-gym list") from None


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(deepgym_gym.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command("list", epilog=EPILOG)
def list_command(as_json: AsJson = False) -> None:
    """List the environments."""
    infos = [find_environment(name).info for name in list_environments()]
    if as_json:
        print_json(
            [
                {
                    "id": info.id,
                    "title": info.title,
                    "summary": info.summary,
                    "difficulty": info.difficulty,
                    "domain": info.domain,
                    "tags": list(info.tags),
                }
                for info in infos
            ]
        )
        return
    made = table("Environments", "id", "difficulty", "about")
    for info in infos:
        made.add_row(info.id, info.difficulty, Text(info.summary))
    out().print(made)
    out().print(Text("More about one: deepgym-gym show ENV", "dim"))


@app.command(epilog=EPILOG)
def show(
    env: Environment,
    variant: Annotated[int, typer.Option(help="Which world, from 0.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show one environment: its limits, and the task as the agent reads it."""
    environment = _find(env)
    definition, info = environment.definition(variant), environment.info
    facts = {
        "id": info.id,
        "title": info.title,
        "summary": info.summary,
        "difficulty": definition.difficulty,
        "domain": info.domain,
        "tags": list(info.tags),
        "named_variants": environment.table_size,
        "allowed_actions": sorted(definition.allowed_actions),
        "persistent_shell": definition.persistent_shell,
        "max_steps": definition.max_steps,
        "timeout_per_step": definition.timeout_per_step,
        "reward": environment.reward,
        "step_rewards": definition.step_verifier_code is not None,
        "memory_mb": definition.memory_mb,
        "disk_mb": definition.disk_mb,
        "pids": definition.pids,
        "folder": str(info.path),
    }
    if as_json:
        print_json({**facts, "variant": variant, "task": definition.task})
        return
    console = out()
    made = table(info.title, "", "")
    made.show_header = False
    for name, value in facts.items():
        made.add_row(name, Text(_told(value)))
    console.print(made)
    console.print(Text(f"\nThe task of variant {variant}\n", "bold"))
    console.print(shown(definition.task, full=True), soft_wrap=True)
    console.print(Text(f"\nTo play it yourself: deepgym-gym run {env} --agent human", "dim"))


def _told(value: object) -> str:
    match value:
        case None:
            return "no limit"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case list():
            return ", ".join(str(each) for each in value)
    return str(value)


@app.command(
    epilog="A COMMAND gets one JSON line on stdin for each observation and answers with one JSON "
    'line, such as {"action_type": "bash", "content": "ls"}, until a line has "done": true. '
    + EPILOG
)
def run(
    env: Environment,
    agent: Annotated[
        str, typer.Option(help="reference, idle, random, human, or the COMMAND of a program.")
    ] = "reference",
    variant: Annotated[int, typer.Option(help="Which world, from 0.")] = 0,
    backend: Backend = "auto",
    agent_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a program has for each action.")
    ] = 60.0,
    full: Annotated[bool, typer.Option("--full", help="Do not cut long texts.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play one episode and show it; 0 if it was passed."""
    from deepgym_gym import cli_run

    code = cli_run.run(
        _find(env),
        agent=agent,
        variant=variant,
        backend=backend,
        agent_timeout_s=agent_timeout,
        full=full,
        as_json=as_json,
    )
    raise typer.Exit(code)


@app.command(epilog=EPILOG)
def check(
    envs: Annotated[
        list[str] | None, typer.Argument(metavar="[ENV]...", help="All of them if left out.")
    ] = None,
    variants: Annotated[
        str, typer.Option(help="Which worlds, such as 0,3,9; the named and two more if left out.")
    ] = "",
    backend: Backend = "auto",
    as_json: AsJson = False,
) -> None:
    """Prove environments by playing them: reference 1, idle 0, hacks 0, equal worlds."""
    from deepgym_gym import cli_check

    try:
        numbers = [int(word) for word in variants.split(",")] if variants else None
    except ValueError:
        raise typer.BadParameter(
            f"expected numbers such as 0,3,9, got {variants!r}", param_hint="--variants"
        ) from None
    names = [_find(env).folder for env in envs or list_environments()]
    raise typer.Exit(cli_check.check(names, backend=backend, variants=numbers, as_json=as_json))


@app.command(epilog=EPILOG)
def doctor(as_json: AsJson = False) -> None:
    """Say what this machine can do, what is missing, and the remedy."""
    from deepgym_gym.sandbox.doctor import diagnose

    checks = diagnose()
    works = all(each.ok for each in checks if each.name.endswith("backend"))
    if as_json:
        print_json(
            [
                {"name": each.name, "ok": each.ok, "detail": each.detail, "remedy": each.remedy}
                for each in checks
            ]
        )
    else:
        made = table("Doctor", "check", "", "what was found")
        for each in checks:
            mark = Text("ok", "green") if each.ok else Text("missing", "bold red")
            found = Text(each.detail)
            if each.remedy:
                found.append(f"\n{each.remedy}", "bold yellow")
            made.add_row(each.name, mark, found)
        out().print(made)
        out().print(
            "Isolated sandboxes work here."
            if works
            else "No isolated sandbox can be had here: follow the first remedy above."
        )
    if not works:
        raise typer.Exit(Exit.NO_SANDBOX)


@app.command(epilog=EPILOG)
def demo(
    envs: Annotated[
        list[str] | None, typer.Argument(metavar="[ENV]...", help="All of them if left out.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each environment.")] = 8,
    parallel: Annotated[int, typer.Option(min=1, help="Episodes side by side.")] = 8,
    backend: Backend = "auto",
    as_json: AsJson = False,
) -> None:
    """Play real episodes of several environments side by side and show what they cost."""
    from deepgym_gym import cli_demo

    code = cli_demo.demo(
        [_find(env) for env in envs or list_environments()],
        episodes=episodes,
        parallel=parallel,
        backend=backend,
        as_json=as_json,
    )
    raise typer.Exit(code)
