"""Session calls in any order, against a pure model of what they may do."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from deepgym_gym.errors import (
    ActionError,
    ProviderError,
    SandboxExhaustedError,
    SandboxLostError,
    SandboxRetiredError,
    SandboxTimeoutError,
    SandboxWriteError,
    SessionClosedError,
    SessionStateError,
    SetupError,
    VerifierError,
)
from deepgym_gym.results import RunResult
from deepgym_gym.sandbox.base import VerifierOutcome
from deepgym_gym.session import Session
from tests.episode.scripted import BASH, CODE, DONE, WRITE, environment
from tests.fakes import FakeBackend, FakeClock, FakeSandbox, Hang, Taking, judged, ran

MAX_STEPS = 3
UNTOUCHED_CRASH = VerifierOutcome(exit_code=1, crash="ValueError")
TOUCHED_CRASH = VerifierOutcome(exit_code=1, crash="ValueError", touched=True)


@dataclass(frozen=True)
class Fault:
    """A failure of the sandbox, and when it is charged to an agent that has acted."""

    make: Callable[[], Exception]
    charged: bool
    may_have_run: bool = True


FAULTS = {
    "lost": Fault(lambda: SandboxLostError("-"), charged=True),
    "no answer": Fault(lambda: SandboxTimeoutError("-"), charged=True),
    "disk full": Fault(lambda: SandboxWriteError("-"), charged=True),
    "dead before": Fault(lambda: SandboxLostError("-", may_have_run=False), True, False),
    "exhausted": Fault(lambda: SandboxExhaustedError("-", may_have_run=False), True, False),
    "provider": Fault(lambda: ProviderError("-"), charged=False),
    # The clock stands still but for the steps, so all of the time is the agent's.
    "retired": Fault(lambda: SandboxRetiredError("-"), charged=True),
    "bug": Fault(lambda: KeyError("-"), charged=False),
}


def often(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """Mostly the first."""
    rare = others or (not usual,)
    return st.sampled_from([*[usual] * (6 * len(rare)), *rare])


class Model:
    """What the contract says of a session: no sandbox, no time, no text."""

    def __init__(self) -> None:
        self.state = "new"
        self.acted = self.terminated = self.truncated = False
        self.number = self.steps = self.rewards = 0

    def end(self, *, terminated: bool) -> None:
        self.state, self.terminated, self.truncated = "ended", terminated, not terminated

    def fail(self, *, verdict: bool) -> None:
        self.state, self.terminated, self.truncated = "failed", verdict, not verdict


class SessionCalls(RuleBasedStateMachine):
    """Each rule makes one call, whatever the state; the model says whether it fits."""

    # Most runs would be over before they began if every rule were as likely as any other.
    @initialize(step_verifier=st.booleans(), started=often(True))
    def open(self, step_verifier: bool, started: bool) -> None:
        self.calls = 0
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.sandbox = FakeSandbox()
        self.backend = FakeBackend(self.sandbox)
        self.step_verifier = step_verifier
        definition = environment(
            max_steps=MAX_STEPS,
            allowed_actions=["bash", "write_file", "done"],
            setup_script="prepare",
            step_verifier_code="-" if step_verifier else None,
        )
        self.session = Session(definition, self.backend, clock=self.clock)
        self.model = Model()
        self.result: RunResult | None = None
        if started:
            self.started(setup_fails=False)

    def teardown(self) -> None:
        self.runner.run(self.session.close())
        self.runner.close()
        assert self.backend.left == []

    def call(self, call: Coroutine[Any, Any, Any]) -> Any:
        """What a call returned or raised."""
        self.calls += 1
        try:
            return self.runner.run(call)
        except Exception as error:
            return error

    def refused(self, call: Coroutine[Any, Any, Any]) -> None:
        """A call that does not fit the state raises and reaches no sandbox."""
        before = len(self.sandbox.calls)
        outcome = self.call(call)
        over = self.model.state in ("ended", "scored", "failed", "closed")
        assert isinstance(outcome, SessionClosedError if over else SessionStateError)
        assert len(self.sandbox.calls) == before

    @rule(setup_fails=often(False))
    def start(self, setup_fails: bool) -> None:
        if self.model.state != "new":
            self.refused(self.session.start())
        else:
            self.started(setup_fails=setup_fails)

    def started(self, *, setup_fails: bool) -> None:
        self.sandbox.will(ran(exit_code=int(setup_fails)))

        outcome = self.call(self.session.start())

        if setup_fails:
            assert isinstance(outcome, SetupError)
            self.model.state = "failed"
        else:
            assert outcome.step == 0
            self.model.state = "running"

    @rule(action=st.sampled_from([CODE, {"action_type": "fly"}, "no json", 3]))
    def step_that_is_not_allowed(self, action: Any) -> None:
        before = len(self.sandbox.calls)

        outcome = self.call(self.session.step(action))

        # A malformed action is that in any state; one that is not allowed here, only while running.
        fits = self.model.state == "running" or action is not CODE
        assert isinstance(outcome, ActionError if fits else SessionStateError)
        assert len(self.sandbox.calls) == before

    def judged_step(self, verifier: str) -> tuple[bool, float]:
        """Add the step verifier's answer; whether it fails by itself, and its reward."""
        if not self.step_verifier:
            return False, 0.0
        answers = {"half": judged(0.5), "crash": UNTOUCHED_CRASH, "judged": TOUCHED_CRASH}
        self.sandbox.will(answers[verifier])
        return verifier == "crash", 0.5 if verifier == "half" else 0.0

    @rule(
        action=often(BASH, WRITE, DONE),
        says_done=often(False),
        verifier=often("half", "judged", "crash"),
    )
    def step_that_may_end_it(self, action: dict[str, str], says_done: bool, verifier: str) -> None:
        if self.model.state == "running":
            self.step_that_runs(action, says_done, verifier)
        else:
            self.refused(self.session.step(action))

    def step_that_runs(self, action: dict[str, str], says_done: bool, verifier: str) -> None:
        if action is BASH:
            self.sandbox.will(Taking(1.0, self.clock, ran(b"DONE" if says_done else b"-")))
        elif action is WRITE:
            self.sandbox.will(None)
        verifier_fails, reward = self.judged_step(verifier)

        outcome = self.call(self.session.step(action))

        model = self.model
        model.number += 1
        model.steps += 1
        model.acted = model.acted or action is not DONE
        if verifier_fails:
            assert isinstance(outcome, VerifierError)
            model.fail(verdict=False)
            return
        model.rewards += 1
        said = action is DONE or (action is BASH and says_done)
        assert (outcome.observation.step, outcome.reward) == (model.number, reward)
        assert outcome.done == (said or model.number == MAX_STEPS)
        if outcome.done:
            model.end(terminated=said)

    @precondition(lambda self: self.model.state == "running")
    @rule(action=st.sampled_from([BASH, WRITE]))
    def step_that_goes_well(self, action: dict[str, str]) -> None:
        self.step_that_runs(action, says_done=False, verifier="half")

    @precondition(lambda self: self.model.state == "running")
    @rule(action=st.sampled_from([BASH, WRITE]))
    def another_step_that_goes_well(self, action: dict[str, str]) -> None:
        self.step_that_runs(action, says_done=False, verifier="judged")

    @rule()
    def write_that_is_refused(self) -> None:
        if self.model.state != "running":
            self.refused(self.session.step(WRITE))
            return
        self.sandbox.will(ActionError("a folder is there"))

        outcome = self.call(self.session.step(WRITE))

        assert isinstance(outcome, ActionError)
        self.model.number += 1
        if self.model.number == MAX_STEPS:
            self.model.end(terminated=False)

    @rule(name=st.sampled_from(sorted(FAULTS)))
    def step_that_fails(self, name: str) -> None:
        if self.model.state != "running":
            self.refused(self.session.step(BASH))
            return
        fault = FAULTS[name]
        error = fault.make()
        self.sandbox.will(Taking(1.0, self.clock, error))

        outcome = self.call(self.session.step(BASH))

        assert outcome is error
        model = self.model
        model.number += 1
        model.steps += 1
        model.acted = model.acted or fault.may_have_run
        model.fail(verdict=fault.charged and model.acted)

    @precondition(lambda self: self.model.state == "running")
    @rule()
    def step_that_is_cancelled(self) -> None:
        hang = Hang()
        self.sandbox.will(hang)

        async def cancelled() -> None:
            step = asyncio.ensure_future(self.session.step(BASH))
            await hang.reached.wait()
            step.cancel()
            await asyncio.wait([step])
            assert step.cancelled()

        self.runner.run(cancelled())

        self.model.number += 1
        self.model.steps += 1
        self.model.acted = True
        self.model.fail(verdict=False)

    @rule(verifier=st.sampled_from(["half", "crash", "judged", "lost"]))
    def score(self, verifier: str) -> None:
        model = self.model
        if model.state in ("new", "closed") or (model.state == "failed" and not model.number):
            self.refused(self.session.score())
            return
        runs = model.state in ("running", "ended")
        answers = {"half": judged(0.5), "crash": UNTOUCHED_CRASH, "judged": TOUCHED_CRASH}
        if runs:
            self.sandbox.will(answers.get(verifier, SandboxLostError("-")))
        before = len(self.sandbox.calls)

        result = self.call(self.session.score())

        assert isinstance(result, RunResult)
        assert len(self.sandbox.calls) - before == int(runs)
        if runs:
            charged = {"half": True, "crash": False, "judged": True, "lost": model.acted}
            assert result.has_verdict == charged[verifier]
            model.truncated = model.truncated or model.state == "running"
            model.state = "scored"
        elif model.state == "failed":
            assert result is self.session.failure_result
            assert result.has_verdict == model.terminated
        assert self.result is None or result is self.result
        self.result = result

    @precondition(lambda self: self.calls > 7)
    @rule()
    def close(self) -> None:
        assert self.call(self.session.close()) is None
        self.model.state = "closed"

    @invariant()
    def session_is_as_the_model_says(self) -> None:
        session, model = self.session, self.model
        trajectory = session.trajectory
        assert session.state.value == model.state
        assert (session.acted, session.step_number) == (model.acted, model.number)
        assert (session.terminated, session.truncated) == (model.terminated, model.truncated)
        assert len(trajectory.steps) == model.steps
        assert len(trajectory.step_rewards) == model.rewards
        assert self.sandbox.used_up
        if model.state in ("failed", "closed"):
            assert self.backend.left == []
        elif model.state != "new":
            assert self.sandbox.stops == 0


SessionCalls.TestCase.settings = settings(
    max_examples=300, stateful_step_count=15, deadline=None, derandomize=True
)
TestSessionCalls = SessionCalls.TestCase
