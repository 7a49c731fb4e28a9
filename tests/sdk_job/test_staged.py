"""Copies of finished checkpoints in a store: whole or none, back when the directory has them no longer."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.sdk.job.checkpoint import CheckpointError, checkpoint_folders, verify
from headway.sdk.job.disk import Disk
from headway.sdk.job.retention import Retention
from headway.sdk.job.staged import copy_out, published, read_lock, stage_back
from headway.sdk.job.store import Folder, open_store
from tests.sdk_job.conftest import MakeRun, told
from tests.sdk_job.dying_disk import Cut, DyingDisk
from tests.sdk_job.test_any_byte import STEPS, Training
from tests.sdk_job.test_checkpoints import Counter, flip

pytestmark = pytest.mark.usefixtures("no_torch")
POINTS = 1000 if os.environ.get("HEADWAY_SEEDS") == "all" else 100
JOB = "j-test"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def trained(make_run: MakeRun, store: Path, *steps: int, **more: Any) -> Any:
    counter = Counter()
    checkpoints = make_run().checkpoints(model=counter, store=str(store), **more)
    for step in steps:
        counter.value = step
        checkpoints.save(step)
        checkpoints.wait()
    return checkpoints


def come_back(make_run: MakeRun, store: Path) -> tuple[int, int]:
    counter = Counter()
    return make_run().checkpoints(model=counter, store=str(store)).restore(), counter.value


def jobs(store: Path) -> str:
    (name,) = os.listdir(store)
    return name


@pytest.mark.parametrize("background", [False, True])
def test_what_was_saved_is_copied_and_comes_back_when_the_directory_is_lost(
    make_run: MakeRun, directory: Path, store: Path, rank_dir: Path, background: bool
) -> None:
    trained(make_run, store, 10, 20, background=background)
    assert [copy.step for copy in published(Folder(store), jobs(store))] == [20, 10]
    copied = [event for event in told(rank_dir) if event["kind"] == "checkpoint-copied"]
    assert [(event["step"], event["storage"]) for event in copied] == [
        (10, copied[0]["storage"]),
        (20, copied[0]["storage"]),
    ]
    assert all(event["seconds"] >= event["copied"] > 0 and event["bytes"] > 0 for event in copied)
    shutil.rmtree(directory)
    assert come_back(make_run, store) == (20, 20)
    restored = [event for event in told(rank_dir) if event["kind"] == "restored"][-1]
    assert restored["copy"] == copied[-1]["to"]


def test_a_later_copy_is_preferred_to_an_older_checkpoint_and_an_equal_one_left_where_it_is(
    make_run: MakeRun, directory: Path, store: Path, rank_dir: Path
) -> None:
    trained(make_run, store, 10, 20)
    flip(next((directory / "step-00000020").glob("state.*")))
    assert come_back(make_run, store) == (20, 20)
    assert (directory / "step-00000020.1").is_dir()
    assert come_back(make_run, store) == (20, 20)
    assert [event["copy"] is None for event in told(rank_dir) if event["kind"] == "restored"] == [False, True]


def test_a_damaged_copy_is_passed_over_and_one_without_a_manifest_is_none(
    make_run: MakeRun, directory: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(make_run, store, 10, 20, 30)
    newest, middle, _ = published(Folder(store), jobs(store))
    (store / newest.key / "manifest.json").unlink()
    flip(next((store / middle.key).glob("state.*")))
    shutil.rmtree(directory)
    assert come_back(make_run, store) == (10, 10)
    assert "wrong-hash" in capsys.readouterr().err
    assert [path.name for path in checkpoint_folders(directory)] == ["step-00000010"]


def test_a_store_that_does_not_take_it_leaves_the_checkpoint_and_is_heard_by_wait(
    make_run: MakeRun, directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "store").write_text("a file is in the way")
    checkpoints = make_run().checkpoints(model=Counter(1), store=str(tmp_path / "store"))
    checkpoints.save(10)
    with pytest.raises(CheckpointError, match="step 10 is not copied"):
        checkpoints.wait()
    assert verify(directory / "step-00000010").ok


def test_a_checkpoint_that_a_kill_left_half_copied_is_copied_by_the_next_attempt(
    make_run: MakeRun, store: Path
) -> None:
    trained(make_run, store, 10)
    (copy,) = published(Folder(store), jobs(store))
    (store / copy.key / "manifest.json").unlink()
    checkpoints = make_run().checkpoints(model=Counter(), store=str(store))
    assert checkpoints.restore() == 10
    checkpoints.wait()
    assert published(Folder(store), jobs(store)) == [copy]


def test_another_jobs_checkpoint_that_is_not_seen_here_comes_from_its_copy(
    make_run: MakeRun, directory: Path, store: Path, tmp_path: Path
) -> None:
    trained(make_run, store, 10, 20)
    old = tmp_path / "far" / jobs(store)
    shutil.rmtree(directory)
    counter = Counter()
    told_to = {"HEADWAY_JOB": "j-new", "HEADWAY_RESUME_FROM": str(old / "step-00000010")}
    assert make_run(**told_to).checkpoints(model=counter, store=str(store)).restore() == 10
    assert (counter.value, [path.name for path in checkpoint_folders(directory)]) == (10, ["step-00000010"])
    shutil.rmtree(directory)
    gone = told_to | {"HEADWAY_RESUME_FROM": str(old / "step-00000011")}
    assert make_run(**gone).checkpoints(model=counter, store=str(store)).restore() == 0


def test_one_that_is_read_is_not_let_go_of(make_run: MakeRun, directory: Path) -> None:
    checkpoints = make_run().checkpoints(model=Counter(1))
    first, second = checkpoints.save(10), checkpoints.save(20)
    assert first is not None
    assert second is not None
    retention = Retention(directory, Disk())
    with read_lock(first.path):
        retention.remove_older(second, 1, None)
        assert first.path.is_dir()
    retention.remove_older(second, 1, None)
    assert not first.path.exists()


@pytest.mark.parametrize("address", ["", "bucket/x", "gs://bucket", "s3://", "s3:///x"])
def test_an_address_that_is_none_is_refused_at_once(make_run: MakeRun, address: str) -> None:
    with pytest.raises(ValueError, match="s3://bucket/prefix"):
        make_run().checkpoints(model=Counter(), store=address or " ")


def test_without_its_library_an_object_store_is_refused_at_once(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.sdk.job.store.find_spec", lambda _name: None)
    with pytest.raises(ImportError, match="pip install boto3"):
        make_run().checkpoints(model=Counter(), store="s3://bucket/runs")


def test_ranks_that_cannot_talk_are_not_let_go_on_from_different_steps(make_run: MakeRun, store: Path) -> None:
    checkpoints = make_run(WORLD_SIZE="2").checkpoints(model=Counter(), store=str(store))
    with pytest.raises(CheckpointError, match="can talk"):
        checkpoints.restore()


def copied_steps(directory: Path, store: Path, disk: DyingDisk) -> int:
    """Save and copy until the disk dies; the newest step whose copy was whole."""
    complete = 0
    try:
        training = Training(directory, disk)
        assert training.restored() == 0
        for step in STEPS:
            training.save(step)
            copy_out(checkpoint_folders(directory)[0], JOB, Folder(store, disk))
            complete = step
    except Cut:
        return complete
    return complete


@pytest.fixture(scope="module")
def whole_cost(tmp_path_factory: pytest.TempPathFactory, no_torch: None) -> int:
    disk = DyingDisk()
    copied_steps(tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("store"), disk)
    return disk.spent


@given(part=st.floats(0, 1, exclude_max=True), seed=st.integers(0, 2**32), is_power_cut=st.booleans())
@settings(max_examples=POINTS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_copy_cut_at_any_byte_is_never_published_by_half_and_no_whole_one_is_lost(
    tmp_path_factory: pytest.TempPathFactory, whole_cost: int, part: float, seed: int, is_power_cut: bool
) -> None:
    directory, root = tmp_path_factory.mktemp("cut"), tmp_path_factory.mktemp("store")
    disk = DyingDisk(int(part * whole_cost))
    complete = copied_steps(directory, root, disk)
    if is_power_cut:
        disk.medium.cut_power(random.Random(seed))
    store, fresh = open_store(str(root)), tmp_path_factory.mktemp("fresh")
    copies = published(store, JOB)
    assert max((copy.step for copy in copies), default=0) >= complete
    for copy in copies:
        assert verify(stage_back(copy, fresh / ".tmp-a", store, Disk()).path).ok
    again = Training(fresh, DyingDisk())
    assert again.restored() == max((copy.step for copy in copies), default=0)


@given(part=st.floats(0, 1, exclude_max=True))
@settings(max_examples=POINTS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_staging_back_cut_at_any_byte_leaves_no_half_of_it(
    tmp_path_factory: pytest.TempPathFactory, part: float
) -> None:
    directory, root = tmp_path_factory.mktemp("cut"), tmp_path_factory.mktemp("store")
    copied_steps(directory, root, DyingDisk())
    store = open_store(str(root))
    newest = published(store, JOB)[0]
    whole, counts = tmp_path_factory.mktemp("whole"), DyingDisk()
    stage_back(newest, whole / ".tmp-a", open_store(str(root), counts), counts)
    fresh, disk = tmp_path_factory.mktemp("fresh"), DyingDisk(int(part * counts.spent))
    with pytest.raises(Cut):
        stage_back(newest, fresh / ".tmp-a", open_store(str(root), disk), disk)
    assert all(verify(folder).ok for folder in checkpoint_folders(fresh))
    assert stage_back(newest, fresh / ".tmp-a", store, Disk()).step == newest.step
