"""Saving in the background: the training goes on once its state is copied, and hears of what went wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import CheckpointError, newest_verified, verify
from headway.sdk.job.checkpoints import Checkpoints
from tests.sdk_job.conftest import MakeRun, told
from tests.sdk_job.test_checkpoints import Counter, names

pytestmark = pytest.mark.usefixtures("no_torch")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "not within a minute"
        time.sleep(0.02)


def helper_of(checkpoints: Checkpoints) -> int:
    assert checkpoints._background is not None
    assert checkpoints._background._helper is not None
    return checkpoints._background._helper.pid


def test_what_is_saved_is_the_state_of_the_moment_of_saving(make_run: MakeRun, directory: Path) -> None:
    counter = Counter()
    checkpoints = make_run().checkpoints(model=counter, background=True)
    for step in (1, 2, 3):
        counter.value = step
        assert checkpoints.save(step) is None
        counter.value = -1
    checkpoints.wait()
    assert names(directory) == ["step-00000003", "step-00000002", "step-00000001"]
    assert make_run().checkpoints(model=counter).restore() == 3
    assert counter.value == 3


def test_it_is_told_of_when_it_is_there(make_run: MakeRun, directory: Path, rank_dir: Path) -> None:
    checkpoints = make_run().checkpoints(model=Counter(), background=True)
    checkpoints.save(20)
    checkpoints.wait()
    (event,) = told(rank_dir, "checkpoint-saved")
    assert (event["step"], event["path"]) == (20, str(directory / "step-00000020"))
    assert event["bytes"] == (directory / "step-00000020" / "state.pickle").stat().st_size
    assert 0 < event["blocked"] <= event["seconds"]


def test_the_manifest_names_hash_data_and_random_numbers(make_run: MakeRun, directory: Path) -> None:
    run = make_run()
    run.checkpoints(data=Counter(7), background=False).save(1)
    run.checkpoints(data=Counter(7), algorithm="sha256").save(2)
    found = [verify(directory / f"step-0000000{step}").manifest for step in (1, 2)]
    assert [manifest.files[0].hash.partition(":")[0] for manifest in found if manifest] == ["crc32", "sha256"]
    assert [(manifest.data, manifest.random, manifest.layout) for manifest in found if manifest] == [
        ({"value": 7}, "state.pickle", {"kind": "full"})
    ] * 2


def test_only_the_newest_stay_and_damage_is_found(make_run: MakeRun, directory: Path) -> None:
    checkpoints = make_run().checkpoints(model=Counter(), keep=2, background=True)
    for step in (1, 2, 3, 4):
        checkpoints.save(step)
    checkpoints.wait()
    assert names(directory) == ["step-00000004", "step-00000003"]


def test_what_failed_is_raised_by_the_next_save(make_run: MakeRun, directory: Path) -> None:
    old = make_run(HEADWAY_ATTEMPT="j-test.1").checkpoints(model=Counter(), background=True)
    old.save(20)
    old.wait()
    os.kill(helper_of(old), signal.SIGSTOP)
    old.save(40)
    make_run(HEADWAY_ATTEMPT="j-test.2", HEADWAY_ATTEMPT_NUMBER="2").checkpoints(model=Counter()).restore()
    os.kill(helper_of(old), signal.SIGCONT)
    with pytest.raises((CheckpointError, OSError)):
        old.wait()
    with pytest.raises(CheckpointError, match="attempt 2 of job j-test has taken it over"):
        old.save(60)
    assert names(directory) == ["step-00000020"]


def test_a_helper_that_is_killed_is_heard_of_and_replaced(make_run: MakeRun, directory: Path) -> None:
    checkpoints = make_run().checkpoints(extra={"pad": b"x" * 100}, background=True)
    checkpoints.save(1)
    checkpoints.wait()
    os.kill(helper_of(checkpoints), signal.SIGSTOP)
    checkpoints.save(2)
    os.kill(helper_of(checkpoints), signal.SIGKILL)
    with pytest.raises(CheckpointError, match="signal 9"):
        checkpoints.wait()
    checkpoints.save(3)
    checkpoints.wait()
    assert names(directory) == ["step-00000003", "step-00000001"]


ENDING = """
import sys, headway
own = {"weights": b"x" * 30_000_000}
checkpoints = headway.attach().checkpoints(extra=own, directory=sys.argv[1], background=True)
checkpoints.save(1)
if len(sys.argv) > 2:
    print(checkpoints._background._helper.pid, flush=True)
    sys.stdin.read()
"""


def test_a_program_that_ends_has_its_last_save_finished(directory: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", ENDING, str(directory)], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    chosen, rejected = newest_verified(directory)
    assert (chosen.step if chosen else None, rejected) == (1, [])


def test_a_killed_training_has_its_last_snapshot_saved_all_the_same(directory: Path) -> None:
    command = [sys.executable, "-c", ENDING, str(directory), "wait"]
    program = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    helper = int(program.stdout.readline())
    os.kill(helper, signal.SIGSTOP)
    program.kill()
    os.kill(helper, signal.SIGCONT)
    until(lambda: newest_verified(directory)[0])
    program.communicate(timeout=60)
    chosen, rejected = newest_verified(directory)
    assert (chosen.step if chosen else None, rejected) == (1, [])
    until(lambda: not Path(f"/proc/{helper}").exists() or "Z" in Path(f"/proc/{helper}/stat").read_text().split()[2])


def test_a_state_that_cannot_be_loaded_is_marked_and_not_tried_again(
    make_run: MakeRun, directory: Path, rank_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    counter = Counter(1)
    checkpoints = make_run().checkpoints(model=counter)
    checkpoints.save(20)
    write_state_as_garbage(checkpoints, 40)
    for _ in range(2):
        assert make_run().checkpoints(model=counter).restore() == 20
    assert [event["reason"] for event in told(rank_dir, "checkpoint-rejected")] == ["marked-bad", "marked-bad"]
    assert "is skipped: marked-bad: state.pickle" in capfd.readouterr().err
    assert json.loads((directory / "bad-step-00000040.json").read_bytes())["detail"].startswith("state.pickle")
    assert verify(directory / "step-00000040").reason == "marked-bad"


def write_state_as_garbage(checkpoints: Checkpoints, step: int) -> None:
    """A checkpoint whose hashes are right and whose state no pickle reads."""
    from headway.sdk.job import whole as module

    def garbage(image: object, name: str, state: object) -> str:
        image.begin("state.pickle")  # type: ignore[attr-defined]
        image.write(b"not a pickle")  # type: ignore[attr-defined]
        return "state.pickle"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "write_state", garbage)
        checkpoints.save(step)
