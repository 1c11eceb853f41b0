"""The warden: a small process that makes boxes, because the trainer's must never fork.

One thread, one poll loop. The owner speaks JSON packets over a socket and passes each box's channel
as a descriptor; steps then go straight from the owner to the box. The warden dies with its owner,
whatever kills that, and every box dies with the warden. It never sees a verifier's text: agents'
boxes are forks of its memory.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from deepgym_gym.sandbox.guest import main, syscalls
from deepgym_gym.sandbox.guest.audit import MountWatch
from deepgym_gym.sandbox.namespace import box as boxes
from deepgym_gym.sandbox.namespace.box import Layout
from deepgym_gym.sandbox.namespace.cgroups import Cgroups
from deepgym_gym.sandbox.namespace.forks import Forks, Session
from deepgym_gym.sandbox.namespace.identity import Identity

# A verifier may ask for so many solver boxes; a faulty one must not fill the machine.
_MAX_SOLVERS = 64
_PACKET = 1 << 16
_LAST_REAP_S = 2.0


class Warden:
    """Serves one owner."""

    def __init__(self, control: socket.socket, config: dict[str, Any]) -> None:
        self._control = control
        layout = Layout(
            tuple(config["binds"]), tuple(config["hidden"]), config["interpreter"], config["path"]
        )
        self._identity = Identity(config.get("mode"))
        self._cgroups = Cgroups() if config["cgroups"] else None
        self._sessions: dict[str, Session] = {}
        self._by_pid: dict[int, Session] = {}
        # Boxes that died before they were claimed, and the forks that made boxes: numbers are used
        # again, so none may stay here.
        self._unclaimed: set[int] = set()
        self._makers: set[int] = set()
        self._hooks: dict[int, Callable[[], None]] = {}
        # fanotify groups that are free. Each serves one verifier at a time and is kept for the
        # next: the kernel takes long to take one apart.
        self._watches: list[MountWatch] = []
        # Boxes hold the reading end: it closes when the warden dies.
        lifeline, self._life = os.pipe()
        self._owner = os.pidfd_open(config["owner"]) if config["owner"] else -1
        self._wake, wake_writer = os.pipe()
        for fd in (self._wake, wake_writer):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        self._forks = Forks(layout, self._identity, self._cgroups, lifeline)
        if self._forks.networks:
            self._hooks[self._forks.networks.fileno()] = self._receive_networks

    def serve(self) -> None:
        """Work until the owner is gone."""
        memory = self._cgroups.memory if self._cgroups else None
        pids = self._cgroups.pids if self._cgroups else None
        self._reply(
            {
                "ready": True,
                "mode": self._identity.mode,
                "memory": "cgroup" if memory else "rlimit",
                "pids": "rlimit+cgroup" if pids else "rlimit",
                "watches": self._forks.networks is not None,
            }
        )
        try:
            while self._turn():
                pass
        finally:
            self._end()

    def _turn(self) -> bool:
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        if self._owner >= 0:
            poller.register(self._owner, select.POLLIN)
        for fd in self._hooks:
            poller.register(fd, select.POLLIN)
        for fd, _ in poller.poll():
            if fd == self._owner:
                return False
            if fd == self._wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 4096)
                self._reap()
            elif fd == self._control.fileno():
                if not self._request():
                    return False
            elif fd in self._hooks:
                self._hooks[fd]()
        return True

    def _request(self) -> bool:
        try:
            data, fds, _, _ = socket.recv_fds(self._control, _PACKET, 4)
        except OSError:
            return False
        if not data:
            return False
        request = json.loads(data)
        handler = getattr(self, "_do_" + request["op"])
        try:
            handler(request, fds)
        except Exception as error:
            self._reply({"id": request["id"], "error": f"{type(error).__name__}: {error}"})
        finally:
            for fd in fds:
                os.close(fd)
        return True

    def _reply(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode())

    # Requests.

    def _do_start(self, request: dict[str, Any], fds: list[int]) -> None:
        session = self._forks.agent_box(request["name"], fds[0], request["spec"])
        self._sessions[session.name] = session
        if session.pid is not None:
            self._by_pid[session.pid] = session
        self._reply({"id": request["id"]})

    def _do_verifier(self, request: dict[str, Any], fds: list[int]) -> None:
        session = self._sessions[request["name"]]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            made = self._forks.sibling_box(
                session,
                fds[0],
                launcher=theirs.fileno(),
                shared_network=request["shared_network"],
            )
        # Answered when the box has its first process and is watched.
        self._follow(session, made, request["box"], request["id"])
        session.launchers[ours.fileno()] = ours
        session.solvers = 0
        self._hooks[ours.fileno()] = lambda: self._launch_solver(session, ours)

    def _do_stop(self, request: dict[str, Any], fds: list[int]) -> None:
        session = self._sessions.get(request["name"])
        if session is None:
            self._reply({"id": request["id"]})
            return
        session.stopping.append(request["id"])
        self._kill(session)
        self._settle(session)

    def _do_watched(self, request: dict[str, Any], fds: list[int]) -> None:
        """Say what a watch has seen, and end it."""
        watch = self._sessions[request["name"]].watches.pop(request["box"])
        touched = watch.finish()
        self._watches.append(watch)
        self._reply({"id": request["id"], "touched": touched})

    def _do_oom(self, request: dict[str, Any], fds: list[int]) -> None:
        kills = self._cgroups.oom_kills(request["name"]) if self._cgroups else 0
        self._reply({"id": request["id"], "oom_kills": kills})

    # Siblings.

    def _follow(
        self, session: Session, made: tuple[int, int], box: str = "", request: int | None = None
    ) -> None:
        """Wait, in the loop, for a sibling to tell its pid; then answer a request, if one waits."""
        maker, reader = made
        self._makers.add(maker)
        self._hooks[reader] = lambda: self._claim(session, reader, box, request)

    def _claim(self, session: Session, reader: int, box: str, request: int | None) -> None:
        text = os.read(reader, 20)
        del self._hooks[reader]
        os.close(reader)
        pid = int(text) if text else 0
        watched = False
        if pid in self._unclaimed:
            self._unclaimed.discard(pid)
        elif pid:
            session.siblings.add(pid)
            self._by_pid[pid] = session
            if session.pid is None or session.stopping:
                os.kill(pid, signal.SIGKILL)
            else:
                watched = request is not None and self._watch(session, box, pid)
        if request is not None:
            # Why there is no box, if there is none, stands in its channel.
            self._reply({"id": request, "watched": watched})

    def _watch(self, session: Session, box: str, pid: int) -> bool:
        """Watch a verifier's work mount, before its code can run; only root may from outside."""
        if self._forks.networks is None:
            return False
        watch = self._watches.pop() if self._watches else MountWatch.unmarked()
        if watch is None:
            return False
        if not watch.mark(f"/proc/{pid}/root{boxes.WORK}"):
            self._watches.append(watch)
            return False
        session.watches[box] = watch
        return True

    def _launch_solver(self, session: Session, launcher: socket.socket) -> None:
        """A verifier asks for a box for the agent's code."""
        try:
            asked = launcher.recv(_PACKET)
            if not asked:
                self._forget_launcher(session, launcher)
                return
            session.solvers += 1
            if session.solvers > _MAX_SOLVERS:
                launcher.send(b"too many solver boxes for one verifier")
                return
            ours, theirs = socket.socketpair()
            with ours, theirs:
                try:
                    self._follow(session, self._forks.sibling_box(session, theirs.fileno()))
                except OSError as error:
                    launcher.send(str(error).encode())
                    return
                socket.send_fds(launcher, [b"ok"], [ours.fileno()])
        except OSError:
            self._forget_launcher(session, launcher)

    def _forget_launcher(self, session: Session, launcher: socket.socket) -> None:
        fd = launcher.fileno()
        session.launchers.pop(fd, None)
        self._hooks.pop(fd, None)
        launcher.close()

    def _receive_networks(self) -> None:
        networks = self._forks.networks
        if networks and not networks.receive():
            # Its maker is gone; boxes make their own from now on.
            del self._hooks[networks.fileno()]
            networks.close()
            self._forks.networks = None

    # Endings.

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            session = self._by_pid.pop(pid, None)
            if pid in self._makers:
                self._makers.discard(pid)
                continue
            if session is None:
                self._unclaimed.add(pid)
                continue
            session.siblings.discard(pid)
            if session.pid == pid:
                session.pid = None
            if session.stopping:
                self._settle(session)

    def _kill(self, session: Session) -> None:
        for pid in (session.pid, *session.siblings):
            if pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _settle(self, session: Session) -> None:
        """When all of a stopping session's boxes are gone, free the rest and say so."""
        if session.pid is not None or session.siblings:
            return
        for launcher in list(session.launchers.values()):
            self._forget_launcher(session, launcher)
        for watch in session.watches.values():
            watch.finish()
            self._watches.append(watch)
        for fd in session.namespaces.values():
            os.close(fd)
        session.namespaces = {}
        if self._cgroups:
            for group in (session.name, session.solver_group):
                self._cgroups.remove(group)
        self._identity.give_back(session.slot)
        self._sessions.pop(session.name, None)
        for request in session.stopping:
            self._reply({"id": request})
        session.stopping = []

    def _end(self) -> None:
        """Kill every box and wait, within bounds, until the kernel has taken them apart."""
        os.close(self._life)
        sessions = list(self._sessions.values())
        end = time.monotonic() + _LAST_REAP_S
        for session in sessions:
            session.stopping.append(-1)
            self._kill(session)
        while time.monotonic() < end:
            self._reap()
            for session in list(self._sessions.values()):
                self._settle(session)
            if not self._sessions:
                break
            select.select([self._wake], [], [], 0.05)
        if self._cgroups:
            self._cgroups.close()


def run(control_fd: int, config: dict[str, Any]) -> None:
    """The warden's whole life; the process ends with it."""
    os.umask(0o022)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    main.preload()
    control = socket.socket(fileno=control_fd)
    try:
        warden = Warden(control, config)
    except Exception as error:
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        return
    gc.collect()
    gc.freeze()
    warden.serve()


def _leave(*_: object) -> None:
    raise SystemExit(0)
