"""Every number of the package, with its unit and its reason.

One place, so that a reader can see what bounds what, and a test can change nothing by accident.
"""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# Episode defaults. Source: sessions document, "The session API" and "Writing a multi-turn
# environment".
MAX_STEPS: Final = 10
TIMEOUT_PER_STEP_S: Final = 30.0
SETUP_TIMEOUT_S: Final = 120.0

# The longest time-out that a definition may ask for: a day. Anything longer is a mistake of units.
MAX_TIMEOUT_S: Final = 86_400.0
# A sandbox that is not ready by then is given up; cold starts take about 10 ms here, docker's 0.5
# s.
START_TIMEOUT_S: Final = 60.0
# What the supervisor gets beyond an action's own deadline to kill the tree and send what was
# printed.
REPLY_GRACE_S: Final = 5.0
# `close` gives up waiting after this and leaves the rest to the warden's own clean-up.
CLOSE_TIMEOUT_S: Final = 5.0

# Default sandbox limits; a definition may change each.
MEMORY_MB: Final = 1024
PIDS: Final = 256
DISK_MB: Final = 256
SHM_MB: Final = 64
TMP_MB: Final = 64
CPUS: Final = 1.0
# What is kept of each of stdout and stderr of one action; the rest is drained, counted and dropped.
OUTPUT_KB: Final = 1024
# Open files of one process.
NOFILE: Final = 4096

# What is kept of a verifier's stdout (its end, where the verdict is) and stderr (its beginning).
VERIFIER_STDOUT_BYTES: Final = 16 * MIB
VERIFIER_STDERR_BYTES: Final = 256 * KIB
# A verifier's own data: room for any library, and a bound for one that reads a file without an end.
VERIFIER_MEMORY_MB: Final = 1024
# What a step verifier may hand on to the next one (JSON), and what it may tell the agent (UTF-8).
STATE_BYTES: Final = 64 * KIB
FEEDBACK_BYTES: Final = 64 * KIB

# One message between host and guest. Bigger than any file of a definition, smaller than a host's
# memory.
MAX_MESSAGE_BYTES: Final = 256 * MIB
# An action's text. Longer programs belong into files of the environment.
MAX_ACTION_CHARS: Final = 8 * MIB
# The length of a `write_file` path; Linux itself stops at 4096 bytes.
MAX_PATH_CHARS: Final = 4096

# Scores may miss [0, 1] by this much (floating point noise) and are clamped.
# Source: reward contract, rule A14.
SCORE_TOLERANCE: Final = 1e-6

# What is read of a verifier's output, so that no output takes more than a moment to read: lines
# that hold a brace but are no JSON, test cases, values of `metrics`, and how deep those may be
# nested (serializers give up at about 255).
VERDICT_LINES: Final = 10_000
VERDICT_CASES: Final = 10_000
VERDICT_VALUES: Final = 100_000
VERDICT_DEPTH: Final = 64
