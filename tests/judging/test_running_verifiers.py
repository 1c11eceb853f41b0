"""Verifiers run in real sandboxes: the rows that the sandbox's facts lead to, and what is asked of
it.
"""

from collections.abc import Iterator

import pytest

from deepgym_gym import loop
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import (
    OutputLimitError,
    ProviderError,
    SandboxError,
    SandboxExhaustedError,
    SandboxLostError,
    SandboxRetiredError,
    SandboxTimeoutError,
    SandboxUnavailableError,
)
from deepgym_gym.results import RunResult
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.sandbox.base import Sandbox, SandboxSpec
from deepgym_gym.session import Session
from deepgym_gym.verdict import StepJudgement
from deepgym_gym.verifier import run_final_verifier, run_step_verifier
from tests.judging.faults import FaultySandbox
from tests.judging.outcomes import Essence, essence, judged_zero, no_verdict, verdict

BACKENDS = ["namespace", "local"]
SAY = 'print(\'{"score": 1.0, "passed": true}\')\n'
TOUCH = "import os; os.listdir('.')\n"


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One sandbox for all the verifiers that leave it as it is, with one file of the agent's."""
    made = started(request.param)
    loop.run(made.write("answer.txt", b"hello\n"))
    yield made
    loop.run(made.stop())


def started(backend: str) -> Sandbox:
    return loop.run(get_backend(backend).start(SandboxSpec()))


def final(sandbox: Sandbox, code: str, *, acted: bool = True, limit_s: float = 30.0) -> RunResult:
    definition = MultiTurnEnvironment(task="-", final_verifier_code=code, verifier_timeout=limit_s)
    return loop.run(run_final_verifier(sandbox, definition, acted=acted))


def step(sandbox: Sandbox, code: str, output: bytes = b"", number: int = 1) -> StepJudgement:
    definition = MultiTurnEnvironment(task="-", step_verifier_code=code)
    return loop.run(run_step_verifier(sandbox, definition, step_number=number, output=output))


ROWS: list[tuple[str, str, Essence]] = [
    ("a1-clean-exit", SAY, verdict(1.0, True)),
    (
        "a2-failed-run",
        'print(\'{"score": 0.5, "passed": false}\'); raise SystemExit(1)',
        verdict(0.5, False, 1),
    ),
    ("a3-exit-1-passed", SAY + "raise SystemExit(1)", no_verdict("verifier_error")),
    (
        "a3-exit-1-passed-touched",
        TOUCH + SAY + "raise SystemExit(1)",
        judged_zero("solution_error"),
    ),
    ("a3-exit-3", SAY + "raise SystemExit(3)", no_verdict("verifier_error")),
    ("a3-exit-3-touched", TOUCH + SAY + "raise SystemExit(3)", judged_zero("solution_error")),
    (
        "a4-exit-2",
        'print(\'{"score": 0, "passed": false}\'); raise SystemExit(2)',
        no_verdict("verifier_error"),
    ),
    ("a5-crash", "1 / 0", no_verdict("runtime_error")),
    ("a5-syntax-error", "1 +", no_verdict("runtime_error")),
    ("a5-import-error", "import no_such_module", no_verdict("import_error")),
    ("a5-timeout-error", "raise TimeoutError", no_verdict("timeout")),
    ("a6-crash-after-read", "open('answer.txt').read(); 1 / 0", judged_zero("solution_error")),
    ("a6-import-error-after-read", TOUCH + "import no_such", judged_zero("solution_error")),
    ("a7-score-then-crash", SAY + "1 / 0", no_verdict("runtime_error")),
    ("a7-score-then-crash-touched", TOUCH + SAY + "1 / 0", judged_zero("solution_error")),
    ("a8-killed", SAY + "import os; os.kill(os.getpid(), 9)", no_verdict("verifier_error")),
    ("a8-prints-nothing", "pass", no_verdict("verifier_error")),
    ("a8-bare-number", "print(1.0)", no_verdict("verifier_error")),
    ("a9-killed-touched", TOUCH + SAY + "os.kill(os.getpid(), 9)", judged_zero("solution_error")),
    ("a9-prints-nothing-touched", TOUCH, judged_zero("solution_error")),
    ("a11-timeout", "while True: pass", no_verdict("timeout")),
    ("a12-timeout-touched", TOUCH + SAY + "while True: pass", judged_zero("solution_timeout")),
    ("a14-nan", 'print(\'{"score": NaN, "passed": true}\')', no_verdict("invalid_score")),
    ("a14-1e999", 'print(\'{"score": 1e999, "passed": true}\')', no_verdict("invalid_score")),
    ("a15-stderr", "import sys; sys.stdout = sys.stderr\n" + SAY, no_verdict("verifier_error")),
    ("a16-ten-megabytes", SAY + "print('x' * 10_000_000)", verdict(1.0, True)),
    ("a16-last-line-decides", "print('{}')\n" + SAY + "print('bye')", verdict(1.0, True)),
    (
        "a17-own-name",
        'print(\'{"score": 1, "passed": true, "error_type": "mine"}\')',
        no_verdict("mine"),
    ),
    (
        "a17-model-fault",
        'print(\'{"score": 1, "passed": true, "error_type": "invalid_patch"}\')',
        judged_zero("invalid_patch"),
    ),
    ("a23-failing-open", "open('absent')", judged_zero("solution_error")),
    ("a23-failing-listdir", "import os; os.listdir('absent')", judged_zero("solution_error")),
    ("a23-scandir", "import os; os.scandir('.').close(); 1 / 0", judged_zero("solution_error")),
    (
        "a23-program",
        "import subprocess; subprocess.run(['true'], check=True); 1 / 0",
        judged_zero("solution_error"),
    ),
    ("a23-stat", "import os; os.stat('answer.txt'); 1 / 0", no_verdict("runtime_error")),
    ("a23-exists", "import os; os.path.exists('absent'); 1 / 0", no_verdict("runtime_error")),
    ("a23-open-elsewhere", "open('/etc/absent')", no_verdict("runtime_error")),
]


