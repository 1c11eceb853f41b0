"""The benchmark runs and reports every figure; what the figures are is not a test's business."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_bench_session_reports_each_figure(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "benchmarks/bench_session.py", "--runs", "3", "--live", "4"]

    done = subprocess.run(
        [*command, "--json", str(report)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    measured = json.loads(report.read_text())
    assert [figure["name"] for figure in measured["figures"]] == [
        "start to first observation",
        "step bash true",
        "step code pass",
        "write_file",
        "score, trivial verifier",
        "close",
        "Gymnasium's layer, a step",
        "idle session at 4 live",
        "step with 4 live, over 1 live",
    ]
    assert measured["samples"]["B"]["n"] == 3
    assert "Figures" in done.stdout
