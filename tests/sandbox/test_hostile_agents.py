"""What an agent does on purpose to escape its verdict, to forge one, or to hurt its machine."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deepgym_gym.errors import ActionError, SandboxLostError
from deepgym_gym.sandbox.base import Sandbox, VerifierOutcome, VerifyRequest
from deepgym_gym.sandbox.namespace.backend import NamespaceSandbox
from tests.sandbox.behaviours import LONG, judge
from tests.sandbox.conftest import Run

Start = Callable[..., Sandbox]

# Double-forks, so that it runs on, and counts in a file for as long as it is not frozen.
DAEMON = """
import ctypes, fcntl, os, signal
if os.fork(): os._exit(0)
os.setsid()
{arm}
fd = os.open("n", os.O_CREAT | os.O_RDWR)
n = 0
while True:
    n += 1
    os.pwrite(fd, b"%010d" % n, 0)
"""
TIMER = """
signal.signal(signal.SIGCONT, lambda *_: None)
libc = ctypes.CDLL(None)
event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)
timer = ctypes.c_int()
every_millisecond = (ctypes.c_long * 4)(0, 10**6, 0, 10**6)
libc.syscall(222, 1, event, ctypes.byref(timer))
libc.syscall(223, timer, 0, every_millisecond, None)
"""
LEASE = """
lease = os.open("lease", os.O_CREAT | os.O_RDWR)
try:
    fcntl.fcntl(lease, 10, signal.SIGCONT)
    fcntl.fcntl(lease, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError: pass
"""
STANDS_STILL = """
import os, time
read = lambda: open("n").read()
first = read()
try: os.open("lease", os.O_RDONLY | os.O_NONBLOCK)
except OSError: pass
time.sleep(0.1)
print(read() == first)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="names system calls by number")
@pytest.mark.parametrize("arm", [TIMER, LEASE], ids=["timer", "lease"])
def test_no_signal_of_the_kernels_own_thaws_an_agent(start: Start, run: Run, arm: str) -> None:
    sandbox = start()
    run(sandbox.code(DAEMON.format(arm=arm), LONG))
    run(sandbox.exec("while [ ! -s n ]; do :; done", LONG))

    outcome = run(judge(sandbox, STANDS_STILL, final=False))

    assert outcome.stdout == b"True\n"


def test_a_long_system_call_is_over_when_the_verifier_looks(start: Start, run: Run) -> None:
    sandbox = start()
    writer = (
        "import os\nif os.fork(): os._exit(0)\nos.setsid()\ndata = bytearray(200 << 20)\n"
        "fd = os.open('big', os.O_CREAT | os.O_RDWR)\n"
        "while True:\n    os.pwrite(fd, data, 0)\n    os.ftruncate(fd, 0)\n"
    )
    run(sandbox.code(writer, LONG))
    run(sandbox.exec("while [ ! -s big ]; do :; done", LONG))
    source = (
        "import os, time\nsizes = set()\n"
        "for _ in range(20):\n    sizes.add(os.path.getsize('big')); time.sleep(0.005)\n"
        "print(len(sizes))\n"
    )

    for _ in range(4):
        assert run(judge(sandbox, source, final=False)).stdout == b"1\n"


SOLUTION = b"""
import json, os, struct, time
def sockets():
    for fd in os.listdir("/proc/self/fd"):
        try:
            if os.readlink("/proc/self/fd/" + fd).startswith("socket"): yield int(fd)
        except OSError: pass
def ok(): return 1
def says(kind):
    header = json.dumps({"ok": False, "kind": kind, "message": "forged"}).encode()
    for fd in sockets(): os.write(fd, struct.pack("!II", len(header), 0) + header)
    os._exit(0)
def heavy_header():
    for fd in sockets():
        os.write(fd, struct.pack("!II", 60 << 20, 0))
        data = b"[" + b"[]," * (20 << 20)
        while data: data = data[os.write(fd, data):]
def forks():
    import signal
    while True:
        try:
            if os.fork() == 0: time.sleep(99)
        except OSError: return
def threads(): return len(os.popen("echo one").read())
def hangs(): time.sleep(4321)
"""
CALLS = """
from deepgym_solution import load_solution, SolutionError
s = load_solution("sol.py", case_timeout=5.0)
def kind(name, *args):
    try: return s.call(name, *args)
    except SolutionError as error: return error.kind
"""


def grade(start: Start, run: Run, source: str, timeout_s: float = LONG) -> VerifierOutcome:
    sandbox = start()
    run(sandbox.write("sol.py", SOLUTION))
    outcome: VerifierOutcome = run(judge(sandbox, CALLS + source, timeout_s=timeout_s))
    return outcome


@pytest.mark.parametrize("word", ["launch", "timeout"])
def test_only_its_supervisor_says_why_a_solution_gave_no_answer(
    start: Start, run: Run, word: str
) -> None:
    outcome = grade(start, run, f"print(kind('says', {word!r}))")

    assert (outcome.stdout, outcome.launch_failed) == (b"error\n", False)


def test_an_answer_that_is_heavy_to_read_fails_by_itself(start: Start, run: Run) -> None:
    outcome = grade(start, run, "print(kind('heavy_header'), kind('ok'))")

    assert outcome.stdout == b"exit 1\n"


