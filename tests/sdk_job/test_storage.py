"""What a directory lies on, read from the table of mounts."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from headway.sdk.job.storage import storage_of
from tests.sdk_job.conftest import MakeRun, told
from tests.sdk_job.test_bad_places import small_disk
from tests.sdk_job.test_checkpoints import Counter

__all__ = ["small_disk"]

TABLE = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /scratch rw shared:2 - lustre 10.0.0.1@tcp:/fs rw
41 22 0:51 / /scratch/with\040space rw - nfs4 server:/x rw
42 22 0:52 / /buckets ro master:3 - fuse.s3fs s3fs rw
43 42 0:53 / /buckets rw - fuse.juicefs JuiceFS:jfs rw
half a line
"""


@pytest.mark.parametrize(
    ("directory", "storage"),
    [
        ("/home/ann/c", "ext4"),
        ("/scratch", "lustre"),
        ("/scratch/ann/not/there/yet", "lustre"),
        ("/scratchy/ann", "ext4"),
        ("/scratch/with space/c", "nfs4"),
        ("/buckets/c", "fuse.juicefs"),
    ],
)
def test_the_longest_mount_above_a_directory_counts_and_of_equals_the_last(
    tmp_path: Path, directory: str, storage: str
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(TABLE)
    assert storage_of(Path(directory), mounts) == storage


def test_without_a_table_of_mounts_nothing_is_said(tmp_path: Path) -> None:
    assert storage_of(tmp_path, tmp_path / "none") is None


def test_a_save_and_a_restore_say_what_they_lie_on_and_how_many_bytes_they_moved(
    make_run: MakeRun, rank_dir: Path, small_disk: Path
) -> None:
    make_run().checkpoints(Counter(), directory=small_disk).save(20)
    make_run().checkpoints(Counter(), directory=small_disk).restore()
    (saved,), (restored,) = told(rank_dir, "checkpoint-saved"), told(rank_dir, "restored")
    assert (saved["storage"], restored["storage"]) == ("tmpfs", "tmpfs")
    assert restored["bytes"] == saved["bytes"] > 0


def test_another_storage_is_named_by_its_own_kind() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        assert storage_of(Path(name)) == "tmpfs"
    assert storage_of(Path("/proc/self")) == "proc"
