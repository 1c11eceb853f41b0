"""Proving an environment: what `deepgym-gym check` runs, and the tests for every shipped folder.

A check plays real episodes in real sandboxes. What it cannot know (near misses and their scores)
belongs to the environment's own tests.

Source: CONTRIBUTING.md, on environments' folders.
"""

import ast
import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deepgym_gym import loop
from deepgym_gym.actions import Observation
from deepgym_gym.definition import MultiTurnEnvironment
from deepgym_gym.errors import DeepGymError, SandboxUnavailableError
from deepgym_gym.playing import play_episode
from deepgym_gym.registry import find_environment
from deepgym_gym.registry.loading import RegistryEnvironment
from deepgym_gym.registry.players import Player, idle, random_player
from deepgym_gym.registry.probe import hidden_lines, look_around
from deepgym_gym.results import RunResult
from deepgym_gym.sandbox.backends import get_backend
from deepgym_gym.sandbox.base import Backend
from deepgym_gym.session import Session

# What a good environment keeps to; more than this is reported, not refused. Unit: seconds.
SETUP_BUDGET_S: Final = 0.5
VERIFIER_BUDGET_S: Final = 0.2
MIN_VARIANTS: Final = 8
# "Near 0" for an agent that acts at random.
RANDOM_SCORE: Final = 0.2
# Two large numbers stand for all those that no table names.
DRAWN_VARIANTS: Final = (1_000_003, 2_000_000_011)
# Episodes of one check that run side by side.
_PARALLEL: Final = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One proven or broken rule. `variant` is None for a rule about the whole folder."""

    rule: str
    ok: bool
    detail: str = ""
    variant: int | None = None

    def __str__(self) -> str:
        where = "" if self.variant is None else f" (variant {self.variant})"
        return f"{self.rule}{where}: {self.detail or ('ok' if self.ok else 'broken')}"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found. `notes` name budgets that were exceeded, which breaks no rule.

    `setup_s` and `verifier_s` are the longest seen, in seconds, each with the sandbox's own start.
    """

    name: str
    backend: str
    variants: tuple[int, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    setup_s: float
    verifier_s: float

    @property
    def ok(self) -> bool:
        """Whether no rule is broken."""
        return not self.failures

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The broken rules."""
        return tuple(finding for finding in self.findings if not finding.ok)


def check_environment(
    name: str | Path, backend: str = "auto", variants: Iterable[int] | None = None
) -> CheckReport:
    """Prove one environment by playing it.

    Args:
        name: as for `find_environment`.
        backend: where to play; `auto` is the isolated default.
        variants: which to play; None takes the whole table and two drawn ones.

    Raises:
        DefinitionError: no such environment, variant or backend; or a file of the folder is wrong.
        SandboxUnavailableError: the backend cannot run here; the message holds the remedy.
    """
    environment = find_environment(name)
    if variants is None:
        variants = [*range(environment.table_size), *DRAWN_VARIANTS]
    return loop.run(_Check(environment, get_backend(backend), tuple(variants)).run())


class _Check:
    def __init__(
        self, environment: RegistryEnvironment, backend: Backend, variants: tuple[int, ...]
    ) -> None:
        self.environment = environment
        self.backend = backend
        self.variants = variants
        self.findings: list[Finding] = []
        self.setups: list[float] = []
        self.verifiers: list[float] = []
        self.isolated = True
        self._slots = asyncio.Semaphore(_PARALLEL)

    async def run(self) -> CheckReport:
        self._check_folder()
        # All are waited for, so that no sandbox outlives a check that fails.
        ended = await asyncio.gather(
            *(self._check_variant(variant) for variant in self.variants), return_exceptions=True
        )
        for error in ended:
            if error is not None:
                raise error
        setup_s, verifier_s = max(self.setups, default=0.0), max(self.verifiers, default=0.0)
        notes = [
            f"{what} took {seconds:.3f} s; the budget is {budget:g} s"
            for what, seconds, budget in (
                ("start and setup", setup_s, SETUP_BUDGET_S),
                ("the final verifier", verifier_s, VERIFIER_BUDGET_S),
            )
            if seconds > budget
        ]
        if not self.isolated:
            notes.append(f"hacks were not played: the {self.backend.name} backend is not isolated")
        return CheckReport(
            name=self.environment.info.id,
            backend=self.backend.name,
            variants=self.variants,
            findings=tuple(self.findings),
            notes=tuple(notes),
            setup_s=setup_s,
            verifier_s=verifier_s,
        )

    def _note(self, rule: str, ok: bool, detail: str = "", variant: int | None = None) -> None:
        self.findings.append(Finding(rule, ok, detail, variant))

    def _check_folder(self) -> None:
        """What needs no sandbox: the table, equal definitions for equal numbers, sources."""
        size = self.environment.table_size
        self._note("variant table", size >= MIN_VARIANTS, f"{size} entries")
        seen: dict[str, int] = {}
        for variant in dict.fromkeys([*range(size), *self.variants]):
            definition = self.environment.definition(variant)
            again = self.environment.definition(variant)
            self._note("deterministic definition", definition == again, variant=variant)
            # Not the difficulty or the limits: the world and its truth must differ.
            world = definition.model_dump_json(
                include={"task", "files", "setup_script", "setup_code", "final_verifier_code"}
            )
            twin = seen.setdefault(world, variant)
            detail = "" if twin == variant else f"equal to variant {twin}"
            self._note("variants differ", twin == variant, detail, variant)
            fault = _source_fault(definition)
            self._note("sources parse as Python 3.9", not fault, fault, variant)
        self._note("hacks", len(self.environment.hacks(0)) >= 2, "at least two are needed")

    async def _check_variant(self, variant: int) -> None:
        definition = self.environment.definition(variant)
        try:
            await self._check_world(definition, variant)
            reference = self.environment.reference(variant)
            await self._play(definition, variant, reference, "reference scores 1", _is_one)
            await self._play(definition, variant, idle(), "idle scores 0", _is_zero)
            lucky = random_player(variant, definition.task)
            await self._play(
                definition, variant, lucky, "random scores near 0", lambda x: x <= RANDOM_SCORE
            )
            # Without isolation a hack may read what it likes.
            hacks = self.environment.hacks(variant) if self.isolated else {}
            for name, hack in hacks.items():
                await self._play(definition, variant, hack, f"hack {name} scores 0", _is_zero)
        except SandboxUnavailableError:
            raise
        except DeepGymError as error:
            self._note("plays without errors", False, f"{type(error).__name__}: {error}", variant)

    async def _check_world(self, definition: MultiTurnEnvironment, variant: int) -> None:
        """Start it twice: equal first observations, equal files, nothing hidden in them."""
        hidden = hidden_lines(self.environment, definition)
        worlds = []
        for _ in range(2):
            async with self._slots, Session(definition, self.backend) as session:
                worlds.append(await look_around(session, hidden))
        first, second = worlds
        same = first.observation == second.observation
        self._note("equal first observations", same, variant=variant)
        differing = first.differences(second)
        self._note("equal files", not differing, ", ".join(differing[:5]), variant)
        leaks = first.leaks(hidden)
        self._note("nothing hidden is readable", not leaks, "; ".join(leaks), variant)
        self.isolated = self.isolated and first.isolated

    async def _play(
        self,
        definition: MultiTurnEnvironment,
        variant: int,
        player: Player,
        rule: str,
        wanted: Callable[[float], bool],
    ) -> None:
        async with self._slots, _TimedSession(definition, self.backend) as session:
            played = await play_episode(session, player)
            self.setups.append(session.start_s)
            self.verifiers.append(session.score_s)
        result = played.result
        ok = result.has_verdict and wanted(result.score)
        detail = f"score {result.score:g}"
        if not ok:
            detail += f", error_type {result.error_type}, {result.output or result.stderr}"[:500]
        self._note(rule, ok, detail, variant)
        total = sum(played.rewards)
        if self.environment.reward == "step" and abs(total - result.score) > 1e-6:
            self._note("step rewards sum to the score", False, f"{player.name}: {total:g}", variant)


class _TimedSession(Session):
    """A session that notes how long its start and its score took. Unit: seconds."""

    start_s = score_s = 0.0

    async def start(self) -> Observation:
        started = time.perf_counter()
        try:
            return await super().start()
        finally:
            self.start_s = time.perf_counter() - started

    async def score(self) -> RunResult:
        started = time.perf_counter()
        try:
            return await super().score()
        finally:
            self.score_s = time.perf_counter() - started


def _is_one(score: float) -> bool:
    return score == 1.0


def _is_zero(score: float) -> bool:
    return score == 0.0


def _source_fault(definition: MultiTurnEnvironment) -> str:
    """Say what keeps a source from running on the oldest interpreter, or nothing."""
    for field in ("setup_code", "step_verifier_code", "final_verifier_code"):
        source = getattr(definition, field)
        if source is not None:
            try:
                ast.parse(source, feature_version=(3, 9))
            except SyntaxError as error:
                return f"{field}: {error}"
            if "\nfrom __future__" in source:
                return f"{field}: the PARAMS line must be first, so no __future__ import can be"
    return ""
