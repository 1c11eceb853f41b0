"""How much a session costs over what the kernel itself needs.

    python benchmarks/bench_session.py [--runs 150] [--live 1000] [--json FILE]

Everything is measured in turn in one process, so that a busy moment hits floors and figures alike.
B is `posix_spawn` of `bash -c true`, P a cold `python3 -I` that imports json and pathlib.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import floors
from deepgym_gym import loop
from deepgym_gym.actions import Action, ActionType
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.env import SandboxEnv
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.session import Session

VERIFIER = 'import json\nprint(json.dumps({"score": 1.0, "passed": True}))\n'
DEFINITION = MultiTurnEnvironment(task="Measure.", final_verifier_code=VERIFIER, max_steps=None)
BASH = Action(action_type=ActionType.BASH, content="true")
CODE = Action(action_type=ActionType.CODE, content="pass")
WRITE = Action(action_type=ActionType.WRITE_FILE, path="notes.txt", content="hello\n")
# Not counted: the first runs warm caches, the warden and the lazily imported modules.
WARM_UP = 10


async def episode(watch: floors.Stopwatch, *, counted: bool) -> None:
    """One session from start to close, each verb timed."""
    watch = watch if counted else floors.Stopwatch()
    session = Session(DEFINITION, get_backend("namespace"))
    started = time.perf_counter_ns()
    await session.start()
    watch.add("start", started)
    for name, action in (("bash", BASH), ("code", CODE), ("write_file", WRITE)):
        for _ in range(3):
            started = time.perf_counter_ns()
            await session.step(action)
            watch.add(name, started)
    started = time.perf_counter_ns()
    result = await session.score()
    watch.add("score", started)
    if result.score != 1.0 or not result.has_verdict:
        raise RuntimeError(f"the verifier gave {result}")
    started = time.perf_counter_ns()
    await session.close()
    watch.add("close", started)


def gym_steps(watch: floors.Stopwatch, count: int) -> None:
    """The same step through `SandboxEnv` and through its session, in turn."""
    env = SandboxEnv(DEFINITION, backend="namespace")
    env.reset(seed=0)
    session = env.session
    if session is None:
        raise RuntimeError("reset left no session")
    action = {"action_type": "bash", "content": "true"}
    for turn in range(count + WARM_UP):
        counted = watch if turn >= WARM_UP else floors.Stopwatch()
        counted.time("env step", lambda: env.step(action))
        counted.time("session step", lambda: loop.run(session.step(BASH)))
    env.close()


async def open_sessions(count: int) -> list[Session]:
    sessions = [Session(DEFINITION, get_backend("namespace")) for _ in range(count)]
    # A few at a time: the warden makes one box after the other anyway.
    gate = asyncio.Semaphore(8)

    async def start(session: Session) -> None:
        async with gate:
            await session.start()

    await asyncio.gather(*(start(session) for session in sessions))
    return sessions


async def close_all(sessions: list[Session]) -> None:
    await asyncio.gather(*(session.close() for session in sessions))


async def random_steps(
    watch: floors.Stopwatch, name: str, sessions: list[Session], count: int
) -> None:
    chosen = random.Random(0)  # noqa: S311  # no secret depends on it
    for _ in range(count):
        session = chosen.choice(sessions)
        started = time.perf_counter_ns()
        await session.step(BASH)
        watch.add(name, started)


def available_kib() -> int:
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))


def memory_each_mib(count: int) -> float:
    """System memory that an idle session takes: processes, kernel objects and page tables alike."""
    loop.run(close_all(loop.run(open_sessions(8))))
    before = available_kib()
    sessions = loop.run(open_sessions(count))
    after = available_kib()
    loop.run(close_all(sessions))
    return (before - after) / 1024 / count


def measure(runs: int, live: int) -> dict[str, object]:
    watch = floors.Stopwatch()
    for turn in range(runs + WARM_UP):
        counted = turn >= WARM_UP
        floor_watch = watch if counted else floors.Stopwatch()
        floor_watch.time("B", floors.bash)
        floor_watch.time("P", floors.cold_python)
        loop.run(episode(watch, counted=counted))
    gym_steps(watch, runs)
    each_mib = memory_each_mib(min(200, live))

    one = loop.run(open_sessions(1))
    loop.run(random_steps(floors.Stopwatch(), "warm-up", one, WARM_UP))
    loop.run(random_steps(watch, "step, 1 live", one, runs))
    more = loop.run(open_sessions(live - 1))
    loop.run(random_steps(watch, f"step, {live} live", one + more, max(runs, 300)))
    loop.run(random_steps(watch, "step, 1 of them again", one, runs))
    loop.run(close_all(one + more))

    samples = watch.samples()
    b, p = samples["B"].median, samples["P"].median
    gym = samples["env step"].median - samples["session step"].median
    ratio_live = samples[f"step, {live} live"].median / samples["step, 1 live"].median
    # name, measured, bound, unit
    figures = [
        ("start to first observation", samples["start"].median / b, 7.0, "B"),
        ("step bash true", (samples["bash"].median - 0.5) / b, 2.2, "B, less 0.5 ms"),
        ("step code pass", samples["code"].median / b, 3.5, "B"),
        ("write_file", samples["write_file"].median / b, 0.5, "B"),
        ("score, trivial verifier", samples["score"].median / p, 0.5, "P"),
        ("close", samples["close"].median / b, 2.0, "B"),
        ("Gymnasium's layer, a step", gym, 0.3, "ms"),
        (f"idle session at {min(200, live)} live", each_mib, 3.0, "MiB"),
        (f"step with {live} live, over 1 live", ratio_live, 2.0, "x"),
    ]
    return {
        "machine": floors.machine(),
        "runs": runs,
        "live": live,
        "samples": {
            s.name: {"n": len(s.values), "median_ms": s.median, "p99_ms": s.p99}
            for s in samples.values()
        },
        "figures": [
            {"name": name, "value": value, "bound": bound, "unit": unit, "within": value <= bound}
            for name, value, bound, unit in figures
        ],
    }


def show(report: dict[str, object]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(", ".join(f"{key} {value}" for key, value in report["machine"].items()))  # type: ignore[attr-defined]  # a plain report
    table = Table("operation", "n", "median ms", "p99 ms", title="Durations")
    for name, row in report["samples"].items():  # type: ignore[attr-defined]  # as above
        table.add_row(name, str(row["n"]), f"{row['median_ms']:.3f}", f"{row['p99_ms']:.3f}")
    console.print(table)
    table = Table("figure", "measured", "bound", "unit", "", title="Figures")
    for row in report["figures"]:  # type: ignore[attr-defined]  # as above
        mark = "[green]within[/]" if row["within"] else "[red]over[/]"
        table.add_row(row["name"], f"{row['value']:.2f}", f"{row['bound']:g}", row["unit"], mark)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a session costs.")
    parser.add_argument("--runs", type=int, default=150, help="runs of each operation")
    parser.add_argument("--live", type=int, default=1000, help="sessions live at once")
    parser.add_argument("--json", type=Path, help="also write the report here")
    arguments = parser.parse_args()
    report = measure(arguments.runs, arguments.live)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    show(report)


if __name__ == "__main__":
    main()
