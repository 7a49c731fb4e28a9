"""Stories of the queue: who waits, why, and who gets the room."""

from datetime import timedelta

import pytest

from headway.domain.errors import PlatformError
from headway.domain.job import Priority
from headway.scheduler.plan import CapacityShort, QuotaReached
from headway.server.loops import schedule as schedule_loop
from tests.scenarios.world import TYPE, World


def test_quota_exceeded_waits(either_world: World) -> None:
    world = either_world
    world.quota("nlp", 8)
    first = world.submit("first", devices=8)
    second = world.submit("second", devices=4)
    world.settle()
    assert (first.state, second.state) == ("starting", "queued")
    assert second.waits is not None
    assert second.waits.reason == QuotaReached("nlp", TYPE, quota=8, used=8, wanted=4)
    world.quota("nlp", 12)
    world.settle()
    assert second.state == "starting"


def test_the_quota_of_one_project_is_not_that_of_another(world: World) -> None:
    world.quota("nlp", 0)
    ours, theirs = world.submit("ours"), world.submit("theirs", project="vision")
    world.settle()
    assert (ours.state, theirs.state) == ("queued", "starting")


def test_second_job_waits_and_gets_the_room(either_world: World) -> None:
    world = either_world
    first = world.submit("first", nodes=2)
    world.settle()
    second = world.submit("second", nodes=2, project="vision")
    world.settle()
    first.starts()
    assert second.waits is not None
    assert second.waits.reason == CapacityShort(TYPE, wanted=16, nodes=2, free=0, held=0)
    assert second.waits.position == 1
    world.later(hours=3)
    first.finishes()
    world.settle()
    assert (first.state, second.state) == ("succeeded", "starting")
    assert second.waits is None
    assert world.statement("nlp").device_seconds == 3 * 3600 * 16
    assert world.statement("vision").device_seconds == 0
    assert world.statement("vision").waiting[0].wait_seconds == 3 * 3600


def test_a_gang_never_starts_in_part(world: World) -> None:
    small = world.submit("small", devices=1)
    world.settle()
    gang = world.submit("gang", nodes=2, devices=8)
    world.settle()
    assert (small.state, gang.state, gang.attempts) == ("starting", "queued", [])


def test_freed_room_is_held_for_the_resume(either_world: World) -> None:
    world = either_world
    broken = world.submit("broken", nodes=2)
    world.settle()
    broken.starts().reaches(5)
    world.later(minutes=1)
    broken.breaks(rank=1, signal=9)
    world.turn("diagnose")
    urgent = world.submit("urgent", nodes=2, priority=Priority.URGENT)
    world.turn("schedule")
    assert urgent.state == "queued"
    assert urgent.waits is not None
    assert urgent.waits.reason == CapacityShort(TYPE, wanted=16, nodes=2, free=0, held=16)
    world.turn("recover")
    world.settle()
    assert (broken.state, urgent.state) == ("starting", "queued")
    assert broken.attempts[1].placements == broken.attempts[0].placements


def test_a_hold_runs_out(world: World) -> None:
    broken = world.submit("broken", nodes=2)
    world.settle()
    broken.starts()
    broken.breaks(rank=0, signal=9)
    urgent = world.submit("urgent", nodes=2, priority=Priority.URGENT)
    world.turn("schedule")
    assert urgent.state == "queued"
    world.machines.advance(world.platform.settings.hold)
    world.turn("schedule")
    assert (broken.state, urgent.state) == ("recovering", "starting")
    world.settle()
    assert broken.state == "queued"


def test_a_broken_job_keeps_its_quota_while_its_verdict_is_awaited(world: World) -> None:
    world.quota("nlp", 8)
    broken = world.submit("broken", devices=8)
    world.settle()
    broken.starts()
    other = world.submit("other", devices=8)
    broken.breaks(rank=0, signal=9)
    world.turn("schedule")
    assert other.state == "queued"
    world.settle()
    assert (broken.state, other.state) == ("starting", "queued")


def test_a_conflicting_plan_is_redone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first = world.submit("first")
    plan, late = schedule_loop.schedule, []

    def plan_slowly(snapshot):  # type: ignore[no-untyped-def]
        made = plan(snapshot)
        if not late:
            late.append(world.submit("late", priority=Priority.URGENT))
        return made

    monkeypatch.setattr(schedule_loop, "schedule", plan_slowly)
    with pytest.raises(PlatformError) as refused:
        world.turn("schedule")
    assert refused.value.code == "conflict"
    assert (first.state, first.attempts) == ("queued", [])
    world.settle()
    assert (first.state, late[0].state) == ("starting", "starting")
    assert len(first.attempts) == len(late[0].attempts) == 1


def test_a_node_that_goes_away_is_waited_for(world: World) -> None:
    shown = world.machines.nodes
    world.machines.nodes = shown[:1]
    world.later(minutes=1)
    gang = world.submit("gang", nodes=2)
    world.settle()
    assert gang.waits is not None
    assert gang.waits.reason.code == "node-health"
    world.machines.nodes = shown
    world.machines.advance(timedelta(minutes=1))
    world.settle()
    assert gang.state == "starting"
