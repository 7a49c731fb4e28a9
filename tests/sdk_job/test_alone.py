"""Two programs that nobody watches, on one directory of checkpoints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run

HOLDS = """
import os, sys, time
from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run
run = Run(read_environment({"HEADWAY_CHECKPOINT_DIR": sys.argv[1]}))
checkpoints = run.checkpoints()
checkpoints.restore()
if os.fork() == 0:
    checkpoints.restore()
    print("both are there", flush=True)
time.sleep(600)
"""


def offline(directory: Path) -> Run:
    return Run(read_environment({"HEADWAY_CHECKPOINT_DIR": str(directory)}))


def test_the_second_of_two_programs_on_one_directory_is_told_until_the_first_has_gone(tmp_path: Path) -> None:
    """What the first has forked may save too, and does not keep others out when the first is gone."""
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == b"both are there\n"
        with pytest.raises(CheckpointError, match="another program on this machine saves in"):
            offline(tmp_path).checkpoints().restore()
        assert [path.name for path in tmp_path.iterdir()] == ["lease.json"]
        first.kill()
        first.wait()
        offline(tmp_path).checkpoints().restore()
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()


def test_one_program_may_have_several_trainings_there_one_after_another(tmp_path: Path) -> None:
    for _ in range(2):
        offline(tmp_path).checkpoints().restore()
    offline(tmp_path / "other").checkpoints().restore()
