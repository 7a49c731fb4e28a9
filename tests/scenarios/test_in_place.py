"""Stories of jobs that broke and began again at once where they were, and of those that could not."""

from collections.abc import Callable

import pytest

from headway.domain.attempt import Attempt
from headway.domain.events import AttemptPlaced
from headway.domain.job import Priority
from headway.domain.lifecycle import JobState
from headway.domain.recovery_events import RecoveryDecided
from headway.domain.resources import NodeState
from headway.store import holds, nodes
from tests.scenarios.test_lending import LENDING
from tests.scenarios.work import Work
from tests.scenarios.world import World


@pytest.fixture
def broken(either_world: World) -> Work:
    """A job on both nodes, one of whose ranks has just been killed: nothing has been decided yet."""
    train = either_world.submit("train", nodes=2)
    either_world.settle()
    train.starts()
    train.saves(10)
    either_world.later(minutes=5)
    train.reaches(15)
    train.breaks(signal=9)
    return train


def decide(world: World) -> None:
    world.turn("diagnose")
    world.turn("recover")


def decided(train: Work) -> RecoveryDecided:
    found = train.facts("recovery-decided")[-1]
    assert isinstance(found, RecoveryDecided)
    return found


def test_a_killed_rank_begins_again_at_once_on_the_same_nodes_without_the_queue(broken: Work) -> None:
    world = broken.world
    waiting = world.submit("urgent", nodes=2, priority=Priority.URGENT)
    decide(world)
    first, second = broken.attempts
    assert (broken.state, broken.waits) == ("starting", None)
    assert (second.placements, second.placed_at) == (first.placements, first.ended_at)
    assert (decided(broken).in_place, decided(broken).queued_for, decided(broken).held_until) == (True, None, None)
    with world.platform.database.read() as c:
        assert holds.all(c, world.now) == []
    world.settle()
    assert (waiting.state, broken.attempt.state, broken.attempt.resume_step) == ("queued", "launched", 10)

    world.later(seconds=20)
    broken.starts().reaches(16)
    (recovery,) = broken.recoveries
    assert (recovery.way, recovery.phases.schedule, recovery.phases.retry) == ("in-place", None, None)
    assert (recovery.phases.start, recovery.passing) == (20, "passed")


def test_a_server_killed_after_it_decided_launches_it_once(broken: Work) -> None:
    world = broken.world
    decide(world)
    world.restart()
    world.settle()
    assert [fact.attempt for fact in broken.facts("attempt-launched") if hasattr(fact, "attempt")] == [
        attempt.id for attempt in broken.attempts
    ]
    assert len(broken.attempts) == 2


def test_tries_in_place_are_counted_like_any_others_and_lead_away_from_a_node_that_breaks_them(world: World) -> None:
    train = world.submit("train")
    world.settle()
    for _ in range(4):
        train.starts().breaks(signal=9)
        world.settle()
    assert (train.state, train.job.reason, len(train.attempts)) == ("failed", "no-progress", 4)
    assert [recovery.way for recovery in train.recoveries] == ["in-place", "node-avoided", "node-avoided"]


def engine_keeps_nothing(world: World, _: Attempt) -> None:
    world.machines.keeps = False


def node_is_closed(world: World, attempt: Attempt) -> None:
    with world.platform.database.write() as c:
        nodes.set_state(c, attempt.placements[1].node, NodeState.CORDONED, "to be mended")


def hold_is_over(world: World, _: Attempt) -> None:
    world.later_unseen(world.platform.settings.hold.total_seconds())


@pytest.mark.parametrize(
    ("change", "why"),
    [(engine_keeps_nothing, "engine"), (node_is_closed, "node-closed"), (hold_is_over, "hold-over")],
)
def test_where_it_cannot_stay_it_goes_through_the_queue_and_says_why(
    broken: Work, change: Callable[[World, Attempt], None], why: str
) -> None:
    world = broken.world
    change(world, broken.attempt)
    decide(world)
    assert (broken.state, len(broken.attempts)) == (JobState.QUEUED, 1)
    assert (decided(broken).in_place, decided(broken).queued_for) == (False, why)
    assert decided(broken).held_until is not None
    assert [recovery.way for recovery in broken.recoveries] == [why]


def test_a_borrowed_attempt_that_begins_again_is_still_borrowed(world: World) -> None:
    world.table(LENDING)
    own, train = world.submit("own"), world.submit("train")
    world.settle()
    own.starts()
    train.starts()
    train.breaks(signal=9)
    decide(world)
    placed = [fact for fact in train.facts("attempt-placed") if isinstance(fact, AttemptPlaced)]
    assert [fact.borrowed for fact in placed] == [True, True]
    assert [attempt.borrowed for attempt in train.attempts] == [True, True]
