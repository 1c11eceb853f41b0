"""Read the package and its tests, look closer at what the report is about, repair, test again."""

from .variants import PACKAGES

TESTS = {"action_type": "bash", "content": "python3 -m unittest 2>&1 | tail -25"}


def play(variant, observation):
    faults = variant["secret"]["faults"]
    package = PACKAGES[variant["secret"]["package"]]
    yield {"action_type": "bash", "content": "cat README.md; ls -R; tail -n +1 tests/*.py"}
    yield {"action_type": "bash", "content": f"tail -n +1 {package.name}/*.py"}
    yield TESTS
    left = [fault["kind"] for fault in faults]
    for fault in faults:
        function = fault["probes"][0][0]
        source = f"import {package.name}\nhelp({package.name}.{function})"
        yield {"action_type": "code", "content": source}
        left.remove(fault["kind"])
        path, _ = package.changes(fault["kind"])
        # The module as it is, but for this fault; settings are in a module without faults.
        text = package.texts({}, tuple(left))[path]
        yield {"action_type": "write_file", "path": path, "content": text}
    yield TESTS
