"""What the agent shows of ranks that hang, when the server asks: real processes in real trouble."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from headway.agent.scene import network
from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer, wait_for

STUCK = """
import os, sys, time
import headway
headway.attach()
def wait_for_data():
    if os.environ["RANK"] == "1":
        open(sys.argv[1]).read()
    time.sleep(600)
print("ready", flush=True)
wait_for_data()
"""
TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 0200007F:0050 01 00000400:00000000 01:00000120 00000005     0        0 77 2 0000 20 4 30 10 -1
   1: 0100007F:1F91 0200007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 78 2 0000 20 4 30 10 -1
   2: 0100007F:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 2 0000 20 4 30 10 -1
"""


def _looked(node: Node, server: WitnessServer, kind: str = "stall") -> dict[str, Any]:
    """Order a look and wait for its scene."""
    name = f"look-{len(server.scenes)}"
    server.look = [{"look": name, "kind": kind}]
    wait_for(lambda: any(scene["look"] == name for scene in server.scenes), "a scene")
    return next(scene for scene in server.scenes if scene["look"] == name)


def _ranks(scene: dict[str, Any]) -> dict[int, dict[str, Any]]:
    assert "problem" not in scene, scene
    return {rank["rank"]: rank for rank in scene["ranks"]}


@pytest.fixture
def pair(node: Node, server: WitnessServer, tmp_path: Path) -> Node:
    """Two ranks: one sleeps, the other opens a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "feed")
    (tmp_path / "stuck.py").write_text(STUCK)
    node.write_order(sys.executable, str(tmp_path / "stuck.py"), str(tmp_path / "feed"), ranks=2, readings_s=0.2)
    node.start()
    wait_for(lambda: [bytes(server.logs.get(rank, b"")) for rank in (0, 1)] == [b"ready\n"] * 2, "both ranks")
    return node


def test_a_look_shows_stacks_and_what_each_rank_waits_in(pair: Node, server: WitnessServer, tmp_path: Path) -> None:
    ranks = _ranks(_looked(pair, server))
    for rank, entry in ranks.items():
        (stack,) = entry["stacks"]
        assert "wait_for_data" in stack["text"], stack
        assert stack["pid"] == entry["processes"][0]["pid"] == pair.ranks(2)[rank]["pid"]
        assert entry["processes"][0]["state"] == "S"
    blocked = ranks[1]["processes"][0]
    if blocked["call"] is not None:
        assert (blocked["call"], blocked["on"]) == ("openat", str(tmp_path / "feed"))
        assert ranks[0]["processes"][0]["call"] in ("clock_nanosleep", "select", "pselect6")


def test_a_stopped_rank_is_seen_as_stopped(pair: Node, server: WitnessServer) -> None:
    pid = pair.ranks(2)[1]["pid"]
    os.kill(pid, signal.SIGSTOP)

    def is_seen() -> bool:
        said = [r["value"] for r in server.readings if r["name"] == "processes_stopped" and r["rank"] == 1]
        return bool(said) and said[-1] == 1.0

    wait_for(is_seen, "a reading that says so")
    entry = _ranks(_looked(pair, server))[1]
    assert entry["processes"][0]["state"] == "T"
    assert [stack for stack in entry["stacks"] if stack["source"] == "faulthandler"] == []
    os.kill(pid, signal.SIGCONT)
    assert _ranks(_looked(pair, server))[1]["processes"][0]["state"] == "S"


def test_a_look_at_the_pace_disturbs_nobody(pair: Node, server: WitnessServer) -> None:
    scene = _looked(pair, server, "pace")
    assert all(entry["stacks"] == [] for entry in scene["ranks"])
    assert "disks" not in scene


def test_the_place_is_told_with_its_disks_and_mounts(pair: Node, server: WitnessServer) -> None:
    scene = _looked(pair, server)
    disks = {disk["path"]: disk for disk in scene["disks"]}
    assert disks[str(pair.directory)]["answers"]
    assert disks[str(pair.directory)]["free_bytes"] > 0
    assert os.path.ismount(disks[str(pair.directory)]["mount"])
    assert not disks[str(pair.directory)]["read_only"]


def test_a_program_that_does_not_know_us_is_not_hurt_by_a_look(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "echo ready; sleep 600 & wait")
    node.start()
    wait_for(lambda: bytes(server.logs.get(0, b"")) == b"ready\n", "the program")
    entry = _ranks(_looked(node, server))[0]
    assert entry["stacks"] == []
    assert [process["command"] for process in entry["processes"]][1:] in (["sleep"], [])
    assert server.exits == {}
    server.stop = {"reason": "user", "grace_s": 0.1}
    assert node.agents[0].wait(60) == 0


def test_a_link_or_another_mans_file_is_no_stack(pair: Node, server: WitnessServer) -> None:
    path = pair.directory / "rank-0" / "stacks.txt"
    assert stat.S_ISREG(path.lstat().st_mode)
    path.unlink()
    path.symlink_to("/etc/passwd")
    entry = _ranks(_looked(pair, server))[0]
    assert all("root:" not in stack["text"] for stack in entry["stacks"])


def test_what_the_ranks_do_is_read_with_their_children(node: Node, server: WitnessServer) -> None:
    busy = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    node.write_order(sys.executable, "-c", busy, readings_s=0.2)
    node.start()

    def is_busy() -> bool:
        said = [r["value"] for r in server.readings if r["name"] == "processes_cpu_percent"]
        return bool(said) and max(said) > 10

    wait_for(is_busy, "the child's processor time")
    server.stop = {"reason": "user", "grace_s": 0.1}
    assert node.agents[0].wait(60) == 0
    own = [r["value"] for r in server.readings if r["name"] == "cpu_percent" and r["rank"] == 0]
    assert not own or min(own) < 10


def test_the_place_is_told_by_itself_when_a_rank_breaks(node: Node, server: WitnessServer) -> None:
    node.run(sys.executable, "-c", "raise SystemExit(3)")
    (scene,) = server.scenes
    assert (scene["look"], scene["kind"], scene["ranks"]) == ("exit", "exit", [])
    assert str(node.directory) in {disk["path"] for disk in scene["disks"]}


def test_a_rank_that_ends_well_is_not_looked_at(node: Node, server: WitnessServer) -> None:
    node.run("true")
    assert server.scenes == []


def test_a_host_that_refuses_answers_and_one_that_is_silent_does_not() -> None:
    assert network._answering(["127.0.0.1"]) == {"127.0.0.1"}
    assert network._answering([]) == set()


def test_connections_are_read_with_what_is_unanswered() -> None:
    assert network.read_tcp(TCP, {"77"}) == [
        {"local": "127.0.0.1:8080", "remote": "127.0.0.2:80", "unanswered_bytes": 1024, "retransmits": 5}
    ]
    assert network.address("0000000000000000FFFF00000100007F:1F90") == "127.0.0.1:8080"
    assert network.address("00000000000000000000000001000000:1F90") == "::1:8080"