def test_what_a_solution_left_running_holds_no_room_for_the_next(start: Start, run: Run) -> None:
    outcome = grade(
        start,
        run,
        "s._case_timeout = 1.0\n"
        "for _ in range(3): kind('forks'); kind('hangs')\n"
        "print(kind('threads'))",
    )

    assert outcome.stdout == b"4\n"


def test_a_solution_ends_with_its_verifier(start: Start, run: Run) -> None:
    sandbox = start()
    run(sandbox.write("sol.py", SOLUTION))
    before = boxes(sandbox)
    source = CALLS.replace("5.0", "4000.0") + "kind('hangs')"

    outcome = run(judge(sandbox, source, timeout_s=0.5))

    assert outcome.timed_out
    end = time.monotonic() + LONG
    while boxes(sandbox) != before and time.monotonic() < end:
        time.sleep(0.01)
    assert boxes(sandbox) == before


def boxes(sandbox: Sandbox) -> list[str]:
    """The warden's child processes: its boxes, and one helper."""
    assert isinstance(sandbox, NamespaceSandbox)
    pid = sandbox._warden._process.pid
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_path_that_no_file_can_have_is_refused(start: Start, run: Run) -> None:
    sandbox = start()

    with pytest.raises(ActionError):
        run(sandbox.write("a\ud800", b"x"))
    assert run(sandbox.exec("echo a\0live", LONG)).stdout == b"alive\n"
    assert run(sandbox.exec("echo a\0live", LONG, persistent=True)).stdout == b"alive\n"


def test_no_link_leads_a_verifier_to_its_own_text_or_state(start: Start, run: Run) -> None:
    sandbox = start()
    run(
        sandbox.exec(
            "ln -s /run/private/verifier.py text; ln -s /run/private/state.json state; "
            "ln -s /run/private folder",
            LONG,
        )
    )
    source = (
        "import glob, os, sys\n"
        "for path in ('text', 'state', *glob.glob('folder/**', recursive=True)):\n"
        "    try: print(open(path).read())\n"
        "    except OSError: pass\n"
        "assert open(__file__).read().startswith('import glob') and sys.argv == [__file__]\n"
        "raise RuntimeError('needle')\n"
    )

    outcome = run(
        sandbox.verify(VerifyRequest(code=source, timeout_s=LONG, final=False, state=b'"needle"'))
    )

    assert (outcome.stdout, outcome.crash) == (b"", "RuntimeError")
    assert b'"/run/private/verifier.py", line 6' in outcome.stderr
    assert b"raise RuntimeError" in outcome.stderr


def test_a_file_without_an_end_fails_its_reader_and_not_the_machine(start: Start, run: Run) -> None:
    sandbox = start()
    run(sandbox.exec("ln -s /dev/zero endless; truncate -s 30G sparse", LONG))

    for name in ("endless", "sparse"):
        outcome = run(judge(sandbox, f"open({name!r}, 'rb').read(4 << 30)"))

        assert (outcome.crash, outcome.touched) == ("MemoryError", True)


@pytest.mark.parametrize("final", [False, True])
def test_a_closed_work_folder_is_judged_all_the_same(start: Start, run: Run, final: bool) -> None:
    sandbox = start()
    run(sandbox.write("f.py", b"def one(): return 1"))
    run(sandbox.exec("chmod 000 /work", LONG))
    source = (
        "from deepgym_solution import load_solution\n"
        "print(load_solution('f.py').one(), len(open('f.py').read()))\n"
    )

    for _ in range(2):
        outcome = run(judge(sandbox, source, final=final))

        assert (outcome.stdout, outcome.stderr) == (b"1 19\n", b"")


@pytest.mark.parametrize("keep", [False, True])
def test_a_sandbox_that_died_is_lost_also_to_its_verifier(
    start: Start, run: Run, keep: bool
) -> None:
    before = boxes(start())
    sandbox = start()
    (box,) = [pid for pid in boxes(sandbox) if pid not in before]
    os.kill(int(box), 9)

    with pytest.raises(SandboxLostError):
        run(sandbox.verify(VerifyRequest("pass", LONG, final=True, keep_processes=keep)))


SCAN = """
import re
wanted = re.compile(b"need" + b"le-[a-z]+-[0-9]+")
found = set()
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        place = re.match("([0-9a-f]+)-([0-9a-f]+) r", line)
        if place and "[v" not in line:
            low, high = (int(word, 16) for word in place.groups())
            memory.seek(low)
            try: found.update(wanted.findall(memory.read(high - low)))
            except OSError: pass
print(sorted(found))
"""


def test_the_set_ups_text_is_never_in_the_agents_memory(start: Start, run: Run) -> None:
    sandbox = start()
    lines = "\n".join(f"# needle-text-{number}" for number in range(300))
    prints = "for number in range(300): print(f'needle-output-{number}')\n"

    assert run(sandbox.exec(lines + "\necho made", LONG, secret=True)).stdout == b"made\n"
    assert run(sandbox.code(prints + lines, LONG, secret=True)).stdout.count(b"output") == 300
    found = run(sandbox.code(SCAN, LONG)).stdout

    assert found == b"[]\n"


@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_a_very_deep_folder_goes_with_its_sandbox(
    start: Start, run: Run, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sandbox = start(backend)
    source = (
        "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\nos.chmod('.', 0)\n"
    )

    assert run(sandbox.code(source, LONG)).exit_code == 0
    assert run(judge(sandbox, "import os; print(os.listdir())")).stdout == b"['d']\n"
    run(sandbox.stop())

    assert list(tmp_path.iterdir()) == []
