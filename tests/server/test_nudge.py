"""Agents hear of a broken gang and of a drill at once, where the engine can reach them."""

import asyncio
from dataclasses import asdict, replace

import pytest

from headway.domain.attempt import RankExit
from headway.domain.drill import Drill
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.resources import Placement
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import World
from headway.engines.protocol import Capability, Handle
from headway.server.loops.observe import Observe
from headway.server.platform import Platform
from headway.store import agents, attempts, drills, jobs
from tests.builders import NOW, a_job
from tests.store.rows import an_attempt


class Nudging(FakeEngine):
    """Notes who was nudged."""

    can = frozenset({Capability.NUDGES})

    def __init__(self) -> None:
        super().__init__(World(), "local")
        self.nudged: list[str] = []

    async def nudge(self, handle: Handle) -> None:
        self.nudged.append(handle.attempt)


@pytest.fixture
def engine(platform: Platform) -> Nudging:
    """Two attempts run on it: a gang on two nodes, and one on a single node."""
    engine = Nudging()
    platform.engines["local"] = engine
    with platform.database.write() as c:
        for name, nodes in (("j-gang", ("n1", "n2")), ("j-one", ("n1",))):
            jobs.insert(c, replace(a_job(name), state=JobState.RUNNING))
            placements = tuple(Placement(node, (0,)) for node in nodes)
            attempts.insert(c, an_attempt(name, placements=placements, state=AttemptState.RUNNING), f"digest-{name}")
            attempts.set_handle(c, an_attempt(name).id, asdict(Handle(an_attempt(name).id, "local", nodes)))
    return engine


def record_exit(platform: Platform, job: str, code: int) -> None:
    with platform.database.write() as c:
        agents.record_exit(c, an_attempt(job).id, RankExit(rank=0, node="n1", at=NOW, code=code))


def test_a_gang_in_which_a_rank_ended_badly_is_nudged(platform: Platform, engine: Nudging) -> None:
    record_exit(platform, "j-gang", 0)
    asyncio.run(Observe()(platform))
    assert engine.nudged == []
    with platform.database.write() as c:
        agents.record_exit(c, an_attempt("j-gang").id, RankExit(rank=1, node="n2", at=NOW, signal=9))
    asyncio.run(Observe()(platform))
    assert engine.nudged == ["j-gang.1"]


def test_a_bad_end_on_a_single_node_is_its_own_agents_business(platform: Platform, engine: Nudging) -> None:
    record_exit(platform, "j-one", 1)
    asyncio.run(Observe()(platform))
    assert engine.nudged == []


def test_an_agent_is_nudged_until_its_drill_is_done(platform: Platform, engine: Nudging) -> None:
    attempt = an_attempt("j-one")
    with platform.database.write() as c:
        drills.order(c, Drill("d-1", attempt.job, 0, NOW, "ann", attempt.id))
    asyncio.run(Observe()(platform))
    with platform.database.write() as c:
        drills.done(c, "d-1", NOW)
    asyncio.run(Observe()(platform))
    assert engine.nudged == ["j-one.1"]
