"""Stories of what a batch system says: a node failed, a launch waits there, an end is coming, others use its nodes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import pytest

from headway.diagnosis.verdict import Fault, Owner
from headway.domain.attempt import LATE, TIME_LIMIT
from headway.domain.ids import attempt_id
from headway.domain.resources import NodeState, Occupied
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import Life
from headway.engines.protocol import Capability, Cause, Handle, Notice, Observation
from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run
from headway.store import nodes, snapshot
from tests.scenarios.work import Work
from tests.scenarios.world import World


def fails_a_node(world: World, job: Work) -> None:
    """The last node of its attempt goes down, and the engine sees that, and what it does to the attempt."""
    part = world.machines.parts[job.attempt.id]
    lost = job.attempt.placements[-1].node
    world.machines.write(job.attempt.id, replace(part.life, loses_agent=world.now - part.launched_at, node_fails=True))
    world.machines.nodes = tuple(
        replace(node, state=NodeState.DOWN, reason="Not responding") if node.name == lost else node
        for node in world.machines.nodes
    )


def test_a_failed_node_is_the_verdict_and_the_job_resumes_without_it(world: World) -> None:
    world.machines.nodes = (*world.machines.nodes, replace(world.machines.nodes[0], name="n3"))
    world.later(seconds=10)
    job = world.submit(nodes=2)
    world.settle()
    job.starts()
    job.reaches(20)
    job.saves(20)
    world.later(seconds=5)
    lost = job.attempt.placements[-1].node
    fails_a_node(world, job)
    job.agents[0].all_exit(1)
    world.settle()
    assert job.verdict is not None
    assert (job.verdict.fault, job.verdict.node, job.verdict.owner) == (Fault.NODE_DOWN, lost, Owner.OPERATOR)
    assert len(job.attempts) == 2
    assert lost not in {placement.node for placement in job.attempt.placements}
    assert job.attempt.resume_step == 20
    assert [fact.cause for fact in job.facts("agent-lost")] == ["node-fail"]  # type: ignore[union-attr]


def test_an_attempt_that_lives_on_behind_a_failed_node_can_save_nothing_once_its_successor_is_launched(
    world: World,
) -> None:
    job = world.submit(nodes=2)
    world.settle()
    job.starts()
    folder = world.platform.checkpoints / job.id
    told = {"HEADWAY_JOB": job.id, "HEADWAY_ATTEMPT": "offline", "HEADWAY_CHECKPOINT_DIR": str(folder)}
    old = Run(read_environment(told | {"HEADWAY_ATTEMPT_NUMBER": "1"})).checkpoints(extra={"step": 20})
    assert old.save(20) is not None
    (folder / ".tmp-left").symlink_to("/nowhere")
    fails_a_node(world, job)
    job.agents[0].all_exit(1)
    world.settle()
    world.machines.nodes = tuple(replace(node, state=NodeState.UP, reason=None) for node in world.machines.nodes)
    world.later(seconds=10)
    assert len(job.attempts) == 2
    with pytest.raises(CheckpointError, match="attempt 2"):
        old.save(40)
    new = Run(read_environment(told | {"HEADWAY_ATTEMPT_NUMBER": "2"})).checkpoints(extra={"step": 40})
    assert new.restore() == 20
    assert new.save(40) is not None


def test_a_failed_node_is_lost_at_once_although_a_silent_agent_is_given_time(world: World) -> None:
    job = world.submit(nodes=2)
    world.settle()
    job.starts()
    fails_a_node(world, job)
    world.settle()
    assert [fact.node for fact in job.facts("agent-lost")] == ["n2"]  # type: ignore[union-attr]


def test_a_launch_that_waits_in_the_engines_queue_shows_why_is_withdrawn_and_replanned(world: World) -> None:
    job = world.submit()
    world.machines.write(attempt_id(job.id, 1), Life(queued="ReqNodeNotAvail"))
    world.settle()
    world.later(seconds=5)
    first, second = job.attempts
    assert (first.waiting, first.stop_reason, first.outcome) == ("ReqNodeNotAvail", LATE, "stopped")
    assert (second.state, second.waiting, job.state, job.job.failures) == ("launched", None, "starting", 0)
    assert job.verdict is not None
    assert job.verdict.fault is Fault.STOPPED
    assert not job.bills


def test_a_user_who_stops_a_job_that_is_being_withdrawn_has_it_stopped(world: World) -> None:
    job = world.submit()
    world.machines.write(attempt_id(job.id, 1), Life(queued="Priority"))
    world.turn("schedule")
    world.turn("dispatch")
    world.turn("observe")
    job.stop()
    world.later(seconds=1)
    world.later(seconds=1)
    assert (job.state, len(job.attempts)) == ("stopped", 1)


class Announcing(FakeEngine):
    """An engine that says when it will end an attempt, and who else uses its nodes."""

    can = frozenset({Capability.NOTICES, Capability.OCCUPANCY, Capability.WATCHES_NODES})
    unanswering: frozenset[str] = frozenset()
    ends: tuple[Notice, ...] = ()
    others: tuple[Occupied, ...] = ()
    ended_for: Mapping[str, Cause] = MappingProxyType({})

    async def observe(self, handles: Sequence[Handle]) -> Sequence[Observation]:
        """Its word on an end comes after the agent's."""
        seen = await super().observe(handles)
        return [replace(one, cause=self.ended_for.get(one.node)) for one in seen]

    async def notices(self, handles: Sequence[Handle]) -> Sequence[Notice]:
        return [notice for notice in self.ends if notice.attempt in {handle.attempt for handle in handles}]

    async def unresponsive(self, nodes: Collection[str]) -> Collection[str]:
        return self.unanswering & set(nodes)

    async def occupied(self) -> Sequence[Occupied]:
        return self.others