@pytest.mark.parametrize(("code", "expected"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS])
def test_final_verifier_in_a_sandbox_goes_to_its_row(
    sandbox: Sandbox, code: str, expected: Essence
) -> None:
    limit_s = 0.5 if "while True" in code else 30.0

    assert essence(final(sandbox, code, limit_s=limit_s)) == expected


def test_result_says_where_it_was_made_and_keeps_stderr(sandbox: Sandbox) -> None:
    result = final(sandbox, SAY + "import sys; print('a note', file=sys.stderr)")

    assert result.sandbox_id == sandbox.id
    assert result.isolation == ("namespace" if sandbox.capabilities.isolated else "none")
    assert result.execution_time_ms > 0.0
    assert result.stderr == "a note\n"


def test_a18_without_final_verifier_there_is_no_verdict(sandbox: Sandbox) -> None:
    definition = MultiTurnEnvironment(task="-")

    result = loop.run(run_final_verifier(sandbox, definition, acted=True))

    assert essence(result) == Essence(0.0, False, 0, "no_verifier", False)
    assert result.sandbox_id == sandbox.id


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("acted", [False, True])
def test_a19_dead_sandbox_is_the_agents_doing_once_it_acted(backend: str, acted: bool) -> None:
    sandbox = started(backend)
    loop.run(sandbox.stop())

    result = final(sandbox, SAY, acted=acted)

    expected = judged_zero("policy_sandbox_failure") if acted else no_verdict("sandbox_error")
    assert essence(result) == expected
    assert result.sandbox_id == sandbox.id


@pytest.mark.parametrize(
    ("fault", "error_type", "agents"),
    [
        (SandboxLostError("gone"), "sandbox_error", True),
        (SandboxTimeoutError("late"), "sandbox_error", True),
        (SandboxExhaustedError("full"), "sandbox_error", True),
        (OutputLimitError("long"), "sandbox_error", True),
        (ProviderError("down"), "sandbox_error", False),
        (SandboxRetiredError("old"), "sandbox_error", False),
        (SandboxUnavailableError("no box"), "verifier_error", False),
    ],
)
@pytest.mark.parametrize("acted", [False, True])
def test_a19_c6_c7_failing_sandbox_never_raises_and_goes_to_its_row(
    fault: SandboxError, error_type: str, agents: bool, acted: bool
) -> None:
    result = final(FaultySandbox(fault), SAY, acted=acted)

    judged = agents and acted
    assert essence(result) == (
        judged_zero("policy_sandbox_failure") if judged else no_verdict(error_type)
    )
    assert result.output == str(fault)
    assert (result.sandbox_id, result.isolation) == ("faulty-1", "docker")


@pytest.mark.parametrize(("share", "has_verdict"), [(0.49, False), (0.5, True)])
def test_c7_sandbox_retired_under_the_final_verifier_asks_for_the_agents_share(
    share: float, has_verdict: bool
) -> None:
    definition = MultiTurnEnvironment(task="-", final_verifier_code=SAY)
    faulty = FaultySandbox(SandboxRetiredError("old"))

    result = loop.run(run_final_verifier(faulty, definition, acted=True, agent_share=lambda: share))

    assert result.has_verdict is has_verdict


