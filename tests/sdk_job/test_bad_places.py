"""Where a disk is full, read-only or another's, or the clock goes back: a clear error, and earlier checkpoints stay."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import pytest

from headway.agent.ranks.outage import FILE as agents_file
from headway.sdk.job import commit as commit_module
from headway.sdk.job.checkpoint import newest_verified, verify
from headway.sdk.job.checkpoints import Checkpoints
from headway.sdk.job.hashing import Block
from headway.sdk.job.outage import FILE
from tests.sdk_job.conftest import MakeRun
from tests.sdk_job.test_checkpoints import Counter, names

pytestmark = pytest.mark.usefixtures("no_torch")
LARGE = 600_000


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of one MiB of its own."""
    with tempfile.TemporaryDirectory() as name:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", name], capture_output=True, check=False
        )
        if mounted.returncode != 0:
            pytest.skip("absent: the right to mount")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


def saving(make_run: MakeRun, directory: Path, background: bool, size: int = 0) -> Checkpoints:
    extra = {"pad": os.urandom(size)}
    checkpoints = make_run().checkpoints(Counter(), extra=extra, directory=directory, background=background)
    checkpoints.save(20)
    checkpoints.wait()
    return checkpoints


def failed(checkpoints: Checkpoints, step: int) -> OSError:
    with pytest.raises(OSError) as caught:  # noqa: PT011, PT012 its number and words are looked at
        checkpoints.save(step)
        checkpoints.wait()
    return caught.value


@pytest.mark.parametrize("background", [False, True])
def test_a_full_disk(make_run: MakeRun, small_disk: Path, background: bool) -> None:
    checkpoints = saving(make_run, small_disk, background, LARGE)
    error = failed(checkpoints, 40)
    assert error.errno == errno.ENOSPC
    assert f"not saved: there is no space left in {small_disk}" in str(error)
    assert names(small_disk) == ["step-00000020"]
    assert verify(small_disk / "step-00000020").ok
    assert not list(small_disk.glob(".tmp-*")), "what was begun takes no space"


@pytest.mark.parametrize("background", [False, True])
def test_once_there_is_space_again_saving_goes_on(make_run: MakeRun, small_disk: Path, background: bool) -> None:
    checkpoints = saving(make_run, small_disk, background, LARGE // 2)
    (small_disk / "other").write_bytes(b"x" * LARGE)
    assert failed(checkpoints, 40).errno == errno.ENOSPC
    (small_disk / "other").unlink()
    checkpoints.save(60)
    checkpoints.wait()
    assert names(small_disk) == ["step-00000060", "step-00000020"]


@pytest.mark.parametrize("background", [False, True])
def test_a_mount_gone_read_only(make_run: MakeRun, small_disk: Path, background: bool) -> None:
    checkpoints = saving(make_run, small_disk, background)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    error = failed(checkpoints, 40)
    assert error.errno == errno.EROFS
    assert "mounted read-only" in str(error)
    chosen, rejected = newest_verified(small_disk)
    assert (chosen.step if chosen else None, rejected) == (20, [])


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_a_directory_of_another_user(make_run: MakeRun) -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        checkpoints = saving(make_run, Path(name) / "c", False)
        os.seteuid(65534)
        try:
            error = failed(checkpoints, 40)
        finally:
            os.seteuid(0)
        assert error.errno == errno.EACCES
        assert "user 65534 may not write" in str(error)
        assert names(Path(name) / "c") == ["step-00000020"]


def test_the_users_language_is_spoken(make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_LANG", "zh_CN.UTF-8")
    checkpoints = saving(make_run, tmp_path, False)

    def full(file: object, block: Block) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(checkpoints._disk, "append", full)
    error = failed(checkpoints, 40)
    assert error.errno == errno.EDQUOT
    assert "未保存" in str(error)
    assert "配额已用完" in str(error)
    assert names(tmp_path) == ["step-00000020"]


def test_a_clock_set_back_does_not_make_an_older_one_the_newest(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = saving(make_run, tmp_path, False)

    class Back(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime(1999, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(commit_module, "datetime", Back)
    checkpoints.save(40)
    found = verify(tmp_path / "step-00000040").manifest
    assert found is not None
    assert found.created_at.year == 1999
    assert make_run().checkpoints(Counter(), directory=tmp_path, extra={}).restore() == 40


def test_two_jobs_in_turn_on_one_path_never_save_over_each_other(make_run: MakeRun, tmp_path: Path) -> None:
    first = saving(make_run, tmp_path, True)
    other = make_run(HEADWAY_JOB="j-other", HEADWAY_ATTEMPT="j-other.1").checkpoints(
        Counter(), directory=tmp_path, background=True
    )
    other.save(20)
    other.wait()
    with pytest.raises(Exception, match="attempt 1 of job j-other has taken it over"):
        first.save(40)
    assert names(tmp_path) == ["step-00000020.1", "step-00000020"]
    assert all(verify(tmp_path / name).ok for name in names(tmp_path))


@pytest.mark.parametrize("background", [False, True])
def test_a_save_that_meets_a_drill_of_storage_fails_once_and_touches_nothing(
    make_run: MakeRun, tmp_path: Path, rank_dir: Path, background: bool
) -> None:
    checkpoints = saving(make_run, tmp_path / "c", background)
    (rank_dir / FILE).write_text("{}")
    before = names(tmp_path / "c")
    error = failed(checkpoints, 40)
    assert error.errno == errno.EIO
    assert "earlier checkpoints are untouched" in str(error)
    assert (names(tmp_path / "c"), (rank_dir / FILE).exists()) == (before, False)
    checkpoints.save(60)
    checkpoints.wait()
    newest, _ = newest_verified(tmp_path / "c")
    assert newest is not None
    assert newest.step == 60


def test_agent_and_ranks_mean_the_same_file_by_a_drill_of_storage() -> None:
    assert agents_file == FILE
