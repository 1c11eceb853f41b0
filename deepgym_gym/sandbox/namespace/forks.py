"""Forking boxes off the warden: each a child that enters its namespaces and never comes back.

Nothing here keeps track of them; `warden` does.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

from deepgym_gym.sandbox.guest import seccomp, syscalls
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


class Session:
    """One agent's box and what belongs to it."""

    def __init__(self, name: str, slot: int, pid: int, spec: dict[str, Any]) -> None:
        self.name = name
        self.slot = slot
        self.pid: int | None = pid
        self.spec = spec
        self.namespaces: dict[str, int] = {}
        self.siblings: set[int] = set()
        self.watches: dict[str, MountWatch] = {}
        self.launchers: dict[int, socket.socket] = {}
        self.solvers = 0
        self.stopping: list[int] = []

    @property
    def solver_group(self) -> str:
        """The name of its solvers' cgroup."""
        return self.name + ".solver"


class Forks:
    """Makes boxes.

    Args:
        lifeline: the reading end of a pipe that closes when the warden dies; every box holds it.
    """

    def __init__(
        self, layout: Layout, identity: Identity, cgroups: Cgroups | None, lifeline: int
    ) -> None:
        self._layout = layout
        self._identity = identity
        self._cgroups = cgroups
        self._lifeline = lifeline
        self._filter = seccomp.prepare()
        self.networks: Networks | None = None
        if identity.mode in ("root", "root-plain"):
            self.networks = Networks()

    def agent_box(self, name: str, channel: int, spec: dict[str, Any]) -> Session:
        """Fork an agent's box.

        Raises:
            OSError: it could not be made; nothing is left.
        """
        slot = self._identity.take()
        gate, opener = os.pipe()
        pid = 0
        try:
            if self._cgroups:
                # What the agent keeps in its folders is memory too, and has its own limit.
                folders = spec["disk_mb"] + spec["shm_mb"] + 2 * spec["tmp_mb"]
                self._cgroups.create(name, spec["memory_mb"] + folders, spec["pids"] + 8)
            network = self.networks.take() if self.networks else None
            flags = _BOX_NAMESPACES | self._identity.namespace_flag
            if network is None:
                flags |= syscalls.CLONE_NEWNET
            spec = {**spec, "new_network": network is None}
            pid = self._fork(network, lambda: syscalls.clone(flags))
            if pid == 0:
                self._become(
                    lambda *fds: self._agent_box(name, slot, spec, *fds),
                    [channel, self._lifeline, gate],
                )
            session = Session(name, slot, pid, spec)
            for kind in ("user", "mnt", "net"):
                if kind != "user" or self._identity.namespace_flag:
                    path = f"/proc/{pid}/ns/{kind}"
                    session.namespaces[kind] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._identity.map(pid, slot)
            os.write(opener, b"g")
        except OSError:
            if pid:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            if self._cgroups:
                self._cgroups.remove(name)
            self._identity.give_back(slot)
            raise
        finally:
            os.close(gate)
            os.close(opener)
        return session

    def sibling_box(
        self, session: Session, channel: int, *, launcher: int = -1, shared_network: bool = False
    ) -> tuple[int, int]:
        """Fork into the agent's user and mount namespaces, then into fresh ones.

        A box with a `launcher` is a verifier's, one without a solver's.

        Returns:
            The pid of the fork, which ends at once, and a descriptor from which the pid of the
            box's first process can be read.

        Raises:
            OSError: the agent's box is gone.
        """
        if session.pid is None:
            raise ProcessLookupError("the agent's box is gone")
        if self._cgroups and launcher < 0:
            # A group of its own: the agent's code must be able to starve neither its verifier nor
            # the machine.
            memory_mb, pids = session.spec["memory_mb"], session.spec["pids"] + 8
            self._cgroups.create(session.solver_group, memory_mb, pids)
        reader, writer = os.pipe()
        network = None
        if self.networks and not shared_network:
            network = self.networks.take()
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
        return pid, reader

    # In the children.

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
        shown = boxes.open_shown(self._layout)
        self._enter_user()
        boxes.run_agent_box(self._box(slot, spec, channel, lifeline)._replace(shown=shown))

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
            kinds = {**net, **kinds} if self.networks else {**kinds, **net}
        flags = _BOX_NAMESPACES
        if new_network:
            flags |= syscalls.CLONE_NEWNET
        if self._cgroups and not has_launcher:
            self._cgroups.enter(session.solver_group)
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
            "guest_watch": has_launcher and self.networks is None,
        }
        box = self._box(session.slot, spec, channel, lifeline)._replace(launcher=launcher)
        boxes.run_sibling_box(box, solver=not has_launcher)

    def _fork(self, network: int | None, fork: Callable[[], int]) -> int:
        if self.networks is None or network is None:
            return fork()
        return self.networks.born_in(network, fork)

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
