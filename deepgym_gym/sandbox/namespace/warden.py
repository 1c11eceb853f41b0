"""The warden: a small process that makes boxes, because the trainer's must never fork.

One thread, one poll loop. The owner speaks JSON packets over a socket and passes each box's channel
as a descriptor; steps then go straight from the owner to the box. The warden dies with its owner,
whatever kills that, and every box dies with the warden. It never sees a verifier's text: agents'
boxes are forks of its memory.
"""

from __future__ import annotations

import contextlib
import fcntl
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

from deepgym_gym.sandbox.guest import main, seccomp, syscalls
from deepgym_gym.sandbox.guest.audit import MountWatch
from deepgym_gym.sandbox.namespace import box as boxes
from deepgym_gym.sandbox.namespace.box import Box, Layout
from deepgym_gym.sandbox.namespace.cgroups import Cgroups
from deepgym_gym.sandbox.namespace.identity import Identity
from deepgym_gym.sandbox.namespace.networks import Networks

_BOX_NAMESPACES = (
    syscalls.CLONE_NEWNS
    | syscalls.CLONE_NEWPID
    | syscalls.CLONE_NEWIPC
    | syscalls.CLONE_NEWUTS
    | syscalls.CLONE_NEWCGROUP
)
# A verifier may ask for so many solver boxes; a faulty one must not fill the machine.
_MAX_SOLVERS = 64
_PACKET = 1 << 16
_LAST_REAP_S = 2.0


class Session:
    """One agent's box and what belongs to it."""

    def __init__(self, name: str, slot: int, pid: int, spec: dict[str, Any]) -> None:
        self.name = name
        self.slot = slot
        self.pid: int | None = pid
        self.spec = spec
        self.namespaces: dict[str, int] = {}
        self.siblings: set[int] = set()
        self.boxes: dict[str, int] = {}
        self.claims: dict[str, Callable[[], None]] = {}
        self.watches: dict[str, MountWatch] = {}
        self.launchers: dict[int, socket.socket] = {}
        self.solvers = 0
        self.stopping: list[int] = []


