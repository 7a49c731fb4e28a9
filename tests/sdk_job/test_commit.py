"""Ranks that save together, one of which cannot: every one is told why, and what was saved before stays as it is."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from headway.sdk.job.checkpoint import Checkpoint, CheckpointError, newest_verified
from headway.sdk.job.commit import Order, begin_folder, perform
from headway.sdk.job.disk import Disk
from headway.sdk.job.hashing import Block
from tests.sdk_job.test_background import until

CONTENT = b"a rank's own part"


class FullDisk(Disk):
    """Takes a rank's few words, and no part of the state."""

    def append(self, file: IO[bytes], block: Block) -> None:
        if ".words" not in str(file.name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().append(file, block)


@pytest.fixture
def order(tmp_path: Path) -> Callable[..., Order]:
    """The order of a rank of two at step 40, where step 20 is saved already."""

    def made(rank: int, step: int = 40, **changes: object) -> Order:
        folder = tmp_path / f".tmp-j.1-step-{step}"
        values: dict[str, object] = {
            "directory": str(tmp_path),
            "folder": str(folder),
            "job": "j",
            "attempt": "j.1",
            "attempt_number": 1,
            "step": step,
            "save": folder.name,
            "parts": [[f"rank-{rank:05d}.pt", 0, len(CONTENT)]],
            "python": "3",
            "rank": rank,
            "ranks": 2,
            "world_size": 2,
            "patience_s": 30.0,
            **changes,
        }
        return Order.from_json(values)

    alone = made(0, step=20, ranks=1)
    begin_folder(Path(alone.folder), Disk())
    perform(alone, CONTENT, Disk())
    begin_folder(Path(made(0).folder), Disk())
    return made


def only_step_20_is_there(directory: Path) -> bool:
    chosen, rejected = newest_verified(directory)
    left = [path.name for path in directory.iterdir()]
    return chosen is not None and chosen.step == 20 and not rejected and left == ["step-00000020"]


def in_the_background(act: Callable[[], Checkpoint]) -> Callable[[], object]:
    """Start it; what is returned waits for its checkpoint, or for what it raised."""
    came: list[object] = []

    def run() -> None:
        try:
            came.append(act())
        except (CheckpointError, OSError) as error:
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def outcome() -> object:
        thread.join(60)
        return came[0]

    return outcome


def test_both_have_it_once_both_have_written(order: Callable[..., Order], tmp_path: Path) -> None:
    other = in_the_background(lambda: perform(order(1), CONTENT, Disk()))
    saved = perform(order(0), CONTENT, Disk())
    assert other() == saved
    assert [entry.path for entry in saved.manifest.files] == ["rank-00000.pt", "rank-00001.pt"]


def test_one_whose_disk_is_full_is_named_to_the_first(order: Callable[..., Order], tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space"):
        perform(order(1), CONTENT, FullDisk())
    with pytest.raises(CheckpointError, match=r"rank 1 failed: .*No space"):
        perform(order(0), CONTENT, Disk())
    assert only_step_20_is_there(tmp_path)


def test_one_that_does_not_come_is_named_after_patience(order: Callable[..., Order], tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"within 0\.1 s nothing came from rank 1"):
        perform(order(0, patience_s=0.1), CONTENT, Disk())
    assert only_step_20_is_there(tmp_path)


def test_a_first_that_fails_is_heard_of_by_the_others(order: Callable[..., Order], tmp_path: Path) -> None:
    other = in_the_background(lambda: perform(order(1), CONTENT, Disk()))
    until(lambda: list((tmp_path / ".tmp-j.1-step-40" / ".words").glob("*.json")))
    with pytest.raises(OSError, match="No space"):
        perform(order(0), CONTENT, FullDisk())
    assert "rank 0 did not publish it" in str(other())
    assert only_step_20_is_there(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_one_that_may_not_write_there_is_refused_and_the_rest_stays(
    order: Callable[..., Order], tmp_path: Path
) -> None:
    os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            perform(order(1), CONTENT, Disk())
    finally:
        os.seteuid(0)
    with pytest.raises(CheckpointError, match="nothing came from rank 1"):
        perform(order(0, patience_s=0.1), CONTENT, Disk())
    assert only_step_20_is_there(tmp_path)