@pytest.fixture
def engine(world: World) -> Announcing:
    made = Announcing(world.machines)
    world.platform.engines = {"fake": made}
    return made


def test_an_end_that_is_announced_reaches_the_ranks_and_the_job_goes_on(world: World, engine: Announcing) -> None:
    job = world.submit()
    world.settle()
    job.starts()
    engine.ends = (Notice(job.attempt.id, "time-limit", world.now + timedelta(seconds=60)),)
    world.settle()
    told = job.agents[0].reports()
    assert told.stop is not None
    assert (told.stop.reason, told.stop.grace_s) == (TIME_LIMIT, 50)
    job.reaches(30)
    job.saves(30)
    job.agents[0].obeys(TIME_LIMIT)
    world.settle()
    assert (len(job.attempts), job.attempt.resume_step, job.job.failures) == (2, 30, 0)


@pytest.mark.parametrize("cause", ["out-of-memory", "node-fail", "timeout", "preempted", "boot-fail"])
def test_what_a_batch_system_ended_an_attempt_for_is_a_fact_though_the_agent_told_the_exit(
    world: World, engine: Announcing, cause: str
) -> None:
    job = world.submit(nodes=2)
    world.settle()
    job.starts()
    job.breaks(signal=9)
    world.settle()
    assert not job.facts("end-explained")
    engine.ended_for = {"n1": Cause(cause)}
    world.later(seconds=2)
    world.later(seconds=2)
    told = [(fact.node, fact.cause, fact.by) for fact in job.facts("end-explained")]  # type: ignore[union-attr]
    assert told == [("n1", cause, "engine:fake")]
    assert [fact.signal for fact in job.facts("rank-exited") if fact.rank == 0] == [9]  # type: ignore[union-attr]


@pytest.mark.parametrize("ends", ["finishes", "obeys"])
def test_a_good_end_needs_no_explaining_and_a_cancel_is_none(world: World, engine: Announcing, ends: str) -> None:
    job = world.submit()
    world.settle()
    job.starts()
    if ends == "obeys":
        job.stop()
    getattr(job, ends)()
    engine.ended_for = {"n1": Cause.CANCELLED if ends == "obeys" else Cause.TIMEOUT}
    world.later(seconds=2)
    world.later(seconds=2)
    assert job.state in ("succeeded", "stopped")
    assert not job.facts("end-explained")


def test_what_others_use_is_taken_until_their_limit_and_shown(world: World, engine: Announcing) -> None:
    until = world.now + timedelta(minutes=30)
    engine.others = (Occupied("n1", 8, "bob", until), Occupied("n2", 4, "eve"))
    world.later(seconds=10)
    job, small = world.submit(), world.submit(devices=4)
    world.settle()
    assert (job.state, small.state) == ("queued", "starting")
    assert [(p.node, len(p.devices)) for p in small.attempt.placements] == [("n2", 4)]
    assert job.waits is not None
    assert job.waits.reserved_at == until
    with world.platform.database.read() as c:
        assert set(nodes.occupied(c)) == {"n1", "n2"}
    engine.others = ()
    world.later(seconds=10)
    assert job.state == "starting"
    with world.platform.database.read() as c:
        assert len(snapshot.take(c, world.now).running) == 2


def test_a_node_from_which_neither_agent_nor_engine_hears_is_down_and_one_witness_is_not_enough(
    world: World, engine: Announcing
) -> None:
    job = world.submit(nodes=2)
    world.settle()
    job.starts()
    engine.unanswering = frozenset({"n2"})
    world.later(seconds=4)
    job.agents[1].reports()
    world.later(seconds=4)
    assert not job.facts("agent-lost"), "its agent speaks"
    engine.unanswering = frozenset()
    world.later(seconds=4)
    assert not job.facts("agent-lost"), "its node answers"
    job.agents[0].reports()
    engine.unanswering = frozenset({"n2"})
    world.settle()
    assert [fact.node for fact in job.facts("agent-lost")] == ["n2"]  # type: ignore[union-attr]
    told = job.agents[0].reports()
    assert told.stop is not None
    assert told.stop.reason == "gang"
    job.agents[0].obeys("gang")
    world.settle()
    assert job.verdict is not None
    assert (job.verdict.fault, job.verdict.node) == (Fault.NODE_DOWN, "n2")
