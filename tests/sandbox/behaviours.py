"""What every sandbox must do, as one list of coroutines: `test_contract.py` runs it on each backend
and user mode.

A behaviour takes a fresh sandbox. Those marked `isolated` are promised by isolated backends only.
"""

from collections.abc import Awaitable, Callable

import pytest

from deepgym_gym.errors import ActionError, OutputLimitError, SandboxWriteError
from deepgym_gym.sandbox.base import Sandbox, VerifierOutcome, VerifyRequest

Behaviour = Callable[[Sandbox], Awaitable[None]]
BEHAVIOURS: dict[str, Behaviour] = {}
ISOLATED: set[str] = set()
LIMIT = 1 << 20
LONG = 20.0


def behaviour(function: Behaviour) -> Behaviour:
    BEHAVIOURS[function.__name__] = function
    return function


def isolated(function: Behaviour) -> Behaviour:
    ISOLATED.add(function.__name__)
    return behaviour(function)


async def run(sandbox: Sandbox, command: str, timeout_s: float = LONG) -> str:
    result = await sandbox.exec(command, timeout_s)
    assert not result.timed_out, command
    return (result.stdout + result.stderr).decode()


async def judge(
    sandbox: Sandbox, code: str, *, timeout_s: float = LONG, final: bool = True
) -> VerifierOutcome:
    return await sandbox.verify(VerifyRequest(code=code, timeout_s=timeout_s, final=final))


# Commands.


@behaviour
async def exit_codes_are_reported(sandbox: Sandbox) -> None:
    result = await sandbox.exec("exit 3", LONG)

    assert (result.exit_code, result.signal, result.timed_out) == (3, None, False)


@behaviour
async def an_unknown_command_is_127(sandbox: Sandbox) -> None:
    result = await sandbox.exec("no-such-command-here", LONG)

    assert result.exit_code == 127
    assert b"no-such-command-here" in result.stderr


@behaviour
async def streams_stay_apart_and_bytes_stay_bytes(sandbox: Sandbox) -> None:
    result = await sandbox.exec(r"printf '\xff\xfe\0ok'; printf 'bad\xc3' >&2", LONG)

    assert result.stdout == b"\xff\xfe\0ok"
    assert result.stderr == b"bad\xc3"


@behaviour
async def binary_output_is_a_success(sandbox: Sandbox) -> None:
    result = await sandbox.exec("cat /bin/true", LONG)

    assert result.exit_code == 0
    assert result.stdout.startswith(b"\x7fELF")


@behaviour
async def stdin_is_empty(sandbox: Sandbox) -> None:
    for command in ("cat", "grep foo", "read -r line", "python3 -c 'input()'", "bash -s"):
        result = await sandbox.exec(command, LONG)

        assert not result.timed_out, command


@behaviour
async def a_deadline_keeps_partial_output(sandbox: Sandbox) -> None:
    result = await sandbox.exec("echo begun; echo oops >&2; sleep 99", 0.5)

    assert (result.exit_code, result.timed_out) == (None, True)
    assert (result.stdout, result.stderr) == (b"begun\n", b"oops\n")


@behaviour
async def a_deadline_kills_what_double_forked_away(sandbox: Sandbox) -> None:
    command = "(setsid sh -c 'sleep 4321 & exec sleep 4321' &) ; sleep 4321"
    result = await sandbox.exec(command, 0.5)

    assert result.timed_out
    assert result.background == 0
    assert "sleep 4321" not in await run(sandbox, "ps -e -o args")


@behaviour
async def a_deadline_spares_what_ran_before(sandbox: Sandbox) -> None:
    await sandbox.exec("sleep 8765 >/dev/null 2>&1 &", LONG)

    result = await sandbox.exec("sleep 4322 & sleep 4322", 0.5)

    assert result.timed_out
    assert result.background == 1
    listing = await run(sandbox, "ps -e -o args")
    assert "sleep 8765" in listing
    assert "sleep 4322" not in listing


@behaviour
async def background_children_never_hold_a_step(sandbox: Sandbox) -> None:
    for command in ("sleep 60 & echo ok", "setsid nohup sleep 60 & echo ok"):
        result = await sandbox.exec(command, LONG)

        assert (result.exit_code, result.timed_out) == (0, False), command
        assert b"ok" in result.stdout
    assert (await sandbox.exec("true", LONG)).background == 2


