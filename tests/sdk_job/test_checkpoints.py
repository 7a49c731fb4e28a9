"""Saving and restoring: whole or not at all, never over another's, and from the newest that can be trusted."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headway.sdk.job import commit as commit_module
from headway.sdk.job.checkpoint import CheckpointError, checkpoint_folders, newest_verified, verify
from headway.sdk.job.checkpoints import Checkpoints
from tests.sdk_job.conftest import MakeRun, told

pytestmark = pytest.mark.usefixtures("no_torch")


class Counter:
    """The smallest thing that keeps state."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def state_dict(self) -> dict[str, int]:
        return {"value": self.value}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.value = state["value"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def names(directory: Path) -> list[str]:
    return [path.name for path in checkpoint_folders(directory)]


def saved_by(make_run: MakeRun, *steps: int, keep: int | None = None, **changes: str) -> Checkpoints:
    counter = Counter()
    checkpoints = make_run(**changes).checkpoints(model=counter, keep=keep)
    for step in steps:
        counter.value = step
        checkpoints.save(step)
    return checkpoints


def test_what_was_saved_comes_back(make_run: MakeRun, directory: Path, rank_dir: Path) -> None:
    model, optimizer, scheduler, extra = Counter(1), Counter(2), Counter(3), {"cursor": [4, 5]}
    make_run().checkpoints(model, optimizer, scheduler, extra).save(40)
    parts: tuple[Any, ...] = (Counter(), Counter(), Counter(), {"cursor": None})
    assert make_run().checkpoints(*parts).restore() == 40
    assert ([part.value for part in parts[:3]], parts[3]) == ([1, 2, 3], {"cursor": [4, 5]})
    (event,) = told(rank_dir, "restored")
    assert (event["step"], event["path"]) == (40, str(directory / "step-00000040"))
    assert event["seconds"] >= 0


def test_random_numbers_go_on_where_they_were(make_run: MakeRun) -> None:
    make_run().checkpoints().save(1)
    expected = [random.random() for _ in range(3)]
    random.seed(0)
    make_run().checkpoints().restore()
    assert [random.random() for _ in range(3)] == expected


def test_other_ranks_do_not_draw_rank_0s_random_numbers(make_run: MakeRun) -> None:
    make_run().checkpoints().save(1)
    random.seed(123)
    expected = random.Random(123).random()
    assert make_run(RANK="1", WORLD_SIZE="2").checkpoints().restore() == 1
    assert random.random() == expected


def test_saving_tells_step_path_bytes_and_seconds(make_run: MakeRun, directory: Path, rank_dir: Path) -> None:
    saved_by(make_run, 20)
    (event,) = told(rank_dir, "checkpoint-saved")
    size = sum(path.stat().st_size for path in (directory / "step-00000020").iterdir() if path.name != "manifest.json")
    assert (event["step"], event["path"], event["bytes"]) == (20, str(directory / "step-00000020"), size)
    assert event["seconds"] > 0


def test_the_manifest_says_who_saved_it(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 20, HEADWAY_ATTEMPT="j-test.3", HEADWAY_ATTEMPT_NUMBER="3", WORLD_SIZE="2")
    manifest = verify(directory / "step-00000020").manifest
    assert manifest is not None
    assert (manifest.job, manifest.attempt, manifest.attempt_number) == ("j-test", "j-test.3", 3)
    assert (manifest.world_size, manifest.torch) == (2, None)


def test_with_nothing_to_restore_it_starts_from_0_and_says_so(
    make_run: MakeRun, rank_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    counter = Counter(7)
    assert make_run().checkpoints(model=counter).restore() == 0
    assert counter.value == 7
    (event,) = told(rank_dir, "restored")
    assert (event["step"], event["path"]) == (0, None)
    assert "starts from step 0" in capfd.readouterr().err


def test_a_damaged_one_is_skipped_with_its_reason_and_stays(
    make_run: MakeRun, directory: Path, rank_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    saved_by(make_run, 20, 40)
    flip(directory / "step-00000040" / "state.pickle")
    counter = Counter()
    assert make_run().checkpoints(model=counter).restore() == 20
    assert counter.value == 20
    (event,) = told(rank_dir, "checkpoint-rejected")
    assert (event["step"], event["path"], event["reason"]) == (40, str(directory / "step-00000040"), "wrong-hash")
    assert "wrong-hash" in capfd.readouterr().err
    assert names(directory) == ["step-00000040", "step-00000020"]


def test_with_all_damaged_it_starts_from_0(make_run: MakeRun, directory: Path, rank_dir: Path) -> None:
    saved_by(make_run, 20, 40)
    flip(directory / "step-00000040" / "state.pickle")
    (directory / "step-00000020" / "manifest.json").unlink()
    assert make_run().checkpoints(model=Counter()).restore() == 0
    assert [event["reason"] for event in told(rank_dir, "checkpoint-rejected")] == ["wrong-hash", "no-manifest"]
    assert told(rank_dir, "restored")[0]["path"] is None


def test_what_the_platform_chose_comes_first(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 20, 40)
    run = make_run(HEADWAY_RESUME_FROM=str(directory / "step-00000020"))
    assert run.checkpoints(model=Counter()).restore() == 20


def test_a_damaged_choice_of_the_platform_falls_back_to_the_newest(
    make_run: MakeRun, directory: Path, rank_dir: Path
) -> None:
    saved_by(make_run, 20, 40)
    flip(directory / "step-00000040" / "state.pickle")
    run = make_run(HEADWAY_RESUME_FROM=str(directory / "step-00000040"))
    assert run.checkpoints(model=Counter()).restore() == 20
    assert [event["step"] for event in told(rank_dir, "checkpoint-rejected")] == [40]


def test_a_step_that_was_damaged_is_saved_again_beside_it(make_run: MakeRun, directory: Path) -> None:
    saved_by(make_run, 20, 40)
    flip(directory / "step-00000040" / "state.pickle")
    counter = Counter()
    checkpoints = make_run(HEADWAY_ATTEMPT_NUMBER="2").checkpoints(model=counter)
    assert checkpoints.restore() == 20
    checkpoints.save(40)
    assert names(directory) == ["step-00000040.1", "step-00000040", "step-00000020"]
    chosen, rejected = newest_verified(directory)
    assert chosen is not None
    assert (chosen.path.name, rejected) == ("step-00000040.1", [])
    assert not verify(directory / "step-00000040").ok


def test_saving_the_step_just_restored_or_saved_writes_nothing(make_run: MakeRun, directory: Path) -> None:
    first = saved_by(make_run, 20)
    assert first.save(20) == first.save(20)
    again = make_run().checkpoints(model=Counter())
    again.restore()
    again.save(20)
    assert names(directory) == ["step-00000020"]


def test_only_rank_0_saves(make_run: MakeRun, directory: Path) -> None:
    assert make_run(RANK="1", WORLD_SIZE="2").checkpoints(model=Counter()).save(20) is None
    assert not directory.exists()


def test_every_rank_restores_the_same(make_run: MakeRun) -> None:
    saved_by(make_run, 20, 40)
    counters = [Counter(), Counter()]
    for rank, counter in enumerate(counters):
        assert make_run(RANK=str(rank), WORLD_SIZE="2").checkpoints(model=counter).restore() == 40
    assert [counter.value for counter in counters] == [40, 40]


def test_files_the_program_adds_belong_to_the_checkpoint(make_run: MakeRun, directory: Path) -> None:
    def export(folder: Path) -> None:
        (folder / "hf").mkdir()
        (folder / "hf" / "config.json").write_text("{}")

    make_run().checkpoints().save(20, files=export)
    assert verify(directory / "step-00000020").ok
    (directory / "step-00000020" / "hf" / "config.json").write_text("[]")
    assert verify(directory / "step-00000020").reason == "wrong-hash"


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_link_among_the_added_files_is_refused(
    make_run: MakeRun, directory: Path, tmp_path: Path, target: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir() if target == "folder" else outside.write_text("x")
    with pytest.raises(CheckpointError, match="not a regular file"):
        make_run().checkpoints().save(20, files=lambda folder: (folder / "link").symlink_to(outside))
    assert names(directory) == []


def test_a_save_that_fails_leaves_nothing(make_run: MakeRun, directory: Path) -> None:
    checkpoints = saved_by(make_run, 20)

    def broken(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        checkpoints.save(40, files=broken)
    assert sorted(path.name for path in directory.iterdir()) == ["lease.json", "step-00000020"]


def test_the_manifest_is_written_last(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    encode = commit_module.encode_manifest

    def encoding(manifest: Any) -> bytes:
        (building,) = Path(make_run()._environment.checkpoint_dir).glob(".tmp-*-step-*")
        seen.append(sorted(path.name for path in building.iterdir()))
        return encode(manifest)

    monkeypatch.setattr(commit_module, "encode_manifest", encoding)
    saved_by(make_run, 20)
    assert seen == [["state.pickle"]]


def test_a_checkpoint_of_another_program_is_an_error_that_says_so(make_run: MakeRun) -> None:
    saved_by(make_run, 20)
    with pytest.raises(CheckpointError, match="holds no optimizer"):
        make_run().checkpoints(model=Counter(), optimizer=Counter()).restore()


KILLED = """
import sys, headway
checkpoints = headway.attach().checkpoints(extra={"weights": b"x" * 300_000}, directory=sys.argv[1], keep=2)
step = checkpoints.restore()
print("going", flush=True)
while True:
    step += 1
    checkpoints.save(step)
"""


def test_a_kill_at_any_moment_leaves_only_whole_checkpoints(directory: Path) -> None:
    chance = random.Random(7)
    for _ in range(8):
        command = [sys.executable, "-c", KILLED, str(directory)]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert program.stdout is not None
        assert program.stdout.readline() == b"going\n"
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(chance.uniform(0.02, 0.15))
        program.send_signal(signal.SIGKILL)
        program.communicate(timeout=60)
        chosen, rejected = newest_verified(directory)
        assert rejected == []
    assert chosen is not None
    assert all(verify(folder).ok for folder in checkpoint_folders(directory))
    assert json.loads((directory / "lease.json").read_bytes()) == {"job": "offline", "attempt_number": 0}
