"""Stories of lent devices: idle guarantees are borrowed and come back, whole jobs are taken and go on later."""

from datetime import timedelta

import pytest

from headway.domain.errors import PlatformError
from headway.domain.queue_events import PreemptionOrdered, ReservationDelayed
from headway.server.operations.assets.assets import add_template
from headway.server.operations.jobs.preempting import Order, take
from tests.scenarios.work import Work
from tests.scenarios.world import World

LENDING = """
[departments.research]

[projects.nlp]
department = "research"
cards.a100 = { guaranteed = 8, borrow_ceiling = "any" }

[projects.vision]
department = "research"
cards.a100 = { guaranteed = 8, borrow_ceiling = "any" }
"""


def _borrower(world: World) -> tuple[Work, Work]:
    """nlp has its own node and, vision being idle, vision's too: two jobs that run."""
    world.table(LENDING)
    own = world.submit("own")
    world.settle()
    borrower = world.submit("borrower")
    world.settle()
    for job in (own, borrower):
        job.starts().reaches(10)
    assert [own.attempt.borrowed, borrower.attempt.borrowed] == [False, True]
    return own, borrower


def _asks(world: World) -> Work:
    """vision wants its node back."""
    lender = world.submit("lender", project="vision")
    world.settle()
    return lender


def test_what_was_lent_comes_back_by_taking_the_borrower_whole(either_world: World) -> None:
    world = either_world
    own, borrower = _borrower(world)
    world.later(hours=1)
    borrower.saves(100)
    world.settle()
    lender = _asks(world)
    assert (own.state, borrower.state, lender.state) == ("running", "stopping", "queued")
    assert lender.waits is not None
    assert lender.waits.reason.code == "reclaiming"
    order = borrower.agents[0].reports("stopping").stop
    assert order is not None
    assert (order.reason, order.grace_s) == ("preempted", 30)
    borrower.obeys("preempted")
    world.settle()
    assert (lender.state, borrower.state) == ("starting", "queued")
    assert lender.attempt.placements == borrower.attempt.placements
    assert (borrower.job.preemptions, borrower.job.failures, borrower.job.reason) == (1, 0, "preempted")
    assert borrower.bills == []


def test_the_price_is_recorded_with_who_it_was_paid_for(world: World) -> None:
    _, borrower = _borrower(world)
    world.later(hours=1)
    borrower.saves(100)
    world.settle()
    world.later(minutes=10)
    lender = _asks(world)
    (ordered,) = borrower.facts("preemption-ordered")
    assert isinstance(ordered, PreemptionOrdered)
    assert (ordered.for_job, ordered.devices, ordered.why) == (lender.id, 8, "reclaim")
    assert ordered.lost_device_seconds == 8 * 600


def test_a_taken_job_goes_on_from_its_checkpoint(world: World) -> None:
    _, borrower = _borrower(world)
    world.later(hours=1)
    lender = _asks(world)
    saved = borrower.saves(120)
    borrower.obeys("preempted")
    world.settle()
    lender.starts().finishes()
    world.settle()
    assert borrower.state == "starting"
    assert (borrower.attempt.number, borrower.attempt.resume_from, borrower.attempt.resume_step) == (2, saved, 120)
    borrower.starts().finishes()
    world.settle()
    assert borrower.state == "succeeded"


def test_freed_room_waits_for_whoever_it_was_freed_for(world: World) -> None:
    _borrower(world)
    world.later(hours=1)
    lender = _asks(world)
    eager = world.submit("eager", devices=1)
    borrower = next(Work(world, fact.job) for fact in world.facts("preemption-ordered"))
    borrower.obeys("preempted")
    world.settle()
    assert (lender.state, eager.state) == ("starting", "queued")


def test_a_borrower_runs_for_a_while_before_it_can_be_taken(world: World) -> None:
    _, borrower = _borrower(world)
    lender = _asks(world)
    assert (borrower.state, lender.state) == ("running", "queued")
    world.machines.advance(world.platform.settings.policy.min_run + timedelta(seconds=1))
    world.settle()
    assert borrower.state == "stopping"


def test_a_borrower_is_taken_as_soon_as_it_has_run_for_that_while(world: World) -> None:
    """Nothing is written at that moment, and the queue was planned a second ago."""
    _, borrower = _borrower(world)
    _asks(world)
    policy = world.platform.settings.policy
    world.machines.advance(borrower.attempt.placed_at + policy.min_run - timedelta(seconds=1) - world.now)
    for loop in ("schedule", "schedule"):
        world.turn(loop)
    assert borrower.state == "running"
    world.later_unseen(1)
    world.turn("schedule")
    assert borrower.state == "stopping"


