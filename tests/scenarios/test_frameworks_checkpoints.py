"""Stories of jobs whose framework saves by itself, without a word to anybody."""

import shutil
from typing import Any

import pytest

from headway.domain.checkpoint import CheckpointState
from headway.server.operations.jobs.losses import Choice
from tests.scenarios.work import Work
from tests.scenarios.world import World


def sees(train: Work, path: str, step: int, reason: str | None = None, **more: Any) -> str:
    """The first node's agent saw a checkpoint, which really lies there."""
    folder = train.world.platform.checkpoints / train.id / path
    folder.mkdir(parents=True, exist_ok=True)
    seen = {"format": "trainer", "path": path, "step": step, "bytes": 7, "reason": reason}
    train.agents[0].reports(checkpoints=[seen | {"saved_at": train.world.now.timestamp()} | more])
    return str(folder)


def running(world: World, **given: Any) -> Work:
    train = world.submit("train", **given)
    world.settle()
    return train.starts()


def test_a_job_goes_on_from_what_its_framework_saved(either_world: World) -> None:
    world = either_world
    train = running(world, checkpoint={"resume": ["--resume_from_checkpoint", "{checkpoint}"]})
    train.reaches(120)
    sees(train, "out/checkpoint-50", 50)
    path = sees(train, "out/checkpoint-100", 100)
    sees(train, "out/checkpoint-120", 120, "cut-short")
    train.breaks(signal=9)
    world.later(seconds=10)
    again = train.attempts[1]
    assert (again.resume_from, again.resume_step) == (path, 100)
    order = world.machines.parts[again.id].order
    assert order.resume_from == path
    assert order.command == ("train", "--resume_from_checkpoint", path)
    assert [(each.step, str(each.state), each.reason) for each in train.checkpoints] == [
        (120, "rejected", "cut-short"),
        (100, "verified", None),
        (50, "verified", None),
    ]
    assert {each.format for each in train.checkpoints} == {"trainer"}


def test_what_was_seen_twice_is_one_fact(world: World) -> None:
    train = running(world)
    sees(train, "checkpoint-50", 50)
    sees(train, "checkpoint-50", 50)
    assert len(train.facts("checkpoint-verified")) == 1
    assert len(train.checkpoints) == 1


def test_one_in_the_making_is_not_called_broken_before_its_time(world: World) -> None:
    train = running(world)
    sees(train, "checkpoint-50", 50, "unfinished")
    assert train.checkpoints == []
    sees(train, "checkpoint-50", 50, "unfinished", saved_at=world.now.timestamp() - 3600)
    assert [each.state for each in train.checkpoints] == [CheckpointState.REJECTED]


def test_one_that_is_gone_is_not_gone_on_from(world: World) -> None:
    train = running(world)
    train.reaches(100)
    first = sees(train, "checkpoint-50", 50)
    shutil.rmtree(sees(train, "checkpoint-100", 100))
    train.breaks(signal=9)
    world.later(seconds=10)
    assert train.attempts[1].resume_from == first


@pytest.mark.parametrize(("own", "theirs", "taken"), [(80, 90, "trainer"), (90, 80, "headway"), (80, 80, "headway")])
def test_the_newest_is_taken_whoever_wrote_it_and_the_other_is_named(
    world: World, own: int, theirs: int, taken: str
) -> None:
    train = running(world)
    train.reaches(100)
    paths = {"headway": train.saves(own), "trainer": sees(train, f"checkpoint-{theirs}", theirs)}
    train.breaks(signal=9)
    world.later(seconds=10)
    steps = {"headway": own, "trainer": theirs}
    (other,) = steps.keys() - {taken}
    assert (train.attempt.resume_from, train.attempt.resume_step) == (paths[taken], steps[taken])
    assert [recovery.choice for recovery in train.recoveries] == [Choice(steps[taken], taken, steps[other], other)]


def test_a_frameworks_that_no_longer_verifies_leaves_the_sdks_and_nothing_to_choose(world: World) -> None:
    train = running(world)
    train.reaches(100)
    own = train.saves(80)
    sees(train, "checkpoint-90", 90, "cut-short")
    train.breaks(signal=9)
    world.later(seconds=10)
    assert train.attempt.resume_from == own
    assert [recovery.choice for recovery in train.recoveries] == [None]


def test_a_bill_counts_from_the_checkpoint_that_was_really_loaded(world: World) -> None:
    train = running(world, resources={"nodes": 1, "devices_per_node": 1, "ranks_per_node": 1})
    own = train.saves(80)
    world.later(seconds=100)
    sees(train, "checkpoint-90", 90)
    train.reaches(100)
    world.later(seconds=10)
    train.breaks(signal=9)
    world.later(seconds=1)
    assert [(bill.resumed_step, bill.lost_steps, bill.device_seconds_lost) for bill in train.bills] == [(90, 10, 10)]
    train.starts()
    train.agents[0].tells(0, "restored", step=80, path=own, seconds=0.1)
    assert [(bill.resumed_step, bill.lost_steps, bill.device_seconds_lost) for bill in train.bills] == [(80, 20, 110)]
    train.reaches(81)
    train.agents[0].tells(0, "restored", step=90, path=own, seconds=0.1)
    assert [(bill.resumed_step, bill.lost_steps) for bill in train.bills] == [(80, 20)]


def test_a_path_out_of_the_jobs_folder_is_passed_over(world: World) -> None:
    train = running(world)
    for path in ("../j-other/checkpoint-9", "/etc/checkpoint-9", "a/../../checkpoint-9", ""):
        seen = {"format": "trainer", "path": path, "step": 9, "saved_at": world.now.timestamp()}
        train.agents[0].reports(checkpoints=[seen])
    assert train.checkpoints == []
