"""Stories of jobs that wait for something else than devices: other jobs, an hour, a window, room in their array."""

from datetime import datetime, timedelta
from typing import Any

from headway.scheduler.plan import ArrayFull, DependencyFailed, DependencyPending, WindowAhead
from headway.scheduler.snapshot import Window
from headway.server.operations.jobs.arrays import Shape, items_of, submit_array
from headway.server.operations.jobs.submit import Submission
from headway.server.operations.queue import windows
from headway.store import predictions
from tests.scenarios.work import Work
from tests.scenarios.world import TYPE, World


def _window(world: World, hours: tuple[float, float], **scope: Any) -> str:
    begins, ends = (world.now + timedelta(hours=at) for at in hours)
    with world.platform.database.write() as c:
        return windows.set_window(c, world.change, Window("power", begins, ends, **scope), "ups").id


def _array(world: World, count: int, cap: int) -> list[Work]:
    wanted = {"nodes": 1, "devices_per_node": 1, "ranks_per_node": 1}
    submission = Submission(name="many", project="nlp", template="train", resources=wanted)
    with world.platform.database.write() as c:
        shape = Shape(count=count, cap=cap)
        made = submit_array(world.platform, c, items_of(submission, shape), shape, "ann")
    return [Work(world, job.id) for job in made]


def test_a_job_starts_after_another_has_succeeded(either_world: World) -> None:
    world = either_world
    first = world.submit("first")
    second = world.submit("second", after_ok=(first.id,))
    world.settle()
    assert second.state == "queued"
    assert second.waits is not None
    assert second.waits.reason == DependencyPending(first.id, "succeeded")
    first.starts().finishes()
    world.settle()
    assert second.state == "starting"


def test_a_job_whose_dependency_failed_never_starts_and_is_told_so(world: World) -> None:
    first = world.submit("first")
    strict, easy = world.submit("strict", after_ok=(first.id,)), world.submit("easy", after=(first.id,))
    world.settle()
    first.stop()
    first.starts()
    first.obeys()
    world.settle()
    assert (strict.state, easy.state) == ("queued", "starting")
    assert strict.waits is not None
    assert strict.waits.reason == DependencyFailed(first.id)


def test_an_array_runs_no_more_than_its_cap_at_once(world: World) -> None:
    jobs = _array(world, 4, cap=2)
    world.settle()
    assert [job.state for job in jobs] == ["starting", "starting", "queued", "queued"]
    waits = jobs[2].waits
    assert waits is not None
    assert isinstance(waits.reason, ArrayFull)
    assert (waits.reason.cap, waits.reason.running) == (2, 2)
    jobs[0].starts().finishes()
    world.settle()
    assert [job.state for job in jobs] == ["succeeded", "starting", "starting", "queued"]


def test_a_job_waits_for_its_hour(world: World) -> None:
    at: datetime = world.now + timedelta(hours=3)
    job = world.submit("late", not_before=at)
    world.later(hours=2)
    assert job.state == "queued"
    assert job.waits is not None
    assert job.waits.reason.code == "not-before"
    world.later(hours=1)
    assert job.state == "starting"


def test_nothing_starts_that_may_run_into_a_maintenance_window(world: World) -> None:
    window = _window(world, (1, 3), nodes=frozenset({"n1", "n2"}))
    short, long = world.submit("short", limit_s=1800), world.submit("long", limit_s=7200)
    world.settle()
    assert (short.state, long.state) == ("starting", "queued")
    assert long.waits is not None
    assert isinstance(long.waits.reason, WindowAhead)
    assert long.waits.reason.window == "power"
    with world.platform.database.write() as c:
        windows.cancel(c, world.change, window)
    world.settle()
    assert long.state == "starting"


def test_a_reservation_lets_its_project_in_and_nobody_else(world: World) -> None:
    _window(world, (0, 3), device_type=TYPE, project="vision")
    other, mine = world.submit("other", limit_s=600), world.submit("mine", project="vision", limit_s=600)
    world.settle()
    assert (other.state, mine.state) == ("queued", "starting")
    mine.starts().finishes()
    world.later(hours=3)
    assert other.state == "starting"


def test_first_forecasts_are_measured_against_what_came(world: World) -> None:
    for n in range(3):
        done = world.submit(f"done-{n}", nodes=2)
        world.settle()
        done.starts()
        world.later(hours=1)
        done.finishes()
        world.settle()
    running, waiting = world.submit("running", nodes=2), world.submit("waiting", nodes=2)
    world.settle()
    running.starts()
    world.later(minutes=1)
    world.later(minutes=59)
    running.finishes()
    world.settle()
    assert waiting.state == "starting"
    with world.platform.database.read() as c:
        (made,) = predictions.started(c, world.now - timedelta(days=1))
    assert (made.job, made.devices, made.started_at) == (waiting.id, 16, world.now)
