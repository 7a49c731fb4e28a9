"""What frameworks really wrote is known and found whole; any of its files cut short is noticed.

`written.tar.xz` was made by `python tests/agent/checkpoints/writers.py FRAMEWORK FOLDER` with transformers 5.24,
accelerate 1.15, lightning 2.6.6, deepspeed 0.19.8 and torch 2.13 on a CPU; its newest checkpoints are in it.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from headway.agent.checkpoints.survey import survey

HERE = Path(__file__).parent
NEWEST = {"trainer": 4, "accelerate": 1, "lightning": 4, "deepspeed": 4}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    with tarfile.open(HERE / "written.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.mark.parametrize("framework", NEWEST)
def test_a_frameworks_own_checkpoint_is_known_and_whole(written: Path, framework: str) -> None:
    (found,) = survey(str(written / framework))
    assert (found["format"], found["step"], found["reason"]) == (framework, NEWEST[framework], None)


@pytest.mark.parametrize("framework", NEWEST)
def test_any_file_of_it_that_is_cut_short_is_noticed(written: Path, framework: str) -> None:
    files = [path for path in (written / framework).rglob("*") if path.is_file() and path.name != "latest"]
    for path in files:
        whole = path.read_bytes()
        os.truncate(path, len(whole) // 2)
        found = survey(str(written / framework))
        assert [each["reason"] for each in found] != [None], path.name
        path.write_bytes(whole)
    assert len(files) >= 1
