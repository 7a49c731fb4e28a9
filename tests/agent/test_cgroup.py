"""The agent and its ranks inside real cgroups of this machine, where they can be made."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.node import Node, is_running
from tests.agent.witness_server import WitnessServer, wait_for


def make_cgroup(controller: str) -> Iterator[Path]:
    directory = Path("/sys/fs/cgroup") / controller / f"headway-test-{os.getpid()}"
    try:
        directory.mkdir()
    except OSError as error:
        pytest.skip(f"absent: a writable {controller} cgroup (version 1): {error.strerror}")
    yield directory
    wait_for(lambda: not (directory / "cgroup.procs").read_text(), "an empty cgroup")
    directory.rmdir()


@pytest.fixture
def pids_cgroup() -> Iterator[Path]:
    yield from make_cgroup("pids")


@pytest.fixture
def memory_cgroup() -> Iterator[Path]:
    yield from make_cgroup("memory")


def test_the_agent_and_its_ranks_live_in_the_attempts_cgroup(
    pids_cgroup: Path, node: Node, server: WitnessServer
) -> None:
    node.write_order("sleep", "100", cgroup=[str(pids_cgroup)])
    agent = node.start()
    (rank,) = node.ranks()
    assert {int(pid) for pid in (pids_cgroup / "cgroup.procs").read_text().split()} == {agent.pid, rank["pid"]}
    server.stop = {"reason": "user", "grace_s": 5.0}
    assert agent.wait(60) == 0


def test_whatever_is_left_in_the_cgroup_goes_with_the_attempt(
    pids_cgroup: Path, node: Node, server: WitnessServer
) -> None:
    hidden = "import os,time; os.setsid(); print(os.getpid(), flush=True); time.sleep(100)"
    node.write_order("sh", "-c", f"env -i {sys.executable} -c '{hidden}' & sleep 100", cgroup=str(pids_cgroup))
    agent = node.start()
    wait_for(lambda: server.logs.get(0, b"").endswith(b"\n"), "the hidden grandchild")
    grandchild = int(server.logs[0])
    agent.kill()
    agent.wait(60)
    assert is_running(grandchild)
    assert node.start().wait(60) == 0
    assert not is_running(grandchild)


def test_a_kill_for_want_of_memory_is_known_as_one(memory_cgroup: Path, node: Node, server: WitnessServer) -> None:
    (memory_cgroup / "memory.limit_in_bytes").write_text(str(64 << 20))
    node.run(sys.executable, "-c", "b'x' * (200 << 20)", cgroup=[str(memory_cgroup)])
    assert (server.exits[0]["signal_name"], server.exits[0]["oom_kill"]) == ("SIGKILL", True)


def test_what_the_attempts_cgroup_counts_is_read(memory_cgroup: Path, node: Node, server: WitnessServer) -> None:
    node.write_order("sleep", "100", cgroup=[str(memory_cgroup)], readings_s=0.1)
    agent = node.start()
    wait_for(lambda: any(one["name"] == "attempt_memory_used_bytes" for one in list(server.readings)), "its memory")
    server.stop = {"reason": "user", "grace_s": 5.0}
    assert agent.wait(60) == 0
