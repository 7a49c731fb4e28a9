"""Which checkpoints go and which attempt may write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import CheckpointError, checkpoint_folders, verify
from tests.sdk_job.conftest import MakeRun, told
from tests.sdk_job.test_checkpoints import Counter, flip, names, saved_by

pytestmark = pytest.mark.usefixtures("no_torch")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def test_the_oldest_beyond_keep_go(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 1, 2, 3, 4, 5, keep=3)
    assert names(directory) == ["step-00000005", "step-00000004", "step-00000003"]
    assert not [path for path in directory.iterdir() if path.name.startswith(".tmp-")]


def test_without_keep_all_stay(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 1, 2, 3)
    assert len(names(directory)) == 3


def test_the_jobs_policy_says_how_many_stay(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 1, 2, 3, HEADWAY_CHECKPOINT_KEEP="1")
    assert names(directory) == ["step-00000003"]


def test_a_damaged_one_neither_counts_nor_goes(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 1, 2, 3, keep=3)
    for step in (1, 3):
        flip(directory / f"step-0000000{step}" / "state.pickle")
    checkpoints = make_run().checkpoints(model=Counter(), keep=2)
    assert checkpoints.restore() == 2
    checkpoints.save(4)
    checkpoints.save(5)
    assert names(directory) == ["step-00000005", "step-00000004", "step-00000003", "step-00000001"]


def test_nothing_goes_when_the_newest_is_not_good(
    make_run: MakeRun, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = saved_by(make_run, 1, 2, keep=2)

    def damaging(folder: Path) -> None:
        from headway.sdk.job import writer as module

        perform = module.perform

        def commit_and_damage(*arguments: object) -> object:
            saved = perform(*arguments)  # type: ignore[arg-type]
            flip(saved.path / "state.pickle")
            return saved

        monkeypatch.setattr(module, "perform", commit_and_damage)

    checkpoints.save(3, files=damaging)
    assert names(directory) == ["step-00000003", "step-00000002", "step-00000001"]
    assert [verify(folder).ok for folder in checkpoint_folders(directory)] == [False, True, True]


def test_the_one_resumed_from_stays_until_a_newer_one_is_there(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 20, 40)
    checkpoints = make_run(HEADWAY_RESUME_FROM=str(directory / "step-00000040")).checkpoints(model=Counter(), keep=1)
    assert checkpoints.restore() == 40
    checkpoints.save(30)
    assert names(directory) == ["step-00000040", "step-00000030"]
    checkpoints.save(60)
    assert names(directory) == ["step-00000060"]


def test_what_was_just_saved_never_goes(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 60, 80)
    checkpoints = make_run().checkpoints(model=Counter(), keep=1)
    checkpoints.save(50)
    assert "step-00000050" in names(directory)


def test_keeping_none_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(ValueError, match="keep=0"):
        make_run().checkpoints(keep=0)


def attempt(number: int) -> dict[str, str]:
    return {"HEADWAY_ATTEMPT": f"j-test.{number}", "HEADWAY_ATTEMPT_NUMBER": str(number)}


def test_restoring_takes_the_lease(make_run: MakeRun, directory: Path) -> None:
    make_run(**attempt(2)).checkpoints().restore()
    assert json.loads((directory / "lease.json").read_bytes()) == {"job": "j-test", "attempt_number": 2}


def test_an_older_attempt_that_still_runs_may_not_save(make_run: MakeRun, directory: Path, rank_dir: Path) -> None:
    old = saved_by(make_run, 20, **attempt(1))
    make_run(**attempt(2)).checkpoints(model=Counter()).restore()
    with pytest.raises(CheckpointError, match="attempt 2 of job j-test has taken it over"):
        old.save(40)
    assert names(directory) == ["step-00000020"]
    assert [event["step"] for event in told(rank_dir, "checkpoint-saved")] == [20]


def test_an_older_attempt_overtaken_while_it_saves_commits_nothing(make_run: MakeRun, directory: Path) -> None:
    old = saved_by(make_run, 20, **attempt(1))
    newer = make_run(**attempt(2)).checkpoints(model=Counter())
    with pytest.raises((CheckpointError, FileNotFoundError)):
        old.save(40, files=lambda _: [newer.restore(), newer.save(60)])
    assert names(directory) == ["step-00000060", "step-00000020"]


def test_what_an_earlier_attempt_did_not_finish_is_swept(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 20, **attempt(1))
    for name in (".tmp-j-test.1-step-00000040", ".tmp-j-test.3-step-00000040", ".tmp-j-other.1-step-00000040"):
        (directory / name).mkdir()
    make_run(**attempt(2)).checkpoints(model=Counter()).restore()
    left = sorted(path.name for path in directory.glob(".tmp-*"))
    assert left == [".tmp-j-other.1-step-00000040", ".tmp-j-test.3-step-00000040"]


def test_another_job_takes_a_directory_over_and_the_first_is_told(make_run: MakeRun) -> None:
    first = saved_by(make_run, 20, **attempt(5))
    other = make_run(HEADWAY_JOB="j-other", HEADWAY_ATTEMPT="j-other.1").checkpoints(model=Counter())
    assert other.restore() == 20
    with pytest.raises(CheckpointError, match="job j-other"):
        first.save(40)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"job": "j-test"}', '{"job": 1, "attempt_number": "x"}'])
def test_a_lease_that_says_nothing_sensible_is_written_anew(make_run: MakeRun, directory: Path, content: str) -> None:
    directory.mkdir()
    (directory / "lease.json").write_text(content)
    saved_by(make_run, 20, **attempt(2))
    assert names(directory) == ["step-00000020"]
    assert json.loads((directory / "lease.json").read_bytes())["attempt_number"] == 2
