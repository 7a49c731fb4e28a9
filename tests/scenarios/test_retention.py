"""Stories of checkpoints that go while their job runs, and of those that stay whatever a policy says."""

from typing import Any

import pytest

from headway.domain.cadence_events import CheckpointDeleted, SpaceShort
from headway.server.operations.jobs.pinning import pin, unpin
from headway.store import checkpoints
from tests.scenarios.test_frameworks_checkpoints import running, sees
from tests.scenarios.work import Work
from tests.scenarios.world import World

POLICY = {"keep": 1, "keep_every_steps": 100}


def ordered(train: Work) -> list[str]:
    return [order.path for order in train.agents[0].reports().discard]


def gone(train: Work) -> list[tuple[int, str]]:
    return [(f.step, f.cause) for f in train.facts("checkpoint-deleted") if isinstance(f, CheckpointDeleted)]


def measures(train: Work, free: int) -> None:
    t = train.world.now.timestamp()
    values = {"disk_total_bytes": 10**6, "disk_used_bytes": 10**6 - free}
    train.agents[0].reports(readings=[{"t": t, "name": name, "value": value} for name, value in values.items()])


def test_what_the_policy_lets_go_is_deleted_by_the_agent_and_recorded(either_world: World) -> None:
    train = running(either_world, checkpoint=POLICY)
    for step in (50, 100, 150, 200, 250):
        sees(train, f"checkpoint-{step}", step)
    either_world.settle()
    assert ordered(train) == ["checkpoint-50", "checkpoint-150"]
    told: list[dict[str, Any]] = [
        {"path": "checkpoint-50", "kept": None},
        {"path": "checkpoint-150", "kept": "in-use"},
        {"path": "checkpoint-200", "kept": None},
    ]
    train.agents[0].reports(discarded=told)
    assert gone(train) == [(50, "policy")]
    assert [(each.step, str(each.state)) for each in train.checkpoints if str(each.state) == "deleted"] == [
        (50, "deleted")
    ]
    either_world.settle()
    assert ordered(train) == ["checkpoint-150"]


def test_what_an_attempt_goes_on_from_stays(world: World) -> None:
    train = running(world, checkpoint=POLICY)
    train.reaches(60)
    sees(train, "checkpoint-50", 50)
    train.breaks(signal=9)
    world.later(seconds=10)
    train.starts()
    assert train.attempt.resume_step == 50
    for step in (70, 80):
        sees(train, f"checkpoint-{step}", step)
    world.settle()
    assert ordered(train) == ["checkpoint-70"]


def test_what_somebody_pinned_stays_until_it_is_unpinned_and_saved_again_stays_pinned(either_world: World) -> None:
    world = either_world
    train = running(world, checkpoint=POLICY)
    for step in (10, 20, 30):
        sees(train, f"checkpoint-{step}", step)
    with world.platform.database.write() as c:
        for _ in range(2):
            pin(c, train.job, 10, at=world.now, by="ann")
        for known in checkpoints.of_job(c, train.id):
            checkpoints.record(c, known)
    world.settle()
    assert ordered(train) == ["checkpoint-20"]
    assert [each.pinned_by for each in train.checkpoints] == [None, None, "ann"]
    with world.platform.database.write() as c:
        for _ in range(2):
            unpin(c, train.job, 10, at=world.now, by="ben")
    world.settle()
    assert ordered(train) == ["checkpoint-10", "checkpoint-20"]
    said = [(fact.kind, fact.by) for fact in train.facts("checkpoint-pinned", "checkpoint-unpinned")]
    assert said == [("checkpoint-pinned", "ann"), ("checkpoint-unpinned", "ben")]


def test_the_best_by_metric_stays(world: World) -> None:
    train = running(world, checkpoint={"keep": 1, "keep_best": 1})
    for step, loss in ((10, 3.0), (20, 1.0), (30, 2.0), (40, 2.5)):
        world.later(minutes=5)
        train.reaches(step, loss)
        world.later(seconds=1)
        sees(train, f"checkpoint-{step}", step)
    world.settle()
    assert ordered(train) == ["checkpoint-10", "checkpoint-30"]


def test_a_plain_policy_leaves_everything_to_the_program(world: World) -> None:
    train = running(world, checkpoint={"keep": 1})
    for step in (10, 20, 30):
        sees(train, f"checkpoint-{step}", step)
    world.settle()
    assert ordered(train) == []
    assert world.machines.parts[train.attempt.id].order.env["HEADWAY_CHECKPOINT_KEEP"] == "1"


def test_the_sdk_is_not_told_to_delete_what_the_platform_keeps(world: World) -> None:
    train = running(world, checkpoint=POLICY)
    assert "HEADWAY_CHECKPOINT_KEEP" not in world.machines.parts[train.attempt.id].order.env


@pytest.mark.parametrize(("free", "taken"), [(200, []), (99, ["checkpoint-100"])])
def test_a_disk_that_is_nearly_full_is_told_of_once_and_thinned(world: World, free: int, taken: list[str]) -> None:
    train = running(world, checkpoint={"keep": 3, "keep_every_steps": 100})
    for step in (100, 150, 200):
        world.later(minutes=10)
        sees(train, f"checkpoint-{step}", step, bytes=50 if step == 100 else 100)
    measures(train, free)
    world.settle()
    world.later(seconds=30)
    (short,) = (fact for fact in train.facts("space-short") if isinstance(fact, SpaceShort))
    assert short.saves_left == free / 100
    assert short.full_in_s == pytest.approx(free / 100 * 600)
    assert set(taken) <= set(ordered(train))
    assert bool(taken) == bool(ordered(train))


def test_a_plain_policy_is_told_of_a_disk_that_others_fill_and_nothing_goes(world: World) -> None:
    train = running(world, checkpoint={"keep": 1})
    for step, free in ((10, 900), (20, 700), (30, 500)):
        world.later(minutes=20)
        train.saves(step, size=100)
        measures(train, free)
    assert train.facts("space-short") == []
    world.later(minutes=20)
    measures(train, 300)
    world.later(minutes=2)
    (short,) = (fact for fact in train.facts("space-short") if isinstance(fact, SpaceShort))
    assert short.saves_left == pytest.approx(1.5)
    assert ordered(train) == []
