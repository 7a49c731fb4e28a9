"""A checkpoint kept for a copy: whole, its own to remove, and nothing of another's through a link."""

import os
import shutil
from pathlib import Path

from headway.sdk.job.checkpoint import newest_verified, verify
from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run
from headway.server.operations.jobs.drill_copies import keep


def saved(folder: Path, step: int = 40) -> Path:
    told = {"HEADWAY_JOB": "j-1", "HEADWAY_ATTEMPT": "offline", "HEADWAY_ATTEMPT_NUMBER": "1"}
    told["HEADWAY_CHECKPOINT_DIR"] = str(folder)

    def files(inside: Path) -> None:
        (inside / "deep" / "er").mkdir(parents=True)
        (inside / "deep" / "er" / "words.txt").write_text("kept")

    made = Run(read_environment(told)).checkpoints(extra={"step": step}, keep=9).save(step, files=files)
    assert made is not None
    return made.path


def test_it_verifies_after_the_job_has_thinned_it_and_the_job_keeps_its_own(tmp_path: Path) -> None:
    path = saved(tmp_path / "job")
    newest, _ = newest_verified(tmp_path / "job")
    assert newest is not None
    kept = keep(newest, tmp_path / "copy")
    assert kept == tmp_path / "copy" / path.name
    shutil.rmtree(kept)
    assert verify(path).ok
    kept = keep(newest, tmp_path / "again")
    shutil.rmtree(path)
    assert verify(kept).ok
    assert (kept / "deep" / "er" / "words.txt").read_text() == "kept"


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    path = saved(tmp_path / "job")
    newest, _ = newest_verified(tmp_path / "job")
    assert newest is not None
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "words.txt").write_text("secret")
    shutil.rmtree(path / "deep" / "er")
    os.symlink(secret, path / "deep" / "er")
    assert keep(newest, tmp_path / "copy") == path
    assert [found.name for found in (tmp_path / "copy").rglob("words.txt")] == []
