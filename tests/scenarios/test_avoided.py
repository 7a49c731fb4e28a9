"""Stories of what the queue keeps away from: nodes that broke a job, and devices that others have."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from headway.diagnosis.verdict import Owner
from headway.domain.recovery_events import RecoveryDecided
from headway.domain.resources import NodeState, Occupied
from headway.engines.fake.engine import FakeEngine
from headway.engines.protocol import Capability
from headway.scheduler.sooner import sooner
from headway.server.api.table import table_of
from headway.server.rehearsal import compare
from headway.store import past, snapshot
from tests.scenarios.test_lending import LENDING
from tests.scenarios.work import Work
from tests.scenarios.world import World


def _breaks_twice_by_its_node(world: World) -> Work:
    """A job whose node kills its agents twice without any progress in between."""
    job = world.submit()
    world.settle()
    for _ in range(2):
        job.starts()
        world.later(minutes=1)
        job.loses_its_agents()
        world.settle()
        world.later(seconds=10)
    assert job.verdict is not None
    assert job.verdict.owner is Owner.OPERATOR
    return job


def test_a_node_that_broke_a_job_twice_is_avoided_from_then_on(either_world: World) -> None:
    world = either_world
    job = _breaks_twice_by_its_node(world)
    first, second, third = job.attempts
    broken = {placement.node for placement in first.placements}
    assert broken == {placement.node for placement in second.placements}
    assert broken.isdisjoint(placement.node for placement in third.placements)
    decided = job.facts("recovery-decided")[-1]
    assert isinstance(decided, RecoveryDecided)
    assert set(decided.avoids) == broken == set(job.job.avoids)
    blocker = world.submit("blocker")
    world.settle()
    assert {placement.node for placement in blocker.attempt.placements} == broken
    job.starts()
    world.later(minutes=1)
    with world.platform.database.read() as c:
        assert not snapshot.take(c, world.now).queued
    job.breaks(signal=9)
    world.settle()
    assert job.attempt.placements == third.placements


def test_a_job_waits_for_another_node_rather_than_go_back_to_the_one_that_broke_it(world: World) -> None:
    world.table("[projects.nlp]\ncards.a100 = { guaranteed = 16 }\n")
    other = world.submit("other")
    world.settle()
    job = _breaks_twice_by_its_node(world)
    assert other.attempt.placements != job.attempts[0].placements
    with world.platform.database.read() as c:
        (queued,) = snapshot.take(c, world.now).queued
    assert (job.state, queued.excluded) == ("queued", frozenset(job.job.avoids))
    other.starts().finishes()
    world.settle()
    assert job.attempt.placements == other.attempt.placements


def test_a_job_goes_back_to_the_node_that_broke_it_when_there_is_no_other(world: World) -> None:
    job = world.submit(nodes=2)
    world.settle()
    for _ in range(2):
        job.starts()
        world.later(minutes=1)
        job.loses_its_agents()
        world.settle()
        world.later(seconds=10)
    assert (len(job.attempts), len(job.job.avoids)) == (3, 1)
    assert job.attempt.placements == job.attempts[0].placements


class Shared(FakeEngine):
    """An engine whose nodes others use too."""

    can = frozenset({Capability.OCCUPANCY})
    others: tuple[Occupied, ...] = ()

    async def occupied(self) -> Sequence[Occupied]:
        return self.others


def test_what_others_have_belongs_to_no_project_and_is_never_taken(world: World) -> None:
    engine = Shared(world.machines)
    world.platform.engines = {"fake": engine}
    world.table(LENDING)
    engine.others = (Occupied("n1", 8, "bob", world.now + timedelta(hours=3)), Occupied("n2", 4, "eve"))
    world.later(seconds=10)
    small = world.submit("small", devices=4, limit_s=3600.0)
    big = world.submit("big", project="vision", limit_s=3600.0)
    world.settle()
    small.starts()
    world.later(seconds=30)
    assert (small.state, big.state, world.facts("preemption-ordered")) == ("running", "queued", [])
    assert big.waits is not None
    assert big.waits.reason.code == "capacity"
    with world.platform.database.read() as c:
        told = table_of(c, world.now, world.platform.settings.zone)
        seen = snapshot.take(c, world.now)
        before = past.jobs(c, world.now - timedelta(days=1), world.now)
    assert {entry.branch for entry in told.entries} == {"nlp", "vision"}
    assert (told.lent, [entry.used for entry in told.entries]) == ([], [4, 0])
    assert {key[0] for key in seen.usage} == {"nlp"}
    assert {job.project for job in seen.running} == {"nlp", "-"}
    assert all(variant.forecast.p50 for variant in sooner(seen, big.id, seen.runtimes))
    assert compare(before, seen, None, ()).before.whole.jobs == 1


def test_a_node_that_is_down_and_used_by_others_is_not_counted_twice(world: World) -> None:
    engine = Shared(world.machines)
    world.platform.engines = {"fake": engine}
    engine.others = (Occupied("n1", 8, "bob"),)
    world.machines.nodes = tuple(
        replace(node, state=NodeState.DOWN) if node.name == "n1" else node for node in world.machines.nodes
    )
    world.later(seconds=10)
    job, second = world.submit("job"), world.submit("second")
    world.settle()
    assert (job.state, second.state) == ("starting", "queued")
