"""`deepgym-gym check`: each environment proven by real episodes, one line per environment."""

from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from deepgym_gym.cli_text import Exit, err, out, print_json, table
from deepgym_gym.registry.checking import CheckReport, check_environment

# Of one environment; the rest is counted.
SHOWN_FAILURES = 10


def check(
    names: Sequence[str | Path], *, backend: str, variants: list[int] | None, as_json: bool
) -> Exit:
    """Check the environments and show what was found; `OK` only if no rule is broken.

    Raises:
        DeepGymError: no such environment, or no sandbox is to be had.
    """
    reports: list[CheckReport] = []
    columns = (TextColumn("checking {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err(), transient=True) as progress:
        bar = progress.add_task("", total=len(names))
        for name in names:
            progress.update(bar, description=str(name))
            reports.append(check_environment(name, backend, variants))
            progress.advance(bar)
    if as_json:
        print_json([_as_json(report) for report in reports])
    else:
        _show(reports)
    return Exit.OK if all(report.ok for report in reports) else Exit.FAILED


def _show(reports: list[CheckReport]) -> None:
    console = out()
    shown = table("Checks", "environment", "variants", "rules", "broken", numbers=("broken",))
    shown.add_column("start", justify="right")
    shown.add_column("verifier", justify="right")
    for report in reports:
        broken = len(report.failures)
        shown.add_row(
            report.name,
            str(len(report.variants)),
            str(len({finding.rule for finding in report.findings})),
            Text(str(broken), "bold red" if broken else "green"),
            f"{report.setup_s * 1000:.0f} ms",
            f"{report.verifier_s * 1000:.0f} ms",
        )
    console.print(shown)
    for report in reports:
        for finding in report.failures[:SHOWN_FAILURES]:
            console.print(Text.assemble(("broken ", "bold red"), f"{report.name}: {finding}"))
        hidden = len(report.failures) - SHOWN_FAILURES
        if hidden > 0:
            console.print(Text(f"{report.name}: {hidden} more; --json shows all", "dim"))
        for note in report.notes:
            console.print(Text(f"note: {report.name}: {note}", "dim"))
    played = sum(len(report.variants) for report in reports)
    console.print(
        f"Environments: {len(reports)}, variants: {played}. "
        + ("All rules hold." if all(report.ok for report in reports) else "Some rules are broken.")
    )


def _as_json(report: CheckReport) -> dict[str, object]:
    return {
        "environment": report.name,
        "backend": report.backend,
        "ok": report.ok,
        "variants": list(report.variants),
        "findings": [
            {
                "rule": finding.rule,
                "ok": finding.ok,
                "detail": finding.detail,
                "variant": finding.variant,
            }
            for finding in report.findings
        ],
        "notes": list(report.notes),
        "setup_s": report.setup_s,
        "verifier_s": report.verifier_s,
    }
