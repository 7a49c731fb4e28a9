"""Real ranks in real trouble under a real server: noticed in time, the right one named, its evidence kept.

The drills are those of `python -m benchmarks.drills`: two of them run every time, all when everything is evaluated.
"""

import io
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.drill_faults import DISK, KINDS, NETWORK
from benchmarks.drills import drill, house
from benchmarks.server import Server

from tests.live.seeds import exhaustive

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
FLOOR_S = 5.0
ALWAYS = ("SIGSTOP", "data from a FIFO")
OTHERS = tuple(name for name in KINDS if name not in ALWAYS)


@pytest.fixture(scope="module")
def here() -> Iterator[Server]:
    pytest.importorskip("torch")
    if os.geteuid() != 0:
        pytest.skip("absent: root: drills strike other users' processes")
    with house(FLOOR_S) as server:
        yield server


@pytest.mark.parametrize("name", ALWAYS)
def test_a_hang_is_noticed_and_the_rank_that_is_waited_for_is_named(here: Server, name: str) -> None:
    seen = drill(here, KINDS[name], struck=1, number=0)
    assert seen.is_right == (True, True, True), seen
    assert seen.in_time, seen


def test_the_evidence_of_a_hang_can_be_downloaded(here: Server) -> None:
    stalled = [job for job in here.client.jobs() if any(True for _ in _facts(here, job["job"]["id"]))]
    assert stalled
    _, content = here.client.bundle(stalled[0]["job"]["id"], 1)
    archive = zipfile.ZipFile(io.BytesIO(content))
    stacks = [name for name in archive.namelist() if name.startswith("stacks/")]
    assert any(b"drilled.py" in archive.read(name) for name in stacks), archive.namelist()
    assert "readings/memory_used_bytes.csv" in archive.namelist()


def _facts(here: Server, job: str) -> Iterator[object]:
    return (fact for fact in here.client.all_facts(job=job) if fact["kind"] == "stalled")


@exhaustive
@pytest.mark.parametrize("name", OTHERS)
def test_every_fault_is_noticed_and_the_right_rank_is_named(here: Server, name: str) -> None:
    kind = KINDS[name]
    if kind.needs == NETWORK and not (shutil.which("nft") and shutil.which("ip")):
        pytest.skip("absent: nftables: no nft or ip on PATH")
    if kind.needs == DISK and not Path("/dev/loop-control").exists():
        pytest.skip("absent: loop devices: no /dev/loop-control")
    seen = drill(here, kind, struck=2, number=1)
    assert seen.is_right == (True, True, True), seen
    assert seen.in_time, seen
