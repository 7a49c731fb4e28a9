"""Where ranks work, as the agent sees it: real mounts that turn read-only, go away, or never answer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.drill_disks import dead_mount, make_read_only, small_disk, take_away

from headway.agent.ranks import cgroup
from headway.agent.scene import asking, kernel, mounts
from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer, wait_for

MOUNTINFO = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:41 / /data\040sets ro,relatime shared:1 - nfs4 store:/vol/data rw,vers=4.2
31 27 0:42 / /ckpt rw,relatime shared:2 - ext4 /dev/sdb1 ro,errors=remount-ro
32 27 0:43 / /ckpt rw,relatime - tmpfs tmpfs rw
a line of another shape
"""
WRITES = """
import pathlib, sys, time
gone = pathlib.Path(sys.argv[2])
print("ready", flush=True)
while not gone.exists():
    time.sleep(0.05)
(pathlib.Path(sys.argv[1]) / "state.pt").write_bytes(b"x")
open(pathlib.Path(sys.argv[1]) / "shard", "rb")
"""


@pytest.fixture
def dead(tmp_path: Path) -> Iterator[Path]:
    try:
        with dead_mount(tmp_path) as mount:
            yield mount
    except OSError as error:
        pytest.skip(f"absent: FUSE mounts: {error.strerror}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    try:
        with small_disk(tmp_path) as mount:
            yield mount
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"absent: loop mounts: {error}")


def _disk(scene: dict[str, Any], path: Path) -> dict[str, Any]:
    return next(disk for disk in scene["disks"] if disk["path"] == str(path))


def test_mountinfo_is_read_with_its_escapes_and_both_kinds_of_ro() -> None:
    found = mounts.read(MOUNTINFO)
    assert [(one.point, one.kind, one.source, one.read_only) for one in found] == [
        ("/proc", "proc", "proc", False),
        ("/", "ext4", "/dev/vda", False),
        ("/data sets", "nfs4", "store:/vol/data", True),
        ("/ckpt", "ext4", "/dev/sdb1", True),
        ("/ckpt", "tmpfs", "tmpfs", False),
    ]
    assert [one.point for one in found if one.holds_files] == ["/", "/data sets", "/ckpt", "/ckpt"]


def test_a_path_lies_on_the_deepest_mount_above_it_and_on_the_last_at_one_place() -> None:
    found = mounts.read(MOUNTINFO)
    on = {path: mounts.holding(path, found) for path in ("/ckpt/j/step", "/ckpt2", "/data sets", "/")}
    assert {path: mount.source for path, mount in on.items() if mount is not None} == {
        "/ckpt/j/step": "tmpfs",
        "/ckpt2": "/dev/vda",
        "/data sets": "store:/vol/data",
        "/": "/dev/vda",
    }
    assert mounts.holding("/x", []) is None


def test_only_what_changed_is_told_of_before() -> None:
    before = mounts.read(MOUNTINFO)
    now = [one for one in before if one.source != "store:/vol/data"]
    assert mounts.change("/ckpt/x", before, now) == {}
    assert mounts.change("/data sets/x", before, now)["was"]["source"] == "store:/vol/data"


