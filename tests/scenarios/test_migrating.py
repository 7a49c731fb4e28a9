"""Stories of jobs that go on elsewhere from what a framework saved, and to where the checkpoint may not be seen."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from headway.domain.drill import Kill
from headway.domain.errors import PlatformError
from headway.domain.resources import Maker, Node
from headway.server.operations.jobs.drill import Order, begin_shadow, shadow
from headway.server.operations.jobs.resuming import resume
from headway.store import agents, nodes
from tests.agent.checkpoints.test_written import written
from tests.scenarios.test_frameworks_checkpoints import running, sees
from tests.scenarios.test_resuming import gone_on, moved, trained
from tests.scenarios.work import Work
from tests.scenarios.world import World

__all__ = ["written"]
DISK = {"at": "/", "kind": "ext4", "source": "/dev/far", "folder": "/"}
SHARED = {"at": "/scratch", "kind": "lustre", "source": "mds:/scratch", "folder": "/"}


def fitted(world: World, written: Path, framework: str, name: str, step: int, **given: Any) -> tuple[Work, str]:
    """A job on two nodes whose framework saved by itself; it was stopped then."""
    train = world.submit("train", nodes=2, **given)
    world.settle()
    train.starts()
    train.reaches(step + 5)
    target = world.platform.checkpoints / train.id / "out"
    shutil.copytree(written / framework, target)
    sees(train, f"out/{name}", step, format=framework)
    train.stop()
    world.settle()
    train.obeys()
    world.settle()
    return train, str(target / name)


def test_a_job_goes_on_elsewhere_from_what_its_framework_saved(world: World, written: Path) -> None:
    words = {"resume": ["--resume_from_checkpoint", "{checkpoint}"]}
    train, path = fitted(world, written, "trainer", "checkpoint-4", 4, checkpoint=words)
    told = {each.what: (each.carried.value, each.code) for each in moved(world, train, nodes=1).carries}
    assert told["checkpoint"] == ("yes", "carry-checkpoint-framework")
    assert told["handed"] == ("yes", "carry-handed-words")
    again = gone_on(world, train, nodes=1)
    order = world.machines.parts[again.attempt.id].order
    assert (order.resume_from, again.attempt.resume_step) == (path, 4)
    assert order.command == ("train", "--resume_from_checkpoint", path)
    again.starts().reaches(5)
    again.breaks(signal=9)
    world.settle()
    assert (again.attempt.number, again.attempt.resume_from) == (2, path)
    assert again.bills[0].resumed_step == 4


def test_what_another_number_of_ranks_cannot_load_is_said(world: World, written: Path) -> None:
    train, path = fitted(world, written, "deepspeed", "global_step4", 4)
    for named in ("4", path, str(Path(path).parent)):
        move = moved(world, train, checkpoint=named, nodes=2)
        told = {each.what: (each.carried.value, each.code) for each in move.carries}
        assert move.origin.path == path
        assert told["world"] == ("no", "carry-world-zero")
        assert told["handed"] == ("unsure", "carry-handed-variable")


def test_what_is_damaged_by_now_is_passed_over_and_refused_by_name(world: World, written: Path) -> None:
    train, path = fitted(world, written, "trainer", "checkpoint-4", 4)
    (Path(path) / "optimizer.pt").write_bytes(b"PK")
    for wanted, code in ((None, "no-checkpoint"), ("4", "checkpoint-bad")):
        with pytest.raises(PlatformError) as refused:
            moved(world, train, checkpoint=wanted)
        assert refused.value.code == code
        assert "checkpoint-4" in refused.value.text("en")


def test_a_path_elsewhere_may_be_named_if_it_holds_a_checkpoint_and_is_nobody_elses(
    world: World, written: Path, tmp_path: Path
) -> None:
    train, paths = trained(world, 10)
    other, others = trained(world, 20)
    copied = shutil.copytree(paths[0], tmp_path / "copied" / Path(paths[0]).name)
    assert moved(world, train, checkpoint=str(copied)).origin.path == str(copied)
    assert moved(world, train, checkpoint=str(written / "lightning")).origin.format == "lightning"
    (tmp_path / "empty").mkdir()
    (tmp_path / "model.pt").write_bytes((written / "trainer/checkpoint-4/optimizer.pt").read_bytes())
    for wanted, code in [
        (others[0], "not-found"),
        (str(world.platform.checkpoints / other.id), "not-found"),
        (str(tmp_path / "empty"), "checkpoint-unknown"),
        (str(tmp_path / "model.pt"), "checkpoint-unknown"),
        (str(tmp_path / "gone"), "not-readable"),
    ]:
        with pytest.raises(PlatformError) as refused:
            moved(world, train, checkpoint=wanted)
        assert (refused.value.code, bool(refused.value.hint("zh"))) == (code, True), wanted


def far(world: World, train: Work, *mounts: dict[str, str]) -> None:
    """Another pool, whose agent told once that it runs on a machine of its own with these mounts."""
    with world.platform.database.write() as c:
        nodes.put(c, [*nodes.all(c), Node("m1", "fake", "910B", 8, Maker.ASCEND)], world.now)
        told = {"boot": "another", "file_systems": list(mounts)}
        agents.upsert(c, agents.NodeReport(train.attempt.id, "m1", "ended", 1, world.now, world.now, facts=told))


def test_a_pool_that_does_not_see_the_checkpoint_is_refused_with_the_way_out(world: World) -> None:
    train, paths = trained(world, 10)
    far(world, train, DISK, SHARED)
    move = moved(world, train, pool="910B", nodes=1)
    told = {each.what: (each.carried.value, each.code) for each in move.carries}
    assert told["path"] == ("no", "carry-path-unseen")
    before = world.mark()
    with pytest.raises(PlatformError) as refused, world.platform.database.write() as c:
        resume(world.platform, c, move, "ann")
    assert refused.value.code == "path-unseen"
    for named in (paths[0], "fake/910B", "m1", "/scratch"):
        assert named in refused.value.text("en") + refused.value.hint("en")
    assert world.mark() == before


def copied(train: Work, path: str, step: int) -> str:
    to = f"s3://runs/{train.id}/step-{step:08d}-0123456789ab"
    train.agents[0].tells(0, "checkpoint-copied", step=step, path=path, to=to, storage="s3", seconds=1.0)
    return to


def test_a_copy_in_a_store_makes_good_for_a_path_that_is_not_seen_there(world: World) -> None:
    train = running(world)
    path = train.saves(10)
    to = copied(train, path, 10)
    ends(world, train)
    far(world, train, DISK)
    move = moved(world, train, pool="910B", nodes=1)
    told = {each.what: (each.carried.value, each.code, each.params.get("copy")) for each in move.carries}
    assert told["path"] == ("yes", "carry-path-copy", to)
    with world.platform.database.write() as c:
        assert resume(world.platform, c, move, "ann").spec.origin == move.origin


def test_what_the_folder_has_lost_is_resumed_from_its_copy_by_step_or_the_newest(world: World) -> None:
    train = running(world)
    paths = {step: train.saves(step) for step in (10, 20, 30)}
    for step in (10, 20):
        copied(train, paths[step], step)
    ends(world, train)
    shutil.rmtree(paths[20])
    shutil.rmtree(paths[30])
    assert moved(world, train).origin.path == paths[20]
    shutil.rmtree(world.platform.checkpoints / train.id)
    assert moved(world, train).origin.path == paths[20]
    move = moved(world, train, checkpoint="10")
    told = {each.what: (each.carried.value, each.code) for each in move.carries}
    assert (told["checkpoint"], told["path"]) == (("unsure", "carry-checkpoint-copy"), ("yes", "carry-path-copy"))
    with pytest.raises(PlatformError) as refused:
        moved(world, train, checkpoint="30")
    assert refused.value.code == "not-found"


def ends(world: World, train: Work) -> None:
    train.stop()
    world.settle()
    train.obeys()
    world.settle()


def test_a_pool_of_which_nothing_is_known_is_said_to_be_unknown_and_not_refused(world: World) -> None:
    train, _ = trained(world, 10)
    with world.platform.database.write() as c:
        nodes.put(c, [*nodes.all(c), Node("m1", "other", "910B", 8, Maker.ASCEND)], world.now)
    told = {each.what: (each.carried.value, each.code) for each in moved(world, train, pool="other", nodes=1).carries}
    assert told["path"] == ("unsure", "carry-path-other")


def test_a_copy_is_drilled_from_what_the_framework_saved_and_the_job_is_only_read(world: World) -> None:
    train = running(world)
    train.reaches(60)
    path = sees(train, "out/checkpoint-50", 50)
    begin = begin_shadow(world.platform, train.job)
    with world.platform.database.write() as c:
        made, _ = shadow(c, train.job, begin, Order(Kill.RANK), at=world.now, by="ann")
    world.settle()
    copy = Work(world, made.id)
    assert (copy.attempt.resume_from, copy.attempt.resume_step) == (path, 50)
    assert world.machines.parts[copy.attempt.id].order.checkpoint_dir == str(world.platform.checkpoints / copy.id)
    train.saves(60)
    assert begin_shadow(world.platform, train.job)[1].step == 60


def test_a_job_that_saved_nothing_has_no_copy_to_drill(world: World) -> None:
    with pytest.raises(PlatformError) as refused:
        begin_shadow(world.platform, running(world).job)
    assert refused.value.code == "no-checkpoint"
