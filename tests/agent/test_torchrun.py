"""The torchrun launcher, with a stand-in for torchrun that starts its ranks as the real one does."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer, wait_for

STAND_IN = """
import json, os, subprocess, sys
words = sys.argv[1:]
options = dict(zip(words[:words.index("--no-python"):2], words[1::2]))
command = words[words.index("--no-python") + 1:]
count = int(options["--nproc-per-node"])
first = int(options["--node-rank"]) * count
places = [{"RANK": str(first + n), "LOCAL_RANK": str(n)} for n in range(count)]
ranks = [subprocess.Popen(command, env={**os.environ, **place}) for place in places]
codes = [rank.wait() for rank in ranks]
bad = [n for n, code in enumerate(codes) if code]
if bad:
    message = {"message": f"rank {first + bad[0]} ended with {codes[bad[0]]}",
               "extraInfo": {"py_callstack": "Traceback ...", "timestamp": "1796087980"}}
    with open(os.environ["TORCHELASTIC_ERROR_FILE"], "w") as file:
        json.dump({"message": message}, file)
sys.exit(1 if bad else 0)
"""
EVENT = 'echo "{\\"kind\\":\\"phase\\",\\"name\\":\\"rank $RANK\\"}" >> $HEADWAY_RANK_DIR/events-$RANK.jsonl'


@pytest.fixture
def torchrun_node(node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    tool = tmp_path / "bin" / "torchrun"
    tool.parent.mkdir()
    tool.write_text("#!/usr/bin/env python3\n" + STAND_IN)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    return node


def test_ranks_speak_through_events_of_their_own_and_one_output(torchrun_node: Node, server: WitnessServer) -> None:
    torchrun_node.run("sh", "-c", f"{EVENT}; echo from $RANK", ranks=2, launcher="torchrun")
    assert {rank: json.loads(text)["name"] for rank, text in server.events.items()} == {0: "rank 0", 1: "rank 1"}
    assert sorted(server.logs[0].decode().split("\n")[:2]) == ["from 0", "from 1"]
    assert {rank: record["code"] for rank, record in server.exits.items()} == {0: 0}
    assert list(server.logs) == [0]


def test_the_error_file_of_torchrun_comes_with_its_exit(torchrun_node: Node, server: WitnessServer) -> None:
    torchrun_node.run("sh", "-c", "exit $((RANK * 3))", ranks=2, launcher="torchrun")
    assert server.exits[0]["code"] == 1
    assert server.exits[0]["error"]["message"] == "rank 1 ended with 3"


def test_a_drill_finds_the_rank_that_torchrun_started(torchrun_node: Node, server: WitnessServer) -> None:
    command = ("sh", "-c", "echo from $RANK; [ $RANK = 0 ] && exit 0; exec sleep 100")
    torchrun_node.write_order(*command, ranks=2, launcher="torchrun")
    agent = torchrun_node.start()
    wait_for(lambda: b"from 1" in server.logs.get(0, b""), "rank 1")
    server.kill = [{"drill": "d-1", "rank": 1, "signal": int(signal.SIGKILL)}]
    assert agent.wait(60) == 0
    assert server.exits[0]["error"]["message"] == "rank 1 ended with -9"