@behaviour
async def a_background_program_may_go_on_printing(sandbox: Sandbox) -> None:
    script = "while [ ! -e stop ]; do echo tick; done; echo survived > after"
    await sandbox.exec(f"({script}) &", LONG)

    await sandbox.exec("touch stop; while [ ! -s after ]; do sleep 0.01; done", LONG)

    assert await sandbox.read("after", 100) == b"survived\n"


@behaviour
async def output_is_capped_and_the_rest_counted(sandbox: Sandbox) -> None:
    result = await sandbox.exec("head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2", LONG)

    assert result.exit_code == 0
    assert (len(result.stdout), result.stdout_dropped) == (LIMIT, 5_000_000 - LIMIT)
    assert (len(result.stderr), result.stderr_dropped) == (LIMIT, 3_000_000 - LIMIT)


@behaviour
async def endless_output_ends_at_the_deadline(sandbox: Sandbox) -> None:
    result = await sandbox.exec("yes", 0.5)

    assert result.timed_out
    assert len(result.stdout) == LIMIT
    assert result.stdout_dropped > 0


@behaviour
async def signals_and_codes_are_told_apart(sandbox: Sandbox) -> None:
    killed = await sandbox.exec("kill -9 $$", LONG)
    coded = await sandbox.exec("exit 137", LONG)
    like_timeout = await sandbox.exec("exit 124", LONG)

    assert (killed.exit_code, killed.signal, killed.timed_out) == (137, 9, False)
    assert (coded.exit_code, coded.signal) == (137, None)
    assert (like_timeout.exit_code, like_timeout.timed_out) == (124, False)


@behaviour
async def long_commands_arrive_whole(sandbox: Sandbox) -> None:
    text = "x" * 1_000_000

    result = await sandbox.exec(f"cat > big <<'END'\n{text}\nEND\nwc -c < big", LONG)

    assert result.stdout.split() == [b"1000001"]


@behaviour
async def odd_text_arrives_as_bytes(sandbox: Sandbox) -> None:
    result = await sandbox.exec("printf %s 'é\ud800\udcff'", LONG)
    byte = await sandbox.exec("printf %s '\udcff'", LONG)

    assert result.stdout == b"\xc3\xa9\xed\xa0\x80\xed\xb3\xbf"
    assert byte.stdout == b"\xff"


@behaviour
async def orphans_are_reaped(sandbox: Sandbox) -> None:
    await sandbox.exec("for i in $(seq 30); do (true &); done", LONG)

    # The last of them may end just before it is looked at.
    result = await sandbox.exec("while ps -e -o stat=,ppid= | grep -q '^Z.* 1$'; do :; done", LONG)

    assert result.exit_code == 0


@behaviour
async def each_command_is_a_fresh_shell(sandbox: Sandbox) -> None:
    await sandbox.exec("cd /tmp; export KEPT=1; f() { :; }", LONG)

    result = await sandbox.exec('echo "${KEPT:-none}"; type f', LONG)

    assert result.stdout == b"none\n"
    assert (await run(sandbox, "pwd")).strip() == sandbox.work_dir


@behaviour
async def startup_files_are_not_read(sandbox: Sandbox) -> None:
    await sandbox.exec("echo 'echo planted' | tee ~/.bashrc ~/.profile ~/.bash_profile", LONG)

    assert await run(sandbox, "true") == ""


# The lasting shell.


@behaviour
async def a_lasting_shell_keeps_its_state(sandbox: Sandbox) -> None:
    await sandbox.exec(
        "mkdir -p d; cd d; export KEPT=1; f() { echo called; }", LONG, persistent=True
    )

    result = await sandbox.exec('f; echo "$KEPT"; basename "$PWD"; false', LONG, persistent=True)

    assert result.stdout == b"called\n1\nd\n"
    assert (result.exit_code, result.background, result.shell_restarted) == (1, 0, False)


@behaviour
async def a_lasting_shell_survives_a_syntax_error_and_empty_stdin(sandbox: Sandbox) -> None:
    await sandbox.exec("x=1", LONG, persistent=True)

    broken = await sandbox.exec("if then (", LONG, persistent=True)
    reading = await sandbox.exec("cat; read -r y; echo read=$?", LONG, persistent=True)
    after = await sandbox.exec("echo $x", LONG, persistent=True)

    assert broken.exit_code not in (0, None)
    assert reading.stdout == b"read=1\n"
    assert after.stdout == b"1\n"


