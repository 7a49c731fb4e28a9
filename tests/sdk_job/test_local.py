"""Snapshots on the node outlive everything that is killed there, and are used only where they are whole and newer."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import verify
from headway.sdk.job.restoring import newest_held
from tests.sdk_job.conftest import MakeRun
from tests.sdk_job.test_checkpoints import Counter, names

pytestmark = pytest.mark.usefixtures("no_torch")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture
def node(tmp_path: Path) -> Path:
    folder = tmp_path / "node"
    folder.mkdir()
    return folder


@pytest.fixture
def cut_off(make_run: MakeRun, directory: Path, node: Path) -> None:
    """Steps 20 and 40 are saved; of 60 there is only what the node holds."""
    counter = Counter()
    checkpoints = make_run().checkpoints(model=counter, background=True, local=node)
    for step in (20, 40, 60):
        counter.value = step
        checkpoints.save(step)
        checkpoints.wait()
    shutil.rmtree(directory / "step-00000060")


def restored(make_run: MakeRun, node: Path, **changes: str) -> int:
    counter = Counter()
    again = {"HEADWAY_ATTEMPT": "j-test.2", "HEADWAY_ATTEMPT_NUMBER": "2", **changes}
    step = make_run(**again).checkpoints(model=counter, background=True, local=node).restore()
    assert counter.value == step
    return step


@pytest.mark.usefixtures("cut_off")
def test_what_the_node_holds_is_published_and_gone_on_from(make_run: MakeRun, directory: Path, node: Path) -> None:
    assert restored(make_run, node) == 60
    manifest = verify(directory / "step-00000060").manifest
    assert manifest is not None
    assert (manifest.attempt, manifest.step) == ("j-test.2", 60)


@pytest.mark.usefixtures("cut_off")
def test_the_platforms_choice_of_the_newest_is_no_reason_to_lose_steps(
    make_run: MakeRun, directory: Path, node: Path
) -> None:
    assert restored(make_run, node, HEADWAY_RESUME_FROM=str(directory / "step-00000040")) == 60


@pytest.mark.usefixtures("cut_off")
def test_a_choice_of_an_older_one_is_obeyed(make_run: MakeRun, directory: Path, node: Path) -> None:
    assert restored(make_run, node, HEADWAY_RESUME_FROM=str(directory / "step-00000020")) == 20


@pytest.mark.usefixtures("cut_off")
def test_another_jobs_snapshot_is_not_used(make_run: MakeRun, node: Path) -> None:
    assert restored(make_run, node, HEADWAY_JOB="j-other") == 40


def tear(node: Path) -> None:
    (image,) = node.rglob("*.image")
    with image.open("r+b") as file:
        file.seek(100)
        file.write(b"torn")


def garble(node: Path) -> None:
    (order,) = node.rglob("*.json")
    order.write_text(json.dumps({"order": {}, "hashes": {}}))


def drop(node: Path) -> None:
    (order,) = node.rglob("*.json")
    order.unlink()


@pytest.mark.usefixtures("cut_off")
@pytest.mark.parametrize("damage", [tear, garble, drop])
def test_what_is_not_whole_is_not_used(
    make_run: MakeRun, directory: Path, node: Path, damage: Callable[[Path], None]
) -> None:
    damage(node)
    assert restored(make_run, node) == 40
    assert names(directory) == ["step-00000040", "step-00000020"]


def test_a_folder_that_is_anothers_is_refused(make_run: MakeRun, directory: Path, node: Path, tmp_path: Path) -> None:
    (node / f"headway-{os.geteuid()}").symlink_to(tmp_path)
    checkpoints = make_run().checkpoints(model=Counter(), background=True, local=node)
    with pytest.raises(PermissionError, match="not a folder of this user"):
        checkpoints.save(1)


def test_it_needs_the_background(make_run: MakeRun, node: Path) -> None:
    with pytest.raises(ValueError, match="background=True"):
        make_run().checkpoints(local=node)


def test_an_unknown_hash_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(ValueError, match="'md5' is not known; known are crc32, sha256"):
        make_run().checkpoints(algorithm="md5")


@pytest.mark.parametrize(
    ("held", "published", "chosen"),
    [
        ([{"a": 1, "b": 2}, {"a": 1}], [], "a"),
        ([{"a": 1}, {}], [], None),
        ([{"a": 3, "b": 2}], [(2, "b")], "a"),
        ([{"a": 3}], [(3, "a")], None),
        ([{"a": 3}], [(4, "x")], None),
    ],
)
def test_the_newest_that_all_hold_and_nobody_published(
    held: list[dict[str, int]], published: list[tuple[int, str]], chosen: str | None
) -> None:
    assert newest_held(held, published) == chosen
