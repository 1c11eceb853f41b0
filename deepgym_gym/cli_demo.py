"""`deepgym-gym demo`: many real episodes side by side, and what they cost."""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import fmean, median

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from deepgym_gym.actions import Observation
from deepgym_gym.cli_text import Exit, err, out, print_json, table
from deepgym_gym.client import AsyncDeepGym
from deepgym_gym.errors import DeepGymError, SandboxUnavailableError
from deepgym_gym.registry.loading import RegistryEnvironment
from deepgym_gym.results import RunResult


@dataclass
class Row:
    """What the episodes of one environment gave. Times in seconds."""

    name: str
    episodes: int = 0
    verdicts: int = 0
    scores: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def as_json(self, elapsed_s: float) -> dict[str, object]:
        """Return the row's figures; what there is nothing to compute from is None."""
        return {
            "environment": self.name,
            "episodes": self.episodes,
            "verdicts": self.verdicts,
            "mean_score": fmean(self.scores) if self.scores else None,
            "steps": len(self.steps),
            "steps_per_s": len(self.steps) / elapsed_s,
            "start_median_ms": median(self.starts) * 1000 if self.starts else None,
            "step_median_ms": median(self.steps) * 1000 if self.steps else None,
            "faults": self.faults,
        }


def demo(
    environments: list[RegistryEnvironment],
    *,
    episodes: int,
    parallel: int,
    backend: str,
    as_json: bool,
) -> Exit:
    """Play each environment's reference `episodes` times; `OK` if all of it was judged 1.0.

    Raises:
        SandboxUnavailableError: no sandbox is to be had here.
        DefinitionError: no backend has that name.
    """
    rows = {environment.name: Row(environment.name) for environment in environments}
    # Side by side, not one environment after the other: that is what a training run looks like.
    jobs = ((each, variant) for variant in range(episodes) for each in environments)
    columns = (
        TextColumn("playing {task.fields[env]:<16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("episodes"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err(), transient=True) as progress:
        bar = progress.add_task("", total=episodes * len(environments), env="")

        def done(environment: RegistryEnvironment) -> None:
            progress.update(bar, advance=1, env=environment.name)

        started = time.perf_counter()
        asyncio.run(_play_all(jobs, rows, parallel, backend, done))
        elapsed_s = time.perf_counter() - started
    results = [row.as_json(elapsed_s) for row in rows.values()]
    if as_json:
        print_json({"elapsed_s": elapsed_s, "parallel": parallel, "environments": results})
    else:
        _show(list(rows.values()), elapsed_s, parallel)
    good = all(
        row.verdicts == row.episodes and row.scores and min(row.scores) == 1.0
        for row in rows.values()
    )
    return Exit.OK if good else Exit.FAILED


async def _play_all(
    jobs: Iterator[tuple[RegistryEnvironment, int]],
    rows: dict[str, Row],
    parallel: int,
    backend: str,
    done: Callable[[RegistryEnvironment], None],
) -> None:
    client = AsyncDeepGym(mode=backend)

    async def worker() -> None:
        for environment, variant in jobs:
            await _play(client, environment, variant, rows[environment.name])
            done(environment)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(parallel):
                group.create_task(worker())
    except BaseExceptionGroup as failed:
        # The workers mostly fail for one and the same reason.
        raise failed.exceptions[0] from None


async def _play(
    client: AsyncDeepGym, environment: RegistryEnvironment, variant: int, row: Row
) -> None:
    definition, player = environment.definition(variant), environment.reference(variant)
    row.episodes += 1
    try:
        async with client.session(definition) as session:
            started = time.perf_counter()
            observation: Observation = await session.start()
            row.starts.append(time.perf_counter() - started)
            done = False
            while not done:
                action = player(observation)
                started = time.perf_counter()
                observation, _, done = await session.step(action)
                row.steps.append(time.perf_counter() - started)
            result: RunResult = await session.score()
    except SandboxUnavailableError:
        raise
    except DeepGymError as error:
        row.faults.append(f"variant {variant}: {error}")
        return
    if result.has_verdict:
        row.verdicts += 1
        row.scores.append(result.score)
    if not (result.has_verdict and result.passed):
        row.faults.append(f"variant {variant}: {result.error_type or ''} {result.output}".rstrip())


def _show(rows: list[Row], elapsed_s: float, parallel: int) -> None:
    console = out()
    names = ("episodes", "mean score", "verdicts", "steps/s", "start ms", "step ms")
    shown = table(
        f"Reference agents in real sandboxes, {parallel} side by side",
        "environment",
        *names,
        numbers=names,
    )
    for row in rows:
        shown.add_row(*_cells(row, elapsed_s))
    shown.add_section()
    total = Row(
        "all",
        sum(row.episodes for row in rows),
        sum(row.verdicts for row in rows),
        [score for row in rows for score in row.scores],
        [start for row in rows for start in row.starts],
        [step for row in rows for step in row.steps],
    )
    shown.add_row(*_cells(total, elapsed_s), style="bold")
    console.print(shown)
    console.print(
        Text(
            f"{total.episodes} episodes and {len(total.steps)} steps in {elapsed_s:.1f} s on "
            f"{len(os.sched_getaffinity(0))} cores. start ms and step ms are medians of what an "
            "agent waits while the others work.",
            "dim",
        )
    )
    for row in rows:
        for fault in row.faults[:3]:
            console.print(Text.assemble(("fault ", "bold red"), f"{row.name}: {fault}"))


def _cells(row: Row, elapsed_s: float) -> tuple[str, ...]:
    def text(centre: Callable[[Iterable[float]], float], values: list[float], form: str) -> str:
        return format(centre(values), form) if values else "-"

    return (
        row.name,
        str(row.episodes),
        text(fmean, row.scores, ".2f"),
        str(row.verdicts),
        f"{len(row.steps) / elapsed_s:.1f}",
        text(median, [start * 1000 for start in row.starts], ".1f"),
        text(median, [step * 1000 for step in row.steps], ".1f"),
    )
