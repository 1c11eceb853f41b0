"""What an agent in an isolated sandbox cannot see, reach, become or use up."""

import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import deepgym_gym
from deepgym_gym.errors import ProviderError, SandboxLostError, SandboxUnavailableError
from deepgym_gym.sandbox import interpreter
from deepgym_gym.sandbox.base import Sandbox, SandboxSpec, VerifyRequest
from deepgym_gym.sandbox.namespace import backend as backend_module
from tests.sandbox.behaviours import LONG, judge
from tests.sandbox.behaviours import run as shell
from tests.sandbox.conftest import Run

Start = Callable[..., Sandbox]


def test_host_files_are_absent(start: Start, run: Run) -> None:
    sandbox = start()

    for path in ("/root", "/etc/shadow", "/sys", "/boot", "/srv", "/mnt", "/.host", os.getcwd()):
        assert run(shell(sandbox, f"ls -d {path} 2>/dev/null")) == "", path
    assert run(shell(sandbox, "ls -A /home /home/dgagent /tmp /work /var")).split() == [
        *("/home:", "dgagent", "/home/dgagent:", "/tmp:", "/var:", "tmp", "/work:"),
    ]


def test_environment_of_the_host_is_absent(
    start: Start, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DG_TEST_SECRET", "sesame-84312")
    sandbox = start()

    everything = run(shell(sandbox, "env; cat /proc/*/environ | tr '\\0' '\\n'"))
    names = {line.split("=")[0] for line in run(shell(sandbox, "env")).splitlines()}

    assert "sesame" not in everything
    assert names == {
        *(
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "TERM",
            "TMPDIR",
            "PYTHONUNBUFFERED",
            "PYTHONDONTWRITEBYTECODE",
        ),
        *("PWD", "SHLVL", "_"),
    }


def test_own_package_is_hidden_where_it_lies_in_a_system_folder(start: Start, run: Run) -> None:
    package = Path(deepgym_gym.__file__).parent
    sandbox = start()

    found = run(
        shell(sandbox, "find / -name 'final_verifier.py' -o -name 'deepgym_gym' 2>/dev/null")
    )

    assert found == ""
    assert run(shell(sandbox, f"ls -A {package} 2>/dev/null")) == ""


def test_hidden_folder_within_a_shown_one_is_empty(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where the package was installed into the system's own site-packages.
    hidden = "/usr/share/doc"
    assert any(Path(hidden).iterdir())
    monkeypatch.setattr(backend_module, "_own_folders", lambda: [hidden])
    backend = backend_module.NamespaceBackend()

    async def look() -> str:
        try:
            sandbox = await backend.start(SandboxSpec())
            return await shell(
                sandbox, f"ls -A {hidden}; touch {hidden}/x 2>/dev/null && echo wrote"
            )
        finally:
            await backend.aclose()

    assert run(look()) == ""


def test_interpreter_in_a_home_folder_is_shown_by_itself(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As with pyenv, conda or uv where the system's Python is too old. Only its owner may enter the
    # folder above, which in the box is nobody.
    with tempfile.TemporaryDirectory(dir=Path.home()) as home:
        prefix = Path(home, "python")
        prefix.mkdir()
        (prefix / "shown").write_text("seen")
        Path(home, "other").write_text("private")
        chosen = interpreter.choose()._replace(prefix=str(prefix))
        monkeypatch.setattr(interpreter, "choose", lambda: chosen)
        backend = backend_module.NamespaceBackend()

        async def look() -> str:
            try:
                sandbox = await backend.start(SandboxSpec())
                return await shell(
                    sandbox, f"ls {home}; cat {prefix}/shown; touch {prefix}/x 2>/dev/null"
                )
            finally:
                await backend.aclose()

        assert run(look()) == "python\nseen"


def test_network_is_loopback_only(start: Start, run: Run) -> None:
    sandbox = start()
    with socket.create_server(("127.0.0.1", 0)) as host_server:
        port = host_server.getsockname()[1]
        source = (
            "import socket\n"
            f"for address in (('127.0.0.1', {port}), ('192.0.2.1', 80)):\n"
            "    try: socket.create_connection(address, 2); print('connected')\n"
            "    except OSError as error: print(error.errno)\n"
            "print(sorted(name for _, name in socket.if_nameindex()))\n"
            "s = socket.create_server(('127.0.0.1', 0))\n"
            "socket.create_connection(s.getsockname()); print('own loopback')\n"
        )

        result = run(sandbox.code(source, LONG))

    assert result.stdout == b"111\n101\n['lo']\nown loopback\n"


def test_abstract_sockets_of_the_host_are_out_of_reach(start: Start, run: Run) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0deepgym-test-abstract")
        listener.listen()
        source = (
            "import socket\n"
            "try: socket.socket(socket.AF_UNIX).connect('\\0deepgym-test-abstract'); print('in')\n"
            "except OSError as error: print(error.errno)\n"
        )

        result = run(start().code(source, LONG))

    assert result.stdout == b"111\n"


def test_denied_system_calls_fail(start: Start, run: Run) -> None:
    source = (
        "import ctypes, os, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def errno(result): return ctypes.get_errno() if result < 0 else 0\n"
        "print([errno(libc.unshare(flag)) for flag in (0x10000000, 0x20000, 0x40000000)])\n"
        "print(errno(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)))\n"
        "print(errno(libc.setns(0, 0)), errno(libc.chroot(b'/tmp')))\n"
        "clone, clone3, io_uring, bpf, keyctl, open_tree = 56, 435, 425, 321, 250, 428\n"
        "print(errno(libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0)))\n"
        "denied = (clone3, io_uring, bpf, keyctl, open_tree)\n"
        "print([errno(libc.syscall(number, 0, 0, 0, 0)) for number in denied])\n"
        "for family in (17, 40, 38):\n"
        "    try: socket.socket(family, socket.SOCK_RAW)\n"
        "    except OSError as error: print(error.errno)\n"
    )

    result = run(start().code(source, LONG))

    if os.uname().machine == "x86_64":
        assert result.stdout.decode().splitlines() == [
            *("[1, 1, 1]", "1", "1 1", "1", "[38, 1, 1, 1, 1]", "97", "97", "97")
        ]


def test_system_folders_cannot_be_written(start: Start, run: Run) -> None:
    script = (
        "for f in / /usr /etc /dev /proc/sys/kernel /run /opt /home; do touch $f/x 2>/dev/null "
        "&& echo wrote $f; done; echo 1 2>/dev/null >/proc/sysrq-trigger && echo sysrq; "
        "chmod 777 /work 2>/dev/null; mount -o remount,rw / 2>/dev/null && echo remounted; true"
    )

    assert run(shell(start(), script)) == ""


def test_setuid_files_give_nothing(start: Start, run: Run) -> None:
    script = (
        "cp /usr/bin/id ./id; chmod 6755 ./id; ./id -u; "
        "for f in $(find /usr -perm -4000 -type f 2>/dev/null | head -5); do "
        "case $f in */su) echo root | $f root -c id 2>/dev/null | grep uid=0;; esac; done; true"
    )

    assert run(shell(start(), script)).split() == ["6001"]


def test_the_supervisor_cannot_be_touched(start: Start, run: Run) -> None:
    source = (
        "import ctypes, os, signal\n"
        "for number in range(1, 32):\n"
        "    try: os.kill(1, number)\n"
        "    except OSError: pass\n"
        "for name in ('mem', 'environ', 'maps', 'fd', 'cwd'):\n"
        "    try:\n"
        "        path = f'/proc/1/{name}'\n"
        "        print(name, os.listdir(path) if name == 'fd' else open(path, 'rb').read(10))\n"
        "    except OSError: pass\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.ptrace(16, 1, 0, 0))\n"
    )
    sandbox = start()

    result = run(sandbox.code(source, LONG))

    assert result.stdout == b"-1\n"
    assert run(shell(sandbox, "echo alive")) == "alive\n"


def test_two_sandboxes_share_nothing(start: Start, run: Run) -> None:
    one, two = start(), start()
    run(
        shell(
            one, "echo secret > /tmp/x; echo secret > x; echo secret > /dev/shm/x; sleep 77 & true"
        )
    )

    assert run(
        shell(two, "ls -A /tmp /work /dev/shm ~; ps -e -o args | grep '[s]leep 77'")
    ).split() == [*("/dev/shm:", "/home/dgagent:", "/tmp:", "/work:")]


def test_two_sandboxes_do_not_share_a_process_limit(start: Start, run: Run) -> None:
    spec = SandboxSpec(pids=40)
    one, two = start(spec=spec), start(spec=spec)
    hold = "for i in $(seq 30); do sleep 99 & done"

    first = run(one.exec(hold, LONG))
    second = run(two.exec(hold, LONG))

    assert (first.background, second.background) == (30, 30)


def test_a_fork_bomb_stays_inside(start: Start, run: Run) -> None:
    bombed, neighbour = start(spec=SandboxSpec(pids=64)), start()

    result = run(bombed.exec("bomb() { bomb | bomb & }; bomb; sleep 99", 1.0))

    assert result.timed_out
    assert result.background == 0
    assert run(shell(bombed, "echo alive")) == "alive\n"
    assert run(shell(neighbour, "echo alive")) == "alive\n"


def test_folders_are_limited_in_bytes_and_files(start: Start, run: Run) -> None:
    sandbox = start(spec=SandboxSpec(disk_mb=8, shm_mb=2))

    script = (
        "for d in /work /tmp /dev/shm ~; do head -c 300M /dev/zero > $d/x 2>/dev/null; "
        "stat -c %s $d/x; rm $d/x; done; fallocate -l 1T big 2>/dev/null || echo refused; "
        "i=0; while : 2>/dev/null > f$i; do i=$((i+1)); done; [ $i -lt 3000 ] && echo few"
    )
    lines = run(shell(sandbox, script)).splitlines()

    mib = 1 << 20
    assert [int(word) for word in lines[:4]] == [8 * mib, 64 * mib, 2 * mib, 64 * mib]
    assert lines[4] == "refused"
    assert lines[-1] == "few"


def test_memory_is_limited(start: Start, run: Run) -> None:
    sandbox = start(spec=SandboxSpec(memory_mb=64, disk_mb=1, shm_mb=1))

    result = run(
        sandbox.exec("python3 -c 'x = bytearray(10**10); print(len(x))'; echo code=$?", LONG)
    )
    touching = "python3 -c 'x = b\"x\" * (900 << 20); print(len(x))'"
    killed = run(sandbox.exec(f"exec {touching}", LONG))

    assert b"10000000000" not in result.stdout
    assert killed.exit_code != 0
    if sandbox.capabilities.enforced["memory"] == "cgroup":
        assert (killed.signal, killed.oom_killed) == (9, True)
    own = run(sandbox.exec("kill -9 $$", LONG))
    assert (own.signal, own.oom_killed) == (9, False)
    assert run(shell(sandbox, "echo alive")) == "alive\n"


def test_the_verifiers_text_is_never_in_the_agents_memory(start: Start, run: Run) -> None:
    sandbox = start()
    marker = "".join(["needle", "-", "in-", "the-", "verifier"])
    run(judge(sandbox, f"secret = {marker!r}\nprint(open('/work/x', 'a'))", final=False))
    source = (
        "import re\n"
        "needle = b'-'.join([b'needle', b'in', b'the', b'verifier'])\n"
        "found = 0\n"
        "with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as mem:\n"
        "    for line in maps:\n"
        "        m = re.match(r'([0-9a-f]+)-([0-9a-f]+) r', line)\n"
        "        if m and '[v' not in line:\n"
        "            low, high = (int(x, 16) for x in m.groups())\n"
        "            mem.seek(low)\n"
        "            try: found += mem.read(high - low).count(needle)\n"
        "            except OSError: pass\n"
        "print(found)\n"
    )

    later = run(sandbox.code(source, LONG))
    elsewhere = run(start().code(source, LONG))

    # The search's own copy of the needle is all that there is.
    assert int(later.stdout) == int(elsewhere.stdout)


def test_verifier_agent_and_solver_are_different_users(start: Start, run: Run) -> None:
    sandbox = start()
    run(sandbox.write("sol.py", b"import os\ndef uid(): return os.getuid()\n"))
    source = (
        "import os\nfrom deepgym_solution import load_solution\n"
        "print(os.getuid(), load_solution('sol.py').uid())\n"
    )

    outcome = run(judge(sandbox, source))

    assert outcome.stdout == b"6002 6003\n"
    assert run(shell(sandbox, "id -u")) == "6001\n"


def test_solution_cannot_see_the_verifier(start: Start, run: Run) -> None:
    sandbox = start()
    solution = (
        "import os\n"
        "def look():\n"
        "    pids = [p for p in os.listdir('/proc') if p.isdigit()]\n"
        "    seen = []\n"
        "    for path in ('/run/private', '/run/private/verifier.py', '/tmp'):\n"
        "        try: seen.append(os.listdir(path) if os.path.isdir(path) else open(path).read())\n"
        "        except OSError: seen.append(None)\n"
        "    return len(pids), seen\n"
    )
    run(sandbox.write("sol.py", solution.encode()))
    source = (
        "from deepgym_solution import load_solution\nopen('/tmp/mine', 'w').write('x')\n"
        "print(load_solution('sol.py').look())\n"
    )

    assert run(judge(sandbox, source)).stdout == b"(1, [None, None, []])\n"


def test_a_dead_supervisor_is_a_lost_sandbox(start: Start, run: Run) -> None:
    start()
    others = set(_box_pids())
    sandbox = start()
    (pid,) = set(_box_pids()) - others
    os.kill(pid, 9)

    with pytest.raises(SandboxLostError, match="died"):
        run(sandbox.exec("true", LONG))


def test_a_dead_warden_is_not_the_agents_doing_and_the_next_start_works(run: Run) -> None:
    backend = backend_module.NamespaceBackend()
    me = os.getpid()

    async def lose_it() -> str:
        try:
            others = _children(me)
            sandbox = await backend.start(SandboxSpec())
            (warden,) = _children(me) - others
            os.kill(warden, 9)
            with pytest.raises(ProviderError, match="warden"):
                await sandbox.exec("sleep 60", 60.0)
            return await shell(await backend.start(SandboxSpec()), "echo again")
        finally:
            await backend.aclose()

    assert run(lose_it()) == "again\n"


def _children(pid: int) -> set[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return {int(word) for word in path.read_text().split()}


def test_stopped_children_do_not_hold_up_the_end(start: Start, run: Run) -> None:
    sandbox = start()
    run(sandbox.exec("sleep 99 & kill -STOP $!", LONG))
    before = _box_pids()

    run(sandbox.stop())
    run(sandbox.stop())

    assert len(_box_pids()) == len(before) - 1


def test_limits_of_the_definition_reach_the_sandbox(start: Start, run: Run) -> None:
    sandbox = start(spec=SandboxSpec(output_bytes=10))

    result = run(sandbox.exec("echo 0123456789abc", LONG))

    assert (result.stdout, result.stdout_dropped) == (b"0123456789", 4)


def test_longest_output_of_a_step_has_room_in_the_verifiers_box(start: Start, run: Run) -> None:
    sandbox = start(spec=SandboxSpec(output_bytes=40 << 20))
    code = "import os; print(os.path.getsize(os.environ['STEP_OUTPUT_PATH']))"
    request = VerifyRequest(code, LONG, final=False, step_output=bytes(80 << 20))

    assert run(sandbox.verify(request)).stdout == b"%d\n" % (80 << 20)


def test_verifiers_box_that_fails_says_why(start: Start, run: Run) -> None:
    sandbox = start()
    request = VerifyRequest("pass", LONG, final=False, step_output=bytes(80 << 20))

    with pytest.raises(SandboxUnavailableError, match=r"box was lost: .*No space left"):
        run(sandbox.verify(request))

    assert run(shell(sandbox, "echo alive")) == "alive\n"


def test_many_verifiers_leave_nothing(start: Start, run: Run) -> None:
    sandbox = start()
    before = len(_box_pids())

    async def many() -> None:
        for _ in range(10):
            await sandbox.verify(VerifyRequest(code="pass", timeout_s=LONG, final=False))
        # A box ends when its channel closes; the next request is served after that was noticed.
        await sandbox.exec("true", LONG)

    run(many())
    _wait_until(lambda: len(_box_pids()) == before)


def _box_pids() -> list[int]:
    """The first processes of all boxes of this process's wardens, oldest first."""
    me = os.getpid()
    parents, started = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                text = Path(f"/proc/{name}/stat").read_text()
            except OSError:
                continue
            fields = text.rpartition(")")[2].split()
            if fields[0] not in "ZX":
                parents[int(name)] = int(fields[1])
                # Process numbers begin anew at the machine's highest, and say nothing of age.
                started[int(name)] = int(fields[19])
    wardens = {pid for pid, parent in parents.items() if parent == me}
    boxes = [pid for pid in parents if parents[pid] in wardens and _is_first(pid)]
    return sorted(boxes, key=lambda pid: (started[pid], pid))


def _is_first(pid: int) -> bool:
    """Whether a process is the first of a pid namespace, and no helper of the warden's."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    numbers = next(line.split()[1:] for line in status.splitlines() if line.startswith("NSpid"))
    return len(numbers) > 1 and numbers[-1] == "1"


def _wait_until(condition: Callable[[], bool]) -> None:
    import select
    import time

    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "still not so after 10 s"
        select.select([], [], [], 0.01)
