"""What `import deepgym_gym` adds to `import gymnasium`.

    python benchmarks/bench_import.py [--runs 40]

Cold interpreters in turn; the bound is 60 ms.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import floors

BOUND_MS = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description="What importing the package costs.")
    parser.add_argument("--runs", type=int, default=40, help="imports of each")
    runs = parser.parse_args().runs
    watch = floors.Stopwatch()
    for turn in range(runs + 2):
        counted = watch if turn >= 2 else floors.Stopwatch()
        for module in ("gymnasium", "deepgym_gym"):
            started = time.perf_counter_ns()
            floors.spawn_and_wait(sys.executable, "-c", f"import {module}")
            counted.add(f"import {module}", started)
    print(", ".join(f"{key} {value}" for key, value in floors.machine().items()))
    samples = watch.samples()
    for sample in samples.values():
        print(f"{sample.name}: n {len(sample.values)}, median {sample.median:.1f} ms")
    added = samples["import deepgym_gym"].median - samples["import gymnasium"].median
    word = "within" if added <= BOUND_MS else "over"
    print(f"added by deepgym_gym: {added:.1f} ms, {word} the bound of {BOUND_MS:g} ms")


if __name__ == "__main__":
    main()
