"""Stories of stops: whatever a job is doing when it is asked, it ends as stopped and gives its devices back."""

import pytest

from headway.domain.errors import PlatformError
from tests.scenarios.work import Work
from tests.scenarios.world import START, World


def _room(world: World) -> bool:
    """Whether a job that needs every device starts now."""
    probe = world.submit("probe", nodes=2)
    world.settle()
    return probe.state == "starting"


def test_stop_while_queued(world: World) -> None:
    world.quota("nlp", 0)
    job = world.submit()
    world.later(minutes=2)
    job.stop()
    world.settle()
    assert (job.state, job.attempts, job.waits) == ("stopped", [], None)
    assert world.statement().device_seconds == 0
    assert [w.wait_seconds for w in world.statement().waiting] == [120]


def test_stop_while_placed(world: World) -> None:
    job = world.submit()
    world.turn("schedule")
    job.stop()
    world.settle()
    assert (job.state, job.attempt.outcome) == ("stopped", "stopped")
    assert job.attempt.id not in world.machines.parts
    world.quota("nlp", 100)
    assert _room(world)


def test_stop_while_starting(world: World) -> None:
    job = world.submit()
    world.settle()
    job.stop()
    world.settle()
    assert job.state == "stopping"
    assert job.agents[0].starts().stop is not None
    job.obeys()
    world.settle()
    assert (job.state, job.attempt.outcome) == ("stopped", "stopped")
    assert _room(world)


def test_stop_while_running(either_world: World) -> None:
    world = either_world
    job = _running(world)
    world.later(hours=2)
    job.stop()
    order = job.agents[0].reports("stopping").stop
    assert order is not None
    assert (order.reason, order.grace_s) == ("user", 30)
    job.stop()
    assert len(job.facts("stop-requested")) == 1
    world.later(seconds=12)
    job.obeys()
    world.settle()
    assert (job.state, job.verdict, job.bills) == ("stopped", None, [])
    assert world.statement().device_seconds == 16 * (2 * 3600 + 12)
    assert job.attempt.started_at == START.replace(microsecond=job.attempt.started_at.microsecond)
    assert _room(world)


def test_a_job_that_ends_well_before_the_stop_arrives_has_succeeded(world: World) -> None:
    job = _running(world)
    job.stop()
    job.finishes()
    world.settle()
    assert job.state == "succeeded"


def test_an_agent_that_dies_while_it_stops_ends_the_job_as_stopped(world: World) -> None:
    job = _running(world)
    job.stop(reason="budget")
    job.loses_its_agents()
    world.settle()
    world.later(seconds=11)
    assert (job.state, job.job.reason) == ("stopped", "budget")
    assert _room(world)


def test_stop_while_recovering(world: World) -> None:
    job = _running(world)
    job.breaks(signal=9)
    assert job.state == "recovering"
    job.stop()
    world.settle()
    assert (job.state, len(job.attempts)) == ("stopped", 1)
    assert _room(world)


def test_stop_while_it_waits_to_resume(world: World) -> None:
    world.machines.keeps = False
    job = _running(world)
    job.breaks(signal=9)
    world.turn("diagnose")
    world.turn("recover")
    assert job.state == "queued"
    job.stop()
    world.settle()
    assert (job.state, len(job.attempts)) == ("stopped", 1)
    assert _room(world)


def test_what_has_ended_cannot_be_stopped(world: World) -> None:
    job = _running(world)
    job.finishes()
    world.settle()
    with pytest.raises(PlatformError) as refused:
        job.stop()
    assert refused.value.code == "illegal-move"
    assert job.state == "succeeded"


def _running(world: World) -> Work:
    job = world.submit(nodes=2)
    world.settle()
    return job.starts()


def test_a_job_that_outlives_its_limit_is_stopped_with_its_grace(world: World) -> None:
    job = world.submit(limit_s=3600)
    world.settle()
    job.starts()
    world.later(minutes=59)
    world.settle()
    assert job.state == "running"
    world.later(minutes=1)
    world.settle()
    assert job.state == "stopping"
    order = job.agents[0].reports("stopping").stop
    assert order is not None
    assert (order.reason, order.grace_s) == ("time-limit", 30)
    job.obeys()
    world.settle()
    assert (job.state, job.job.reason) == ("stopped", "time-limit")
