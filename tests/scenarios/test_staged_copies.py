"""Stories of checkpoints that are copied to a store beside: told of, measured beside the others, and gone on from."""

from datetime import timedelta

from headway.registry.storages import StorageKind, kind_of
from headway.store import checkpoints
from tests.scenarios.test_frameworks_checkpoints import running
from tests.scenarios.world import World


def test_a_copy_is_told_and_its_seconds_stand_beside_those_of_the_storage_it_was_saved_to(either_world: World) -> None:
    world = either_world
    train = running(world)
    path = train.saves(10)
    to = "s3://runs/team/j/step-00000010-0123456789ab"
    copied = {"step": 10, "path": path, "to": to, "storage": "s3", "bytes": 7, "seconds": 4.0}
    train.agents[0].tells(0, "checkpoint-copied", **copied)
    (row,) = train.checkpoints
    assert (row.copy, row.copy_storage, row.copy_seconds, row.copy_restored) == (to, "staged:s3", 4.0, None)
    assert len(train.facts("checkpoint-copied")) == 1
    train.agents[0].tells(0, "restored", step=10, path=path, seconds=2.0, copy=to)
    train.agents[0].tells(0, "restored", step=10, path=path, seconds=1.0)
    (row,) = train.checkpoints
    assert (row.copy_restored, row.restored) == (2.0, 1.0)
    with world.platform.database.read() as c:
        found = {each.name: each for each in checkpoints.by_storage(c, world.now - timedelta(days=1))}
    staged = found["staged:s3"]
    assert (staged.saves, staged.seconds, staged.restores, staged.restored_seconds) == (1, 4.0, 1, 2.0)
    assert kind_of("staged:s3") is kind_of("staged:nfs4") is StorageKind.OBJECT


def test_a_copy_of_what_the_job_does_not_have_is_passed_over(world: World) -> None:
    train = running(world)
    told = {"step": 10, "path": "/elsewhere/step-00000010", "to": "s3://x/y", "storage": "s3", "seconds": 1.0}
    train.agents[0].tells(0, "checkpoint-copied", **told)
    train.agents[0].tells(0, "checkpoint-copied", step=10)
    assert train.facts("checkpoint-copied") == []