def test_a_question_is_answered_with_sizes_the_real_path_or_the_problem(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc")
    found = asking.ask([str(tmp_path), str(tmp_path / "link"), "/nowhere/at/all"])
    assert found[str(tmp_path)]["total_bytes"] > 0
    assert found[str(tmp_path / "link")]["real"] == "/proc"
    assert found["/nowhere/at/all"]["problem"] == os.strerror(2)


def test_a_mount_that_never_answers_holds_up_nobody_for_longer_than_allowed(dead: Path) -> None:
    began = time.monotonic()
    assert set(asking.ask([str(dead), "/tmp"], patience_s=0.5)) == {"/tmp"}
    assert time.monotonic() - began < 10


def test_a_dead_mount_of_the_job_is_told_and_the_agent_still_ends(
    node: Node, server: WitnessServer, dead: Path
) -> None:
    node.write_order(sys.executable, "-c", "raise SystemExit(3)", f"--data={dead}/shards")
    assert node.start().wait(60) == 0
    (scene,) = server.scenes
    told = _disk(scene, dead / "shards")
    assert (told["answers"], told["mount"], told["kind"], told["use"]) == (False, str(dead), "fuse", "named")
    assert "total_bytes" not in told
    assert _disk(scene, node.directory)["answers"]


def test_a_rank_held_by_a_dead_mount_is_told_as_held_by_no_disk_of_the_node(
    node: Node, server: WitnessServer, dead: Path
) -> None:
    opens = f"import os; print('ready', flush=True); os.stat('{dead}/shard')"
    node.write_order(sys.executable, "-c", opens, readings_s=0.2)
    agent = node.start()

    def told() -> bool:
        names = {one["name"] for one in list(server.readings) if one["rank"] == 0 and one["value"] == 1.0}
        return {"processes_held", "processes_held_remotely"} <= names

    wait_for(told, "readings that say so")
    server.stop = {"reason": "user", "grace_s": 0.1}
    assert agent.wait(60) == 0


@pytest.mark.parametrize("happens", [make_read_only, take_away])
def test_what_became_of_a_mount_since_the_ranks_started_is_told(
    node: Node, server: WitnessServer, tmp_path: Path, disk: Path, happens: Callable[[Path], None]
) -> None:
    (disk / "shard").write_bytes(b"x")
    (tmp_path / "writes.py").write_text(WRITES)
    (folder := disk / "job").mkdir()
    go = tmp_path / "go"
    node.write_order(sys.executable, str(tmp_path / "writes.py"), str(disk), str(go), checkpoint_dir=str(folder))
    agent = node.start()
    wait_for(lambda: bytes(server.logs.get(0, b"")) == b"ready\n", "the rank")
    happens(disk)
    go.touch()
    assert agent.wait(60) == 0
    (scene,) = server.scenes
    told = _disk(scene, folder)
    assert told["use"] == "checkpoints"
    assert (told["was"]["mount"], told["was"]["read_only"]) == (str(disk), False)
    assert told["was"]["source"].startswith("/dev/loop")
    if happens is make_read_only:
        assert (told["mount"], told["read_only"]) == (str(disk), True)
    else:
        assert told["mount"] != str(disk)
        assert _disk(scene, disk)["was"]["mount"] == str(disk)


def test_the_mounts_of_a_job_are_among_the_facts_of_its_node(
    node: Node, server: WitnessServer, tmp_path: Path, disk: Path
) -> None:
    node.write_order("true", checkpoint_dir=str(disk / "job"))
    assert node.start().wait(60) == 0
    told = server.reports[0]["facts"]["mounts"]
    assert any(mount.startswith("ext4 /dev/loop") for mount in told)
    assert told == sorted(set(told))


def test_the_kernels_last_lines_are_told_with_their_time(tmp_path: Path) -> None:
    now = time.time()
    log = tmp_path / "kernel.log"
    log.write_text(f"{now - 4000:.1f} old\n{now - 5:.1f} nfs: server store not responding\nno clock\n")
    (line,) = kernel.said(str(log))
    assert line["text"].endswith("nfs: server store not responding")
    assert abs(line["t"] - (now - 5)) < 1
    assert kernel.said(str(tmp_path / "absent")) == []


def test_a_memory_group_is_read_by_either_version_with_the_least_limit_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_ROOT", str(tmp_path))
    new, old = tmp_path / "slice" / "job", tmp_path / "old"
    new.mkdir(parents=True)
    old.mkdir()
    (new / "memory.events").write_text("low 0\nhigh 2\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n")
    (new / "memory.max").write_text("max\n")
    (new.parent / "memory.max").write_text("4096\n")
    (new / "memory.current").write_text("4000\n")
    (old / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
    (old / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    (old / "memory.max_usage_in_bytes").write_text("77\n")
    (old / "memory.failcnt").write_text("5\n")
    assert cgroup.memory_counts(str(new)) == {"low": 0, "high": 2, "max": 7, "oom": 1, "oom_kill": 1}
    assert cgroup.memory_bounds(str(new)) == {"used_bytes": 4000, "limit_bytes": 4096}
    assert cgroup.memory_counts(str(old)) == {"under_oom": 0, "oom_kill": 3, "max": 5}
    assert cgroup.memory_bounds(str(old)) == {"peak_bytes": 77}
    assert (cgroup.memory_counts(None), cgroup.memory_bounds(None)) == ({}, {})