class Warden:
    """Serves one owner."""

    def __init__(self, control: socket.socket, config: dict[str, Any]) -> None:
        self._control = control
        self._layout = Layout(
            tuple(config["binds"]), tuple(config["hidden"]), config["interpreter"], config["path"]
        )
        self._identity = Identity(config.get("mode"))
        self._cgroups = (
            Cgroups(f"deepgym-{os.getuid()}-{os.getpid()}") if config["cgroups"] else None
        )
        self._filter = seccomp.prepare()
        self._sessions: dict[str, Session] = {}
        self._by_pid: dict[int, Session] = {}
        self._unclaimed: set[int] = set()
        self._hooks: dict[int, Callable[[], None]] = {}
        self._networks: Networks | None = None
        # fanotify groups that are free. Each serves one verifier at a time and is kept for the
        # next: the kernel takes long to take one apart.
        self._watches: list[MountWatch] = []
        # Boxes hold the reading end: it closes when the warden dies.
        self._lifeline, self._life = os.pipe()
        self._owner = os.pidfd_open(config["owner"]) if config["owner"] else -1
        self._wake, wake_writer = os.pipe()
        for fd in (self._wake, wake_writer):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        if self._identity.mode in ("root", "root-plain"):
            self._networks = Networks()
            self._hooks[self._networks.fileno()] = self._receive_networks

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
                "seccomp": self._filter is not None,
                "watches": self._networks is not None,
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
        name, spec, channel = request["name"], request["spec"], fds[0]
        slot = self._identity.take()
        if self._cgroups:
            # What the agent keeps in its folders is memory too, and has its own limit.
            total = (
                sum(spec[key] for key in ("memory_mb", "disk_mb", "shm_mb")) + 2 * spec["tmp_mb"]
            )
            self._cgroups.create(name, total, spec["pids"] + 8)
        gate, opener = os.pipe()
        network = self._networks.take() if self._networks else None
        flags = _BOX_NAMESPACES | self._identity.namespace_flag
        if network is None:
            flags |= syscalls.CLONE_NEWNET
        spec = {**spec, "new_network": network is None}
        try:
            pid = self._fork(network, lambda: syscalls.clone(flags))
        except OSError:
            self._identity.give_back(slot)
            if self._cgroups:
                self._cgroups.remove(name)
            os.close(gate)
            os.close(opener)
            raise
        if pid == 0:
            self._become(
                lambda *fds_: self._agent_box(name, slot, spec, *fds_),
                [channel, self._lifeline, gate],
            )
        os.close(gate)
        session = Session(name, slot, pid, spec)
        self._sessions[name] = session
        self._by_pid[pid] = session
        try:
            for kind in ("user", "mnt", "net"):
                if kind != "user" or self._identity.namespace_flag:
                    path = f"/proc/{pid}/ns/{kind}"
                    session.namespaces[kind] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._identity.map(pid, slot)
            os.write(opener, b"g")
        except OSError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            os.close(opener)
        self._reply({"id": request["id"]})

    def _do_verifier(self, request: dict[str, Any], fds: list[int]) -> None:
        session = self._sessions[request["name"]]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._start_sibling(
                session,
                fds[0],
                box=request["box"],
                launcher=theirs.fileno(),
                shared_network=request["shared_network"],
            )
        session.launchers[ours.fileno()] = ours
        session.solvers = 0
        self._hooks[ours.fileno()] = lambda: self._launch_solver(session, ours)
        self._reply({"id": request["id"]})

    def _do_stop(self, request: dict[str, Any], fds: list[int]) -> None:
        session = self._sessions.get(request["name"])
        if session is None:
            self._reply({"id": request["id"]})
            return
        session.stopping.append(request["id"])
        self._kill(session)
        self._settle(session)

    def _do_watch(self, request: dict[str, Any], fds: list[int]) -> None:
        """Watch a verifier's work mount; only root may do that from outside."""
        session = self._sessions[request["name"]]
        claim = session.claims.pop(request["box"], None)
        if claim is not None:
            claim()
        watch = self._watches.pop() if self._watches else MountWatch.unmarked()
        pid = session.boxes.get(request["box"])
        if watch is None or pid is None or not watch.mark(f"/proc/{pid}/root{boxes.WORK}"):
            if watch is not None:
                self._watches.append(watch)
            self._reply({"id": request["id"], "watched": False})
            return
        session.watches[request["box"]] = watch
        self._reply({"id": request["id"], "watched": True})

    def _do_watched(self, request: dict[str, Any], fds: list[int]) -> None:
        """Say what a watch has seen, and end it."""
        watch = self._sessions[request["name"]].watches.pop(request["box"])
        touched = watch.finish()
        self._watches.append(watch)
        self._reply({"id": request["id"], "touched": touched})

    def _do_oom(self, request: dict[str, Any], fds: list[int]) -> None:
        kills = self._cgroups.oom_kills(request["name"]) if self._cgroups else 0
        self._reply({"id": request["id"], "oom_kills": kills})

    # Boxes.

    def _become(self, build: Callable[..., None], fds: list[int]) -> None:
        """In a fresh fork: keep only `fds`, as 3, 4, ..., call `build` with them, never return."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # First out of the way of each other, then down to their places.
            above = max(*fds, 3 + len(fds)) + 1
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, above) for fd in fds]
            for place, fd in enumerate(high):
                os.dup2(fd, 3 + place, inheritable=False)
            syscalls.close_range(3 + len(fds))
            build(*range(3, 3 + len(fds)))
        except BaseException as error:
            # The channel is the first of them.
            boxes.refuse(3, error)
        finally:
            os._exit(1)

    def _agent_box(
        self,
        name: str,
        slot: int,
        spec: dict[str, Any],
        channel: int,
        lifeline: int,
        gate: int,
    ) -> None:
        # Nothing may happen before the uids are mapped and the limits hold.
        if os.read(gate, 1) != b"g":
            return
        os.close(gate)
        if self._cgroups:
            self._cgroups.enter(name)
        self._enter_user()
        boxes.run_agent_box(self._box(slot, spec, channel, lifeline))

    def _start_sibling(
        self,
        session: Session,
        channel: int,
        *,
        box: str = "",
        launcher: int = -1,
        shared_network: bool = False,
    ) -> None:
        """Fork into the agent's user and mount namespaces, then into fresh ones: a verifier's or
        solver's box.
        """
        if session.pid is None:
            raise ProcessLookupError("the agent's box is gone")
        reader, writer = os.pipe()
        network = None
        if self._networks and not shared_network:
            network = self._networks.take()
        new_network = network is None and not shared_network
        # The first process must be in the network already: it loses the right to join one.
        pid = self._fork(network, os.fork)
        if pid == 0:
            fds = [channel, self._lifeline, writer, *session.namespaces.values()]
            if launcher >= 0:
                fds.append(launcher)
            self._become(
                lambda *fds_: self._sibling_box(
                    session, fds_, launcher >= 0, shared_network, new_network
                ),
                fds,
            )
        os.close(writer)
        self._hooks[reader] = lambda: self._claim(session, reader, box)
        if box:
            session.claims[box] = self._hooks[reader]

    def _sibling_box(
        self,
        session: Session,
        fds: tuple[int, ...],
        has_launcher: bool,
        shared_network: bool,
        new_network: bool,
    ) -> None:
        channel, lifeline, report, *rest = fds
        # A launcher may follow the namespaces.
        namespaces = dict(zip(session.namespaces, rest, strict=False))
        launcher = rest[-1] if has_launcher else -1
        kinds = {"user": syscalls.CLONE_NEWUSER, "mnt": syscalls.CLONE_NEWNS}
        if shared_network:
            # A network from the stock is the warden's, and must be entered as the warden; one that
            # the agent's box made belongs to its user namespace.
            net = {"net": syscalls.CLONE_NEWNET}
            kinds = {**net, **kinds} if self._networks else {**kinds, **net}
        flags = _BOX_NAMESPACES
        if new_network:
            flags |= syscalls.CLONE_NEWNET
        if self._cgroups and not has_launcher:
            self._cgroups.enter(_solver_group(session))
        for kind, flag in kinds.items():
            if kind in namespaces:
                syscalls.setns(namespaces[kind], flag)
        self._enter_user()
        pid = syscalls.clone(flags)
        if pid:
            os.write(report, b"%d" % pid)
            os._exit(0)
        os.close(report)
        for fd in namespaces.values():
            os.close(fd)
        spec = {
            **session.spec,
            "new_network": new_network,
            "guest_watch": has_launcher and self._networks is None,
        }
        box = self._box(session.slot, spec, channel, lifeline)._replace(launcher=launcher)
        boxes.run_sibling_box(box, solver=not has_launcher)

    def _claim(self, session: Session, reader: int, box: str) -> None:
        """A sibling's first process tells the pid of its box."""
        session.claims.pop(box, None)
        text = os.read(reader, 20)
        del self._hooks[reader]
        os.close(reader)
        if not text:
            return
        pid = int(text)
        if pid in self._unclaimed:
            self._unclaimed.discard(pid)
        elif session.pid is None:
            os.kill(pid, signal.SIGKILL)
        else:
            session.siblings.add(pid)
            session.boxes[box] = pid
            self._by_pid[pid] = session

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
            if self._cgroups and session.solvers == 1:
                # A group of its own: the agent's code must be able to starve neither its verifier
                # nor the machine.
                self._cgroups.create(
                    _solver_group(session), session.spec["memory_mb"], session.spec["pids"] + 8
                )
            ours, theirs = socket.socketpair()
            with ours, theirs:
                try:
                    self._start_sibling(session, theirs.fileno())
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
        if self._networks and not self._networks.receive():
            # Its maker is gone; boxes make their own from now on.
            del self._hooks[self._networks.fileno()]
            self._networks.close()
            self._networks = None

    def _fork(self, network: int | None, fork: Callable[[], int]) -> int:
        if self._networks is None or network is None:
            return fork()
        return self._networks.born_in(network, fork)

    def _enter_user(self) -> None:
        """Become the user namespace's own root; until then this process has no id in it."""
        if self._identity.mode in ("root", "subuid"):
            os.setresgid(0, 0, 0)
            os.setresuid(0, 0, 0)

    def _box(self, slot: int, spec: dict[str, Any], channel: int, lifeline: int) -> Box:
        if self._filter is None:
            raise OSError("no seccomp filter is known for this machine type")
        memory = self._cgroups.memory if self._cgroups else None
        return Box(
            users=self._identity.users(slot),
            layout=self._layout,
            spec=spec,
            filter=self._filter,
            limit_memory=memory is None,
            channel=channel,
            lifeline=lifeline,
        )

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
            if session is None:
                # A sibling's first process, or a box that died before it was claimed.
                self._unclaimed.add(pid)
                continue
            session.siblings.discard(pid)
            session.boxes = {box: other for box, other in session.boxes.items() if other != pid}
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
            for group in (session.name, _solver_group(session)):
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


def _solver_group(session: Session) -> str:
    return session.name + ".solver"


def _leave(*_: object) -> None:
    raise SystemExit(0)