def test_a20_score_twice_is_the_same_verdict() -> None:
    code = (
        "import json, os\n"
        "print(json.dumps({'score': 1.0, 'passed': True, 'details': os.urandom(8).hex()}))"
    )
    definition = MultiTurnEnvironment(task="-", final_verifier_code=code)

    async def episode() -> tuple[RunResult, RunResult]:
        async with Session(definition, get_backend("namespace")) as session:
            await session.start()
            return await session.score(), await session.score()

    first, second = loop.run(episode())

    assert len(first.output) == 16
    assert second == first


def test_a21_verifier_cannot_write_into_the_work_folder() -> None:
    code = (
        "import json\n"
        "refused = []\n"
        "for path in ('planted', 'answer.txt', '../planted', '/work/answer.txt'):\n"
        "    try: open(path, 'w')\n"
        "    except OSError: refused.append(path)\n"
        "print(json.dumps({'score': len(refused) / 4, 'passed': True}))"
    )
    sandbox = started("namespace")
    loop.run(sandbox.write("answer.txt", b"hello"))
    try:
        result = final(sandbox, code)
        left = loop.run(sandbox.exec("ls -A; cat answer.txt", 30.0)).stdout
    finally:
        loop.run(sandbox.stop())

    assert essence(result) == verdict(1.0, True)
    assert left == b"answer.txt\nhello"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a22_leftover_process_of_the_agent_changes_nothing_while_scoring(backend: str) -> None:
    sandbox = started(backend)
    # The agent's loop is seen at work before the verifier looks for it.
    rewriting = (
        "(i=0; while :; do i=$((i+1)); echo $i >count; done) & while [ ! -s count ]; do :; done"
    )
    code = (
        "import json, os, time\n"
        "def look(): return os.stat('count').st_mtime_ns, open('count').read()\n"
        "first = look()\n"
        "until = time.monotonic() + 0.2\n"
        "same = True\n"
        "while same and time.monotonic() < until: same = look() == first\n"
        "print(json.dumps({'score': float(same), 'passed': same}))"
    )
    try:
        began = loop.run(sandbox.exec(rewriting, 30.0))
        result = final(sandbox, code)
    finally:
        loop.run(sandbox.stop())

    assert began.background > 0
    assert essence(result) == verdict(1.0, True)


def test_b1_b2_step_verifier_reads_the_output_and_the_number(sandbox: Sandbox) -> None:
    code = (
        "import os\n"
        "print(open(os.environ['STEP_OUTPUT_PATH'], 'rb').read(), os.environ['STEP_NUMBER'])\n"
        "print(0.5)"
    )

    judgement = step(sandbox, code, output=b"out\xff\n", number=3)

    assert judgement.failure is None
    assert judgement.verdict.reward == 0.5
    assert judgement.verdict.output == "b'out\\xff\\n' 3\n0.5\n"
    assert judgement.verdict.exit_code == 0


@pytest.mark.parametrize(
    "code", ["open(os.environ['STEP_OUTPUT_PATH']); 1 / 0", "os.listdir('.'); print('what?')"]
)
def test_b5_step_verifier_that_fails_after_reading_is_reward_zero(
    sandbox: Sandbox, code: str
) -> None:
    judgement = step(sandbox, f"import os\n{code}")

    assert judgement.failure is None
    assert (judgement.verdict.reward, judgement.verdict.error_type) == (0.0, "solution_error")


@pytest.mark.parametrize(
    ("code", "error_type"),
    [
        ("import os; os.environ['STEP_OUTPUT_PATH']; 1 / 0", "verifier_error"),
        ("print(0.5); raise SystemExit(1)", "verifier_error"),
        ("print('nan')", "invalid_score"),
    ],
)
def test_b6_step_verifier_that_fails_by_itself_ends_the_episode(
    sandbox: Sandbox, code: str, error_type: str
) -> None:
    failure = step(sandbox, code).failure

    assert failure is not None
    assert essence(failure) == no_verdict(error_type)
    assert failure.sandbox_id == sandbox.id
    assert failure.isolation == ("namespace" if sandbox.capabilities.isolated else "none")


def test_b6_step_verifier_without_a_box_ends_the_episode() -> None:
    judgement = step(FaultySandbox(SandboxUnavailableError("no box"), isolated=False), "print(1)")

    assert judgement.failure is not None
    assert essence(judgement.failure) == no_verdict("verifier_error")
    assert (judgement.failure.output, judgement.failure.isolation) == ("no box", "none")


def test_c8_sandbox_that_dies_under_the_step_verifier_is_left_to_the_session() -> None:
    with pytest.raises(SandboxLostError):
        step(FaultySandbox(SandboxLostError("gone")), "print(1)")
