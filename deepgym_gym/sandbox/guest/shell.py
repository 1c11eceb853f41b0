"""The lasting shell: one bash for the episode, so that `cd`, `export` and functions persist.

Each command travels through a pipe to a loop inside that bash, which evaluates it with empty stdin
and answers with its exit code. A command that ends the shell (`exit`, `exec`) or overruns its
deadline costs the shell; the next command gets a new one, and the reply says so.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Mapping

from deepgym_gym.sandbox.guest.capture import Capture
from deepgym_gym.sandbox.guest.process import DEFAULT_SIGNALS, acting_as

_COMMANDS, _ANSWERS = 250, 251
# The two descriptors are closed for the evaluated command, so that no program of the agent inherits
# them.
_LOOP = """
while IFS= read -r -d '' -u 250 DG_TOKEN && IFS= read -r -d '' -u 250 DG_COMMAND; do
  eval "$DG_COMMAND" </dev/null 250<&- 251>&-
  printf '%s %s\\n' "$DG_TOKEN" "$?" >&251
done
"""


class LastingShell:
    """The shell's process, its pipes and what it last answered."""

    def __init__(self, bash: str, uid: int, gid: int, environment: Mapping[str, str]) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        self.stdout, stdout = os.pipe()
        self.stderr, stderr = os.pipe()
        os.set_blocking(self._answers, False)
        self._pending = b""
        self._token = 0
        self._code: int | None = None
        theirs = ((commands, _COMMANDS), (answers, _ANSWERS), (stdout, 1), (stderr, 2))
        os.set_blocking(self._commands, False)
        try:
            with acting_as(uid, gid):
                self.pid = os.posix_spawn(
                    bash,
                    ["bash", "--norc", "--noprofile", "-c", _LOOP],
                    dict(environment),
                    file_actions=[
                        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                        *((os.POSIX_SPAWN_DUP2, fd, to) for fd, to in theirs),
                    ],
                    setsid=True,
                    setsigdef=DEFAULT_SIGNALS,
                )
        except OSError:
            self.close()
            raise
        finally:
            for fd, _ in theirs:
                os.close(fd)

    def begin(self, command: bytes, deadline: float) -> bool:
        """Hand over a command; False if the shell did not take it before the deadline.

        Raises:
            BrokenPipeError: the shell is gone.
        """
        self._token += 1
        self._code = None
        self._pending = b""
        data = memoryview(b"%d\0%s\0" % (self._token, command))
        room = select.poll()
        room.register(self._commands, select.POLLOUT)
        while data:
            try:
                data = data[os.write(self._commands, data) :]
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                room.poll(int(left * 1000) + 1)
        return True

    @property
    def answers(self) -> int:
        """The descriptor to poll for an answer."""
        return self._answers

    def poll_answer(self) -> None:
        """Read what the shell answered, if anything."""
        with contextlib.suppress(BlockingIOError):
            self._pending = (self._pending + os.read(self._answers, 4096))[-4096:]
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            token, _, code = line.partition(b" ")
            # An old answer, or one that the command forged, carries another number or none.
            if token == b"%d" % self._token and code.isdigit() and len(code) <= 3:
                self._code = int(code)

    @property
    def code(self) -> int | None:
        """The exit code of the command, None as long as it runs."""
        return self._code

    def captures(self, limit: int) -> list[Capture]:
        """Fresh captures of the shell's two streams; what background programs printed before is
        dropped.
        """
        captures = [Capture(self.stdout, limit), Capture(self.stderr, limit)]
        for capture in captures:
            capture.drain()
            capture.data.clear()
            capture.dropped = 0
        return captures

    def close(self) -> None:
        """Let go of the pipes."""
        for name in ("_commands", "_answers", "stdout", "stderr"):
            fd = getattr(self, name, -1)
            if fd >= 0:
                os.close(fd)
                setattr(self, name, -1)