@behaviour
async def a_lasting_shell_that_exits_is_replaced_and_says_so(sandbox: Sandbox) -> None:
    await sandbox.exec("x=1", LONG, persistent=True)

    ended = await sandbox.exec("echo bye; exit 4", LONG, persistent=True)
    after = await sandbox.exec('echo "${x:-gone}"', LONG, persistent=True)

    assert (ended.exit_code, ended.stdout, ended.shell_restarted) == (4, b"bye\n", True)
    assert (after.stdout, after.shell_restarted) == (b"gone\n", False)


@behaviour
async def a_lasting_shell_obeys_the_deadline(sandbox: Sandbox) -> None:
    result = await sandbox.exec("echo begun; sleep 4323; echo never > late", 0.5, persistent=True)
    after = await sandbox.exec("ls", LONG, persistent=True)

    assert (result.timed_out, result.stdout, result.shell_restarted) == (True, b"begun\n", True)
    assert after.stdout == b""
    assert "sleep 4323" not in await run(sandbox, "ps -e -o args")


@behaviour
async def a_lasting_shell_takes_long_commands_and_background_jobs(sandbox: Sandbox) -> None:
    text = "y" * 300_000

    long = await sandbox.exec(f"t={text}; echo ${{#t}}", LONG, persistent=True)
    job = await sandbox.exec("sleep 60 & echo ok", LONG, persistent=True)

    assert long.stdout == b"300000\n"
    assert (job.stdout, job.background) == (b"ok\n", 1)


@behaviour
async def a_forged_answer_does_not_end_a_step_early(sandbox: Sandbox) -> None:
    forged = "for fd in 250 251; do echo '1 0' >&$fd; done 2>/dev/null; echo real; exit 5"

    result = await sandbox.exec(forged, LONG, persistent=True)

    assert (result.exit_code, result.stdout) == (5, b"real\n")


# The supervisor.


@isolated
async def the_supervisor_cannot_be_harmed_or_read(sandbox: Sandbox) -> None:
    source = (
        "import ctypes, os\n"
        "for number in range(1, 65):\n"
        "    try: os.kill(1, number)\n"
        "    except OSError: pass\n"
        "for name in ('mem', 'environ', 'maps', 'stack', 'syscall', 'auxv'):\n"
        "    try:\n"
        "        with open(f'/proc/1/{name}', 'rb') as file: print(name, file.read(10))\n"
        "    except OSError: pass\n"
        "for name in ('fd', 'cwd', 'root', 'map_files', 'ns'):\n"
        "    try: print(name, os.listdir(f'/proc/1/{name}'))\n"
        "    except OSError: pass\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "vector = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)\n"
        "print(libc.ptrace(16, 1, 0, 0), libc.process_vm_readv(1, vector, 1, vector, 1, 0))\n"
    )

    result = await sandbox.code(source, LONG)

    assert result.stdout == b"-1 -1\n"
    assert await run(sandbox, "echo alive") == "alive\n"


# Python.


@behaviour
async def code_runs_as_main(sandbox: Sandbox) -> None:
    source = "import sys, os\nprint(__name__, sys.argv, os.getcwd())\nsys.exit(3)"

    result = await sandbox.code(source, LONG)

    assert result.exit_code == 3
    assert result.stdout.decode() == f"__main__ ['-c'] {sandbox.work_dir}\n"


@behaviour
async def tracebacks_show_only_the_agents_frames(sandbox: Sandbox) -> None:
    result = await sandbox.code("def f():\n    1 / 0\n\nf()", LONG)

    assert result.exit_code == 1
    lines = result.stderr.decode().splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.strip() for line in lines if "File" in line] == [
        'File "<code>", line 4, in <module>',
        'File "<code>", line 2, in f',
    ]
    assert "    1 / 0" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"


@behaviour
async def code_ends_like_an_interpreter(sandbox: Sandbox) -> None:
    source = (
        "import atexit, sys, threading, time\n"
        "atexit.register(lambda: print('at exit'))\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()\n"
        "print('main')\n"
        "sys.exit('a message')\n"
    )

    result = await sandbox.code(source, LONG)

    assert result.stdout == b"main\nthread\nat exit\n"
    assert (result.exit_code, result.stderr) == (1, b"a message\n")


