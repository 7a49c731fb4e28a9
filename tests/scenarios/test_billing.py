"""Stories of the ledger: what is charged, when, and to which month."""

from datetime import UTC, datetime, timedelta

from headway.metering.reconcile import check
from headway.store import ledger
from tests.scenarios.work import Work
from tests.scenarios.world import World


def test_statement_over_a_month_edge(either_world: World) -> None:
    """Shanghai's December begins at 16:00 UTC of 30 November."""
    world = either_world
    edge = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)
    world.later(seconds=(edge - timedelta(hours=2) - world.now).total_seconds())
    train, waiting = world.submit("train", nodes=2), world.submit("waiting", nodes=2)
    world.settle()
    train.starts()
    world.later(hours=3, seconds=30)
    assert [line.open for line in world.statement(month="2026-11").lines] == [True]
    train.finishes()
    world.settle()
    november, december = world.statement(month="2026-11"), world.statement(month="2026-12")
    assert november.device_seconds == 16 * 2 * 3600
    assert december.device_seconds == 16 * (3600 + 30)
    assert november.totals == {"a100/occupancy": november.device_seconds}
    assert [(w.job, w.wait_seconds) for w in november.waiting if w.wait_seconds] == [(waiting.id, 2 * 3600)]
    assert [(w.job, w.wait_seconds) for w in december.waiting if w.wait_seconds] == [(waiting.id, 3600 + 30)]
    for statement in (november, december):
        assert check(statement, world.intervals()) == []
    assert waiting.state == "starting"


def test_meter_posts_each_interval_once(world: World) -> None:
    jobs = [world.submit(f"job-{n}", devices=4) for n in range(4)]
    world.settle()
    world.later(minutes=5)
    for job in jobs:
        job.starts().finishes()
    world.turn("meter")
    world.restart()
    for _ in range(3):
        world.turn("meter")
    with world.platform.database.read() as c:
        entries = ledger.entries(c, project="nlp")
    assert [entry.device_seconds for entry in entries] == [4 * 300] * 4
    assert world.statement().device_seconds == 4 * 4 * 300


def test_a_job_that_goes_on_in_place_is_charged_without_a_gap(world: World) -> None:
    train = _broken_for_four_minutes(world)
    (line,) = world.statement().lines
    assert (line.device_seconds, line.intervals, line.open) == (8 * (3 * 3600 + 240), 2, False)
    first, second = train.attempts
    assert first.ended_at == second.placed_at


def test_a_job_that_goes_on_through_the_queue_is_charged_for_both_attempts_and_not_for_the_hold(world: World) -> None:
    world.machines.keeps = False
    _broken_for_four_minutes(world)
    (line,) = world.statement().lines
    assert (line.device_seconds, line.intervals, line.open) == (8 * 3 * 3600, 2, False)


def _broken_for_four_minutes(world: World) -> Work:
    """An hour of a job with all of a node, a fault that nobody looked at for four minutes, and two hours more."""
    train = world.submit("train", devices=8)
    world.settle()
    train.starts()
    world.later(hours=1)
    train.breaks(signal=9)
    world.machines.advance(timedelta(minutes=4))
    world.settle()
    train.starts()
    world.later(hours=2)
    train.finishes()
    world.settle()
    return train
