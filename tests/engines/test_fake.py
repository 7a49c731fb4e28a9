"""The fake engine passes the contract, and follows its written lives."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import Life, World
from headway.engines.protocol import Sight
from tests.engines.contract import Contract, Plan, Subject

LIVES = {
    Plan.RUNS: Life(),
    Plan.STRAYS: Life(),
    Plan.SUCCEEDS: Life(runs_for=timedelta(seconds=3)),
    Plan.FAILS: Life(fails_after=timedelta(seconds=3)),
    Plan.IGNORES_SIGTERM: Life(stops_in=timedelta(hours=1)),
}


class FakeSubject(Subject):
    nodes = ("n1", "n2")
    device_type = "a100"

    def __init__(self) -> None:
        self.world = World()
        self.engine = FakeEngine(self.world)

    def command(self, plan: Plan, attempt: str) -> tuple[str, ...]:
        self.world.write(AttemptId(attempt), LIVES[plan])
        return ("true",)

    def wait(self) -> None:
        self.world.advance(timedelta(seconds=1))

    def reopen(self) -> None:
        self.engine = FakeEngine(self.world)

    def kill_agents(self, attempt: str) -> None:
        launched = self.world.parts[AttemptId(attempt)].launched_at
        self.world.write(AttemptId(attempt), Life(loses_agent=self.world.now - launched))

    def starts(self, attempt: str) -> int:
        part = self.world.parts.get(AttemptId(attempt))
        return len(part.order.nodes) if part else 0

    def alive(self, attempt: str) -> Sequence[object]:
        return [running for running in self.world.running() if running == attempt]


@pytest.fixture
def subject() -> FakeSubject:
    return FakeSubject()


class TestFake(Contract):
    pass


def test_while_it_is_cut_off_everything_is_unknown_and_nothing_is_taken(subject: FakeSubject) -> None:
    order, handle = subject.launch_running(Plan.RUNS, nodes=2)
    subject.world.cut_off(after=timedelta(seconds=5), lasting=timedelta(seconds=60))
    assert subject.sights(handle) == [Sight.RUNNING, Sight.RUNNING]
    subject.world.advance(timedelta(seconds=5))
    assert subject.sights(handle) == [Sight.UNKNOWN, Sight.UNKNOWN]
    for refused in (
        lambda: subject.launch(order),
        lambda: subject.stop(handle),
        lambda: asyncio.run(subject.engine.inventory()),
    ):
        with pytest.raises(PlatformError) as fault:
            refused()
        assert fault.value.code == "engine-unreachable"
    subject.world.advance(timedelta(seconds=60))
    assert subject.sights(handle) == [Sight.RUNNING, Sight.RUNNING]


def test_the_first_of_its_ends_is_the_one_that_counts(subject: FakeSubject) -> None:
    order = subject.order(Plan.RUNS)
    minute = timedelta(minutes=1)
    subject.world.write(order.attempt, Life(runs_for=3 * minute, fails_after=minute, loses_agent=2 * minute))
    handle = subject.launch(order)
    subject.world.advance(minute - timedelta(seconds=1))
    assert subject.sights(handle) == [Sight.RUNNING]
    subject.world.advance(timedelta(hours=1))
    (seen,) = subject.observe(handle)
    assert (seen.sight, seen.detail, seen.at) == (Sight.ENDED, "exit 1", subject.world.now)


def test_an_attempt_whose_agent_never_comes_up_is_absent_until_it_is_withdrawn(subject: FakeSubject) -> None:
    order = subject.order(Plan.RUNS)
    subject.world.write(order.attempt, Life(never_begins=True))
    handle = subject.launch(order)
    assert subject.sights(handle) == [Sight.ABSENT]
    subject.stop(handle)
    assert subject.sights(handle) == [Sight.ENDED]


def test_a_refusal_can_be_written(subject: FakeSubject) -> None:
    order = subject.order(Plan.RUNS)
    subject.world.write(order.attempt, Life(refuses="it is full moon"))
    with pytest.raises(PlatformError, match="full moon"):
        subject.launch(order)
    assert subject.world.running() == []
