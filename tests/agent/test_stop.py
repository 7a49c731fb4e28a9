"""Stopping: asked first, killed after the grace, and nothing is left behind."""

from __future__ import annotations

import signal
import sys
import time

from tests.agent.node import Node, is_running
from tests.agent.witness_server import WitnessServer, wait_for

STUBBORN = "trap '' TERM; echo ready; while :; do sleep 0.1; done"


def ready(server: WitnessServer, ranks: int = 1) -> None:
    wait_for(lambda: all(b"ready" in server.logs.get(rank, b"") for rank in range(ranks)), "ready ranks")


def test_a_stop_is_written_for_the_rank_and_sigterm_sent(node: Node, server: WitnessServer) -> None:
    script = (
        "import json, os, signal, sys\n"
        "def show(number, frame):\n"
        "    print(open(os.environ['HEADWAY_RANK_DIR'] + '/control.json').read())\n"
        "    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, show)\n"
        "print('ready')\n"
        "signal.pause()\n"
    )
    node.write_order(sys.executable, "-c", script)
    agent = node.start()
    ready(server)
    asked = time.time()
    server.stop = {"reason": "preempted", "grace_s": 20.0}
    assert agent.wait(60) == 0
    control = __import__("json").loads(server.logs[0].decode().splitlines()[1])
    assert (control["stop"], control["reason"]) == (True, "preempted")
    assert asked + 19 <= control["deadline"] <= time.time() + 20
    assert (server.exits[0]["code"], server.exits[0]["stopped_by_us"]) == (0, True)
    assert server.ended is not None
    assert (server.ended["reason"], server.ended["detail"]) == ("stopped", "preempted")


def test_a_rank_that_will_not_go_is_killed_after_the_grace(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", STUBBORN, ranks=2)
    agent = node.start()
    ready(server, 2)
    asked = time.monotonic()
    server.stop = {"reason": "user", "grace_s": 1.0}
    assert agent.wait(60) == 0
    assert time.monotonic() - asked >= 1.0
    assert {record["signal_name"] for record in server.exits.values()} == {"SIGKILL"}
    assert all(record["stopped_by_us"] and not record["oom_kill"] for record in server.exits.values())


def test_grandchildren_in_sessions_of_their_own_go_too(node: Node, server: WitnessServer) -> None:
    hidden = "import os,time; os.setsid(); print(os.getpid(), flush=True); time.sleep(100)"
    without_environment = f"env -i {sys.executable} -c '{hidden}' & {sys.executable} -c '{hidden}' & {STUBBORN}"
    node.write_order("sh", "-c", without_environment)
    agent = node.start()
    wait_for(lambda: len(server.logs.get(0, b"").split()) == 3, "two grandchildren and ready")
    hidden_pids = [int(word) for word in server.logs[0].split() if word.isdigit()]
    server.stop = {"reason": "user", "grace_s": 0.5}
    assert agent.wait(60) == 0
    assert not any(is_running(pid) for pid in hidden_pids)


def test_what_a_rank_leaves_behind_at_its_own_end_goes_too(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "setsid sleep 100 & echo $!; exit 0")
    assert node.start().wait(60) == 0
    assert not is_running(int(server.logs[0]))
    assert server.ended is not None
    assert server.ended["reason"] == "exited"


def test_sigterm_to_the_agent_is_a_stop_by_the_engine(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "echo ready; exec sleep 100")
    agent = node.start()
    ready(server)
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(60) == 0
    assert server.ended is not None
    assert (server.ended["reason"], server.ended["detail"]) == ("stopped", "engine")
    assert server.exits[0]["signal_name"] == "SIGTERM"


def test_a_later_stop_may_shorten_the_grace_and_never_lengthen_it(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", STUBBORN)
    agent = node.start()
    ready(server)
    server.stop = {"reason": "user", "grace_s": 600.0}
    wait_for(lambda: server.reports[-1]["phase"] == "stopping", "the stop")
    server.stop = {"reason": "gang", "grace_s": 0.5}
    assert agent.wait(60) == 0
    assert server.ended is not None
    assert server.ended["detail"] == "user"


def test_a_nudged_agent_reports_at_once_and_hears_what_there_is_to_do(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "echo ready; sleep 600", report_s=600.0, readings_s=600.0)
    agent = node.start()
    wait_for(lambda: server.reports and server.reports[-1]["ranks"], "the first report")
    server.stop = {"reason": "gang", "grace_s": 5.0}
    agent.send_signal(signal.SIGURG)
    assert agent.wait(60) == 0
    assert server.ended is not None
    assert (server.ended["reason"], server.ended["detail"]) == ("stopped", "gang")