def test_a_protected_job_neither_borrows_nor_is_taken(world: World) -> None:
    world.table(LENDING)
    first, second = world.submit("first", protected=True), world.submit("second", protected=True)
    world.settle()
    assert (first.state, second.state) == ("starting", "queued")
    assert second.waits is not None
    assert second.waits.reason.code == "protected"
    with world.platform.database.write() as c, pytest.raises(PlatformError, match="protected"):
        take(c, first.job, Order("olga", world.now, "demo"))


def test_who_is_taken_again_and_again_uses_up_no_retries(world: World) -> None:
    job = world.submit("job")
    world.settle()
    for times in range(1, 6):
        job.starts()
        world.later(minutes=5)
        with world.platform.database.write() as c:
            take(c, job.job, Order("olga", world.now, "demo"))
        job.obeys("preempted")
        world.settle()
        assert (job.job.preemptions, job.job.failures, job.state) == (times, 0, "starting")
    assert job.job.spec.recovery.retries < 5


def test_a_job_that_is_being_taken_can_be_stopped_for_good(world: World) -> None:
    _, borrower = _borrower(world)
    world.later(hours=1)
    lender = _asks(world)
    borrower.stop()
    borrower.obeys("preempted")
    world.settle()
    assert (borrower.state, borrower.job.reason, borrower.job.preemptions) == ("stopped", "user", 0)
    assert lender.state == "starting"


def test_a_taken_job_that_ends_well_in_its_grace_has_succeeded(world: World) -> None:
    _, borrower = _borrower(world)
    world.later(hours=1)
    lender = _asks(world)
    borrower.finishes()
    world.settle()
    assert (borrower.state, borrower.job.preemptions, lender.state) == ("succeeded", 0, "starting")


def test_agents_that_die_while_a_job_is_taken_do_not_fail_it(world: World) -> None:
    _, borrower = _borrower(world)
    world.later(hours=1)
    lender = _asks(world)
    borrower.loses_its_agents()
    world.settle()
    world.later(seconds=11)
    assert (borrower.state, borrower.job.preemptions, borrower.job.failures) == ("queued", 1, 0)
    assert lender.state == "starting"


def test_when_whoever_asked_goes_away_the_taken_job_comes_back(world: World) -> None:
    _, borrower = _borrower(world)
    world.later(hours=1)
    lender = _asks(world)
    lender.stop()
    borrower.obeys("preempted")
    world.settle()
    assert (lender.state, borrower.state, borrower.attempt.number) == ("stopped", "starting", 2)


def test_a_restart_in_the_middle_of_a_preemption_loses_nothing(either_world: World) -> None:
    world = either_world
    _, borrower = _borrower(world)
    world.later(hours=1)
    lender = _asks(world)
    world.restart()
    borrower.obeys("preempted")
    world.restart()
    world.settle()
    assert (lender.state, borrower.state, borrower.job.preemptions) == ("starting", "queued", 1)


def _overdue(world: World, **fields: object) -> tuple[Work, Work]:
    """A job of a kind that ends in half an hour is let past a promised one, and runs on when that one should start."""
    with world.platform.database.write() as c:
        add_template(c, world.change, {"name": "quick", "command": ["quick"]})
    usual = world.submit("usual", template="quick")
    world.settle()
    usual.starts()
    world.later(minutes=30)
    usual.finishes()
    world.later(minutes=2)
    first = world.submit("first", limit_s=7200.0)
    world.settle()
    wide = world.submit("wide", nodes=2, limit_s=3600.0)
    small = world.submit("small", template="quick", **fields)
    world.settle()
    assert (first.state, wide.state, small.state) == ("starting", "queued", "starting")
    assert [over.job for over in small.attempt.overtook] == [wide.id]
    for job in (first, small):
        job.starts()
    world.later(hours=1, minutes=58)
    assert not world.facts("preemption-ordered", "reservation-delayed")
    first.finishes()
    world.later(minutes=3)
    return wide, small


def test_who_outlives_the_word_it_was_let_past_on_makes_room(world: World) -> None:
    wide, small = _overdue(world)
    assert (wide.state, small.state) == ("queued", "stopping")
    (ordered,) = small.facts("preemption-ordered")
    assert isinstance(ordered, PreemptionOrdered)
    assert (ordered.for_job, ordered.why) == (wide.id, "overdue")
    small.obeys("preempted")
    world.settle()
    assert (wide.state, small.state, small.job.preemptions) == ("starting", "queued", 1)


def test_a_delay_by_one_that_may_not_be_taken_is_a_fact_told_once(world: World) -> None:
    wide, small = _overdue(world, protected=True)
    world.later(minutes=1)
    assert (wide.state, small.state) == ("queued", "running")
    (delayed,) = wide.facts("reservation-delayed")
    assert isinstance(delayed, ReservationDelayed)
    assert (delayed.behind, delayed.attempt) == (small.id, small.attempt.id)
    small.finishes()
    world.settle()
    assert wide.state == "starting"
