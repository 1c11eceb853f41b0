"""Running Python source in a fork of this interpreter, as if `python3 -I` had been started for it.

A cold interpreter costs 15 to 45 ms, a fork of one that is already there about 3 ms. What the
source sees is the same: its own `__main__`, the right `sys.path`, tracebacks that show its own
frames only, exit handlers, exit codes.
"""

from __future__ import annotations

import atexit
import io
import linecache
import os
import signal
import sys
import threading
import traceback
import types
from typing import Any, Callable, NoReturn

from deepgym_gym.sandbox.guest import syscalls


class Identity:
    """Who a forked program is and what it may see.

    Args:
        shed: called first, while the process still has the rights to give rights up.
        lockdown: called when everything else is done and before any foreign code runs: drops what
            is left of privileges (capabilities, seccomp).
    """

    def __init__(
        self,
        uid: int,
        gid: int,
        environment: dict[str, str],
        directory: str,
        lockdown: Callable[[], None] | None = None,
        shed: Callable[[], None] | None = None,
    ) -> None:
        self.uid = uid
        self.gid = gid
        self.environment = environment
        self.directory = directory
        self.lockdown = lockdown
        self.shed = shed

    def assume(self, stdin: int, stdout: int, stderr: int, keep: tuple[int, ...] = ()) -> None:
        """Turn this freshly forked process into a program of its own."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        for source, target in ((stdin, 0), (stdout, 1), (stderr, 2)):
            os.dup2(source, target)
        low = 3
        for fd in sorted(keep):
            if fd > low:
                syscalls.close_range(low, fd - 1)
            low = fd + 1
        syscalls.close_range(low)
        os.chdir(self.directory)
        if self.shed is not None:
            self.shed()
        if self.uid != os.getresuid()[2] or self.uid != os.geteuid():
            os.setresgid(self.gid, self.gid, self.gid)
            os.setresuid(self.uid, self.uid, self.uid)
        # Forks of the supervisor are hidden from themselves until this is undone.
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        if self.lockdown is not None:
            self.lockdown()
        os.environ.clear()
        os.environ.update(self.environment)
        sys.stdin = _stream(0, "r", "strict")
        sys.stdout = _stream(1, "w", "strict")
        sys.stderr = _stream(2, "w", "backslashreplace")
        for name in ("stdin", "stdout", "stderr"):
            setattr(sys, f"__{name}__", getattr(sys, name))


def _stream(fd: int, mode: str, errors: str) -> io.TextIOWrapper:
    # Line buffered, so that a program that is killed at its deadline has shown what it printed.
    raw = open(fd, mode + "b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=mode == "w")


def forget_supervisor() -> None:
    """Take the supervisor's modules out of sight, and its `-c` out of `sys.argv`."""
    for name in [name for name in sys.modules if name.split(".")[0] == "deepgym_gym"]:
        del sys.modules[name]


def run_main(
    source: bytes, filename: str, *, path: str | None = None, first_path: str | None = None
) -> tuple[int, str | None]:
    """Run `source` as `__main__` to its end, exit handlers included.

    Args:
        source: the program's bytes, decoded as Python decodes a file.
        filename: what tracebacks say.
        path: what `__file__` and `sys.argv` say, if it is another file.
        first_path: what to put in front of `sys.path`.

    Returns:
        The exit code, and the class name of an uncaught exception if there was one.
    """
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    if not filename.startswith("<"):
        module.__file__ = path or filename
    sys.modules["__main__"] = module
    sys.argv = ["-c" if filename.startswith("<") else path or filename]
    # See Setting.environment, which says the same to programs that are started.
    sys.dont_write_bytecode = True
    if first_path is not None:
        sys.path.insert(0, first_path)
    text = source.decode("utf-8", "replace")
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)

    def execute() -> None:
        program = compile(source, filename, "exec", dont_inherit=True)
        exec(program, module.__dict__)  # noqa: S102  # this is the sandbox, and its whole purpose

    status, crash = _guarded(execute)
    shutdown = getattr(threading, "_shutdown", None)
    for step in (shutdown, atexit._run_exitfuncs):
        if step is not None:
            late_status, late_crash = _guarded(step)
            # An exit handler's own SystemExit or error does not change the code Python exits with.
            del late_status, late_crash
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        status = status or 120
    return status, crash


def _guarded(call: Callable[[], Any]) -> tuple[int, str | None]:
    try:
        call()
    except SystemExit as exit_:
        return _exit_status(exit_.code), None
    except BaseException as error:
        _report(error)
        return 1, type(error).__name__
    return 0, None


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    try:
        sys.stdout.flush()
        print(code, file=sys.stderr)  # noqa: T201
    except BaseException:
        return 1
    return 1


def _report(error: BaseException) -> None:
    """Print the traceback without the supervisor's own frames."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    try:
        sys.stdout.flush()
        if sys.excepthook is sys.__excepthook__:
            # The built-in hook reads source lines from files only; this one knows `linecache`.
            traceback.print_exception(type(error), error.with_traceback(frames), frames)
        else:
            sys.excepthook(type(error), error.with_traceback(frames), frames)
    except BaseException:
        return


def leave(status: int) -> NoReturn:
    """End a forked program at once: what is left on the stack belongs to the supervisor."""
    os._exit(status)
