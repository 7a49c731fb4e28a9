"""An agent that is killed: its ranks die with it, and whoever comes after tells and never starts again."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from tests.agent.node import Node, is_running
from tests.agent.witness_server import WitnessServer, wait_for


def kill_agent(node: Node) -> None:
    node.agents[-1].send_signal(signal.SIGKILL)
    node.agents[-1].wait(60)


def test_ranks_die_with_their_agent(node: Node) -> None:
    node.write_order("sleep", "100", ranks=2)
    node.start()
    ranks = node.ranks(2)
    kill_agent(node)
    wait_for(lambda: not any(is_running(rank["pid"]) for rank in ranks), "the ranks' death")


def test_the_next_agent_kills_what_is_left_and_never_starts_ranks(node: Node, server: WitnessServer) -> None:
    marks = node.workdir / "marks"
    hidden = f"import os,time; os.setsid(); open({str(marks)!r},'a').write(str(os.getpid())+chr(10)); time.sleep(100)"
    node.write_order("sh", "-c", f'{sys.executable} -c "{hidden}" & sleep 100')
    node.start()
    wait_for(lambda: marks.exists() and marks.read_text().endswith("\n"), "the hidden grandchild")
    grandchild = int(marks.read_text())
    kill_agent(node)
    assert is_running(grandchild)
    assert node.start().wait(60) == 0
    assert not is_running(grandchild)
    assert len(marks.read_text().split()) == 1
    assert server.ended is not None
    assert server.ended["reason"] == "agent-lost"
    assert (server.exits[0]["code"], server.exits[0]["signal"]) == (None, None)
    final = node.read("final.json")
    assert (final["reason"], final["delivered"]) == ("agent-lost", True)


def test_what_the_dead_agent_had_spooled_and_the_events_are_delivered(node: Node, server: WitnessServer) -> None:
    server.down()
    event = json.dumps({"kind": "phase", "name": "train"})
    node.write_order("sh", "-c", f"echo '{event}' > $HEADWAY_RANK_DIR/events.jsonl; seq 5000; echo done >&2; sleep 100")
    node.start()
    spool = node.directory / "spool" / "rank-0"
    wait_for(lambda: b"done" in b"".join(path.read_bytes() for path in spool.glob("*.log")), "a full spool")
    kill_agent(node)
    server.up()
    assert node.start().wait(60) == 0
    assert server.logs[0].decode() == "".join(f"{number}\n" for number in range(1, 5001)) + "done\n"
    assert server.events[0] == event + "\n"
    assert list(spool.glob("*.log")) == []


def test_exits_seen_before_the_death_are_kept(node: Node, server: WitnessServer) -> None:
    server.down()
    node.write_order("sh", "-c", '[ "$RANK" = 0 ] && exit 0; exec sleep 100', ranks=2)
    node.start()
    wait_for(lambda: node.read("exits.json"), "the exit of rank 0")
    kill_agent(node)
    server.up()
    assert node.start().wait(60) == 0
    assert server.exits[0]["code"] == 0
    assert (server.exits[1]["code"], server.exits[1]["signal"]) == (None, None)


def test_an_agent_killed_while_delivering_is_replaced_by_one_that_only_delivers(
    node: Node, server: WitnessServer
) -> None:
    server.down()
    node.write_order("sh", "-c", "echo ran >> ran; seq 100; exit 4")
    node.start()
    wait_for(lambda: node.read("final.json"), "the end of the rank")
    kill_agent(node)
    server.up()
    assert node.start().wait(60) == 0
    assert server.exits[0]["code"] == 4
    assert server.ended is not None
    assert server.ended["reason"] == "exited"
    assert len(server.logs[0].splitlines()) == 100
    assert (node.workdir / "ran").read_text() == "ran\n"


def test_an_agent_after_everything_is_delivered_leaves_at_once(node: Node, server: WitnessServer) -> None:
    node.run("true")
    count = len(server.requests)
    assert node.start().wait(60) == 0
    assert len(server.requests) == count


def test_another_process_with_a_dead_ranks_pid_is_never_touched(node: Node, server: WitnessServer) -> None:
    node.write_order("sleep", "100")
    node.start()
    node.ranks()
    kill_agent(node)
    stranger = os.spawnvp(os.P_NOWAIT, "setsid", ["setsid", "sleep", "100"])
    try:
        wait_for(lambda: Path(f"/proc/{stranger}/comm").read_text() == "sleep\n", "the stranger")
        (node.directory / "ranks.json").write_text(json.dumps([{"rank": 0, "pid": stranger, "start_ticks": 1}]))
        assert node.start().wait(60) == 0
        assert is_running(stranger)
    finally:
        os.kill(stranger, signal.SIGKILL)
        os.waitpid(stranger, 0)