@behaviour
async def code_faults_are_the_codes_own(sandbox: Sandbox) -> None:
    for source, words in (
        ("if", b"SyntaxError"),
        ("x = '\0'", b"null byte"),
        ("def f(): f()\nf()", b"RecursionError"),
        ("input()", b"EOFError"),
        ("raise KeyboardInterrupt", b"KeyboardInterrupt"),
    ):
        result = await sandbox.code(source, LONG)

        assert result.exit_code == 1, source
        assert words in result.stderr, source


@behaviour
async def code_imports_what_lies_in_the_work_folder(sandbox: Sandbox) -> None:
    await sandbox.write("helper.py", b"VALUE = 7\n")

    result = await sandbox.code("import helper, json\nprint(json.dumps(helper.VALUE))", LONG)

    assert result.stdout == b"7\n"


@behaviour
async def code_keeps_partial_output_at_its_deadline(sandbox: Sandbox) -> None:
    result = await sandbox.code("print('begun')\nwhile True: pass", 0.5)

    assert (result.timed_out, result.stdout) == (True, b"begun\n")
    assert (await sandbox.exec("true", LONG)).background == 0


@behaviour
async def code_can_start_programs_and_pickle(sandbox: Sandbox) -> None:
    source = (
        "import os, pickle, subprocess\n"
        "def f(): return 5\n"
        "print(pickle.loads(pickle.dumps(f))(), flush=True)\n"
        "subprocess.run(['echo', 'child'], check=True)\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(6)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )

    assert (await sandbox.code(source, LONG)).stdout == b"5\nchild\n6\n"


@behaviour
async def code_finds_nothing_of_the_supervisor(sandbox: Sandbox) -> None:
    source = (
        "import os, sys\n"
        "print([m for m in sys.modules if 'deepgym' in m])\n"
        "print(sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:3])\n"
        "print(len(os.listdir('/proc/self/fd')))\n"
    )

    result = await sandbox.code(source, LONG)

    # Three streams, and the listing's own descriptor.
    assert result.stdout == b"[]\n[0, 1, 2]\n4\n"


@behaviour
async def a_secret_command_is_like_any_other(sandbox: Sandbox) -> None:
    hidden = await sandbox.exec("echo out; echo err >&2; exit 3", LONG, secret=True)
    late = await sandbox.exec("echo begun; (setsid sleep 4323 &); sleep 99", 0.5, secret=True)
    command = "(while :; do echo tick || break; sleep 0.01; date +%N > t; done) & echo on"
    server = await sandbox.exec(command, LONG, secret=True)
    code = await sandbox.code("print(__name__)", LONG, secret=True)

    assert (hidden.exit_code, hidden.stdout, hidden.stderr) == (3, b"out\n", b"err\n")
    assert (late.timed_out, late.stdout, late.background) == (True, b"begun\n", 0)
    assert (server.exit_code, b"on" in server.stdout.split()) == (0, True)
    assert code.stdout == b"__main__\n"
    # The server can still print, so it lives on, and is still seen.
    first = await run(sandbox, "while [ ! -s t ]; do sleep 0.01; done; cat t")
    await run(sandbox, f"while [ \"$(cat t)\" = '{first.strip()}' ]; do sleep 0.01; done")
    assert (await sandbox.exec("true", LONG)).background > 0


# Files.


@behaviour
async def files_are_written_whole(sandbox: Sandbox) -> None:
    data = bytes(range(256)) * 5000

    await sandbox.write("a/b/data.bin", data)
    await sandbox.write("a/b/data.bin", b"short")

    assert await sandbox.read("a/b/data.bin", 100) == b"short"
    owner = await run(sandbox, "stat -c %U a/b/data.bin; id -un")
    assert len(set(owner.split())) == 1


@behaviour
async def odd_names_are_names(sandbox: Sandbox) -> None:
    for name in ("-rf", "a b", "quo'te\"", "é😀", "new\nline", "\udcff", "*"):
        await sandbox.write(name, name.encode("utf-8", "surrogateescape"))

        assert await sandbox.read(name, 100) == name.encode("utf-8", "surrogateescape")


@behaviour
async def no_path_leads_out_of_the_work_folder(sandbox: Sandbox) -> None:
    for path in ("/tmp/x", "../x", "a/../../x", "", ".", "a/.."):
        with pytest.raises(ActionError):
            await sandbox.write(path, b"x")


@behaviour
async def links_are_not_followed(sandbox: Sandbox) -> None:
    await sandbox.exec(
        "echo kept > ~/target; ln -s ~/target live; ln -s ~/dangling dangling; ln -s ~ folder", LONG
    )

    for path in ("live", "dangling", "folder/x"):
        with pytest.raises(ActionError, match="in the way|Not a directory"):
            await sandbox.write(path, b"overwritten")
        with pytest.raises(ActionError):
            await sandbox.read(path, 100)

    assert await run(sandbox, "cat ~/target; ls ~") == "kept\ntarget\n"


@behaviour
async def folders_fifos_and_own_permissions_are_in_the_way(sandbox: Sandbox) -> None:
    await sandbox.exec("mkdir folder; mkfifo pipe; touch file", LONG)

    for path in ("folder", "pipe", "file/below"):
        with pytest.raises(ActionError):
            await sandbox.write(path, b"x")


@behaviour
async def reads_are_bounded(sandbox: Sandbox) -> None:
    await sandbox.write("data", b"x" * 101)

    with pytest.raises(OutputLimitError):
        await sandbox.read("data", 100)
    with pytest.raises(ActionError):
        await sandbox.read("missing", 100)


@isolated
async def a_full_disk_is_a_write_error(sandbox: Sandbox) -> None:
    await sandbox.exec("head -c 400M /dev/zero > fill", LONG)

    with pytest.raises(SandboxWriteError):
        await sandbox.write("more", b"x" * 100_000)
    assert await run(sandbox, "rm fill; echo room") == "room\n"


# Verifiers.


@behaviour
async def a_verifier_sees_the_work_folder(sandbox: Sandbox) -> None:
    await sandbox.write("notes.txt", b"hello")

    outcome = await judge(sandbox, "print(open('notes.txt').read())")

    assert (outcome.exit_code, outcome.stdout, outcome.touched) == (0, b"hello\n", True)


@behaviour
async def a_verifier_is_an_isolated_interpreter(sandbox: Sandbox) -> None:
    await sandbox.write("json.py", b"raise SystemExit('planted')")
    await sandbox.write("sitecustomize.py", b"raise SystemExit('planted')")
    source = (
        "import sys, json, os\n"
        "print(sys.flags.isolated, '' in sys.path, os.getcwd() in sys.path, __name__)\n"
        "print(json.dumps(sorted(k for k in os.environ if 'PYTHONPATH' in k or 'PRELOAD' in k)))\n"
    )

    outcome = await judge(sandbox, source)

    assert outcome.stdout == b"1 False False __main__\n[]\n"


@behaviour
async def a_crash_is_told_from_an_exit_code(sandbox: Sandbox) -> None:
    crashed = await judge(sandbox, "import nothing_like_this")
    exited = await judge(sandbox, "import sys; sys.exit(1)")
    hard = await judge(sandbox, "import os; os._exit(7)")

    assert (crashed.exit_code, crashed.crash) == (1, "ModuleNotFoundError")
    assert b"nothing_like_this" in crashed.stderr
    assert (exited.exit_code, exited.crash) == (1, None)
    assert (hard.exit_code, hard.crash) == (7, None)


@behaviour
async def a_killed_verifier_has_its_signal(sandbox: Sandbox) -> None:
    outcome = await judge(sandbox, "import os; os.kill(os.getpid(), 9)")

    assert (outcome.signal, outcome.timed_out) == (9, False)


@behaviour
async def a_verifier_ends_at_its_deadline(sandbox: Sandbox) -> None:
    outcome = await judge(sandbox, "print('so far', flush=True)\nwhile True: pass", timeout_s=0.5)

    assert (outcome.timed_out, outcome.touched, outcome.stdout) == (True, False, b"so far\n")


@behaviour
async def touches_are_seen(sandbox: Sandbox) -> None:
    await sandbox.exec("mkdir d; echo 1 > f; echo 'echo hi' > s.sh; chmod +x s.sh", LONG)
    for source in (
        "open('f')",
        "import pathlib; pathlib.Path('f').read_text()",
        "open('missing')",
        "import os; os.open('f', 0)",
        "import os; os.listdir('.')",
        "import os; os.listdir()",
        "import os; list(os.scandir('d'))",
        "import glob; glob.glob('*')",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import subprocess, os; subprocess.run([os.getcwd() + '/s.sh'], cwd='/', shell=False)",
        "import sqlite3; sqlite3.connect('f')",
        "import sys; sys.path.insert(0, ''); import absent_module",
    ):
        outcome = await judge(sandbox, source)

        assert outcome.touched, source


@behaviour
async def looking_is_no_touch(sandbox: Sandbox) -> None:
    await sandbox.write("f", b"1")
    source = (
        "import json, os, pathlib, tempfile, time\n"
        "os.stat('f'); os.path.exists('f'); pathlib.Path('f').is_file()\n"
        "tempfile.NamedTemporaryFile().close()\n"
        "open('/proc/self/status').read(); os.listdir('/usr')\n"
        "raise RuntimeError\n"
    )

    outcome = await judge(sandbox, source)

    assert (outcome.crash, outcome.touched) == ("RuntimeError", False)


@behaviour
async def a_step_verifier_gets_the_output_and_the_number(sandbox: Sandbox) -> None:
    source = (
        "import os\n"
        "print(os.environ['STEP_NUMBER'])\n"
        "print(open(os.environ['STEP_OUTPUT_PATH'], 'rb').read())\n"
        "print(open(os.environ['VERIFIER_STATE_PATH']).read())\n"
    )
    request = VerifyRequest(
        code=source,
        timeout_s=LONG,
        final=False,
        step_output=b"\xffout",
        step_number=4,
        state=b"[1]",
    )

    outcome = await sandbox.verify(request)

    assert outcome.stdout == b"4\nb'\\xffout'\n[1]\n"
    assert outcome.touched


@behaviour
async def reading_its_own_state_is_no_touch(sandbox: Sandbox) -> None:
    source = "import os; open(os.environ['VERIFIER_STATE_PATH']).read(); 1 / 0"

    outcome = await sandbox.verify(
        VerifyRequest(
            code=source, timeout_s=LONG, final=False, step_output=b"", step_number=1, state=b"1"
        )
    )

    assert (outcome.crash, outcome.touched) == ("ZeroDivisionError", False)


@behaviour
async def the_end_of_a_verifiers_output_is_kept(sandbox: Sandbox) -> None:
    source = "print('x' * 40_000_000); print('last'); import sys; print('e' * 9, file=sys.stderr)"

    outcome = await judge(sandbox, source)

    assert outcome.stdout.endswith(b"x\nlast\n")
    assert outcome.stderr == b"eeeeeeeee\n"


@isolated
async def a_verifier_cannot_change_the_work_folder(sandbox: Sandbox) -> None:
    source = (
        "import os, subprocess\n"
        "for call in (lambda: open('x', 'w'), lambda: os.mkdir('d'), lambda: os.unlink('f')):\n"
        "    try: call(); print('could')\n"
        "    except OSError as error: print(error.errno)\n"
        "subprocess.Popen(['setsid', 'sleep', '4324'])\n"
    )
    await sandbox.write("f", b"1")

    outcome = await judge(sandbox, source)

    assert outcome.stdout == b"30\n30\n30\n"
    assert "4324" not in await run(sandbox, "ls; ps -e -o args")


@isolated
async def a_step_verifier_finds_the_agent_frozen(sandbox: Sandbox) -> None:
    await sandbox.exec("(n=0; while :; do n=$((n+1)); echo $n > n; done) >/dev/null 2>&1 &", LONG)
    await sandbox.exec("while [ ! -s n ]; do :; done", LONG)
    source = (
        "import time\nread = lambda: open('n').read()\nfirst = read()\n"
        "for _ in range(20):\n    time.sleep(0.01)\n    assert read() == first\nprint('still')\n"
    )

    outcome = await judge(sandbox, source, final=False)

    assert outcome.stdout == b"still\n"
    before = await sandbox.read("n", 100)
    await sandbox.exec(f"while [ \"$(cat n)\" = '{before.decode().strip()}' ]; do :; done", LONG)


@behaviour
async def a_final_verifier_finds_no_process_of_the_agent(sandbox: Sandbox) -> None:
    await sandbox.exec("trap '' TERM; setsid sleep 4325 >/dev/null 2>&1 & disown -a", LONG)
    await sandbox.exec("sleep 4325 &", LONG, persistent=True)

    await judge(sandbox, "pass")

    assert "sleep 4325" not in await run(sandbox, "ps -e -o args")
    assert (await sandbox.exec("echo again", LONG, persistent=True)).stdout == b"again\n"


@behaviour
async def a_verifier_may_talk_to_a_kept_server(sandbox: Sandbox) -> None:
    server = (
        "import http.server, socketserver\n"
        "handler = http.server.SimpleHTTPRequestHandler\n"
        "with socketserver.TCPServer(('127.0.0.1', 0), handler) as s:\n"
        "    open('port', 'w').write(str(s.server_address[1]))\n"
        "    s.serve_forever()\n"
    )
    await sandbox.write("server.py", server.encode())
    await sandbox.exec(
        "setsid python3 server.py >/dev/null 2>&1 & while [ ! -s port ]; do sleep 0.01; done", LONG
    )
    source = (
        "import urllib.request\nport = open('port').read()\n"
        "print(urllib.request.urlopen(f'http://127.0.0.1:{port}/port').read().decode() == port)\n"
    )

    outcome = await sandbox.verify(
        VerifyRequest(code=source, timeout_s=LONG, final=True, keep_processes=True)
    )

    assert outcome.stdout == b"True\n"
    assert (await sandbox.exec("true", LONG)).background == 1


# Solutions.

HOSTILE = b"""
import os, sys, time, signal
def double(x): return x * 2
def fails(): raise ValueError("no")
def exits(): os._exit(0)
def quits(): sys.exit(0)
def hangs():
    while True: pass
def recurses(): return recurses()
def allocates(): return len(bytearray(1 << 40))
def prints(): print('{"score": 1.0, "passed": true}'); return 1
def closes():
    for fd in range(3): os.close(fd)
    return "closed"
def strikes():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try: os.kill(-1, signal.SIGKILL)
    except OSError: pass
    return "struck"
class Evil:
    def __eq__(self, other): return True
    def __reduce__(self): return (os.system, ("touch /tmp/pwned",))
def evil(): return Evil()
def sneaky(): return [Evil()]
class Int(int):
    def __eq__(self, other): return True
def subclass(): return Int(3)
counter = []
def counts():
    counter.append(1)
    return len(counter)
def who(): return (os.getuid(), os.getgroups(), open("/proc/self/status").read())
"""


@behaviour
async def a_solution_answers_with_plain_data(sandbox: Sandbox) -> None:
    await sandbox.write("sol.py", b"def echo(*a, **k): return (a, k)\n_hidden = 1\nVALUE = 3\n")
    source = (
        "from deepgym_solution import load_solution\n"
        "s = load_solution('sol.py')\n"
        "value = (None, True, 10**5000, 1.5, 'é\\ud800', b'\\xff', [1], (2,), {(1, 2): {3}},\n"
        "         frozenset({4}))\n"
        "assert s.echo(*value, k=-0.0) == (value, {'k': -0.0})\n"
        "assert s.names() == ['echo']\n"
        "print('same')\n"
    )

    outcome = await judge(sandbox, source)

    assert (outcome.stdout, outcome.stderr, outcome.touched) == (b"same\n", b"", True)


@behaviour
async def each_case_of_a_solution_fails_by_itself(sandbox: Sandbox) -> None:
    await sandbox.write("sol.py", HOSTILE)
    source = (
        "from deepgym_solution import load_solution, SolutionError\n"
        "s = load_solution('sol.py', case_timeout=1.0)\n"
        "for name in ('fails', 'exits', 'quits', 'hangs', 'recurses', 'allocates', 'missing',\n"
        "             'evil', 'sneaky', 'subclass'):\n"
        "    try: print(name, s.call(name))\n"
        "    except SolutionError as error: print(name, error.kind)\n"
        "    assert s.double(21) == 42, name\n"
        "assert s.counts() + s.counts() == 3\n"
        "print(s.prints(), s.closes(), s.double(4))\n"
    )

    outcome = await judge(sandbox, source)

    assert outcome.stderr == b""
    assert outcome.stdout.decode().splitlines() == [
        *("fails error", "exits exit", "quits exit", "hangs timeout", "recurses error"),
        *("allocates error", "missing missing", "evil plain_data", "sneaky plain_data"),
        *("subclass plain_data", "1 closed 8"),
    ]


@behaviour
async def a_solution_that_does_not_load_says_why(sandbox: Sandbox) -> None:
    await sandbox.write("broken.py", b"def f(:\n")
    await sandbox.write("raises.py", b"raise RuntimeError('at import')\n")
    source = (
        "from deepgym_solution import load_solution, SolutionError\n"
        "for path in ('broken.py', 'raises.py', 'missing.py'):\n"
        "    try: load_solution(path)\n"
        "    except SolutionError as error: print(error.kind, error.message.split(':')[0])\n"
    )

    outcome = await judge(sandbox, source)

    assert outcome.stdout == b"error SyntaxError\nerror RuntimeError\nerror FileNotFoundError\n"


@behaviour
async def a_solution_in_a_package_keeps_its_relative_imports(sandbox: Sandbox) -> None:
    await sandbox.write("pkg/__init__.py", b"")
    await sandbox.write("pkg/a.py", b"from .b import value\ndef f(): return value\n")
    await sandbox.write("pkg/b.py", b"import top\nvalue = top.value\n")
    await sandbox.write("top.py", b"value = 11\n")
    source = "from deepgym_solution import load_solution\nprint(load_solution('pkg/a.py').f())\n"

    assert (await judge(sandbox, source)).stdout == b"11\n"


@behaviour
async def a_solution_is_its_source_and_not_bytecode_beside_it(sandbox: Sandbox) -> None:
    await sandbox.write("sol.py", b"def f(): return 1\n")
    compile_it = "import py_compile, os; os.utime('sol.py', (9, 9)); py_compile.compile('sol.py')"
    await sandbox.code(compile_it, LONG)
    await sandbox.write("sol.py", b"def f(): return 2\n")
    await sandbox.exec("touch -d @9 sol.py", LONG)
    source = "from deepgym_solution import load_solution\nprint(load_solution('sol.py').f())\n"

    assert (await judge(sandbox, source)).stdout == b"2\n"


@behaviour
async def running_python_leaves_no_bytecode(sandbox: Sandbox) -> None:
    await sandbox.write("helper.py", b"VALUE = 1\n")

    await sandbox.code("import helper", LONG)
    await sandbox.exec("python3 -c 'import helper'", LONG)

    assert await run(sandbox, "ls") == "helper.py\n"


@isolated
async def a_verifier_runs_with_nothing(sandbox: Sandbox) -> None:
    source = (
        "import os\n"
        "text = open('/proc/self/status').read().splitlines()\n"
        "lines = dict(line.split(':\\t', 1) for line in text if ':\\t' in line)\n"
        "caps = {lines[k] for k in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}\n"
        "print(caps, lines['NoNewPrivs'], lines['Seccomp'], len(os.getgroups()))\n"
    )

    outcome = await judge(sandbox, source)

    assert (outcome.stdout, outcome.stderr) == (b"{'0000000000000000'} 1 2 0\n", b"")


@isolated
async def a_solution_runs_with_nothing(sandbox: Sandbox) -> None:
    await sandbox.write("sol.py", HOSTILE)
    source = (
        "import json, os\nfrom deepgym_solution import load_solution\n"
        "s = load_solution('sol.py')\nuid, groups, status = s.who()\n"
        "lines = dict(line.split(':\\t', 1) for line in status.splitlines() if ':\\t' in line)\n"
        "caps = {lines[k] for k in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}\n"
        "print(groups, caps, lines['NoNewPrivs'], lines['Seccomp'], s.strikes(), s.double(1))\n"
    )

    outcome = await judge(sandbox, source)

    assert outcome.stderr == b""
    assert outcome.stdout.decode().split("]", 1)[1] == " {'0000000000000000'} 1 2 struck 2\n"


@isolated
async def a_solution_cannot_break_its_supervisor(sandbox: Sandbox) -> None:
    source = (
        b"import resource\n"
        b"def breaks():\n"
        b"    for kind in range(16):\n"
        b"        try: resource.prlimit(1, kind, (0, 0))\n"
        b"        except (OSError, ValueError): pass\n"
        b"    import os; os._exit(0)\n"
        b"def ok(): return 1\n"
    )
    await sandbox.write("sol.py", source)
    agents = await sandbox.code(f"{source.decode()}breaks()", LONG)
    verifier = (
        "from deepgym_solution import load_solution, SolutionError\n"
        "s = load_solution('sol.py')\n"
        "try: s.breaks()\n"
        "except SolutionError as error: print(error.kind)\n"
        "print(s.ok())\n"
    )

    outcome = await judge(sandbox, verifier)

    assert agents.exit_code == 0
    assert (outcome.stdout, outcome.launch_failed) == (b"exit\n1\n", False)
