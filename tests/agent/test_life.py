"""An attempt on one node, from the order to everything delivered, with real processes."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from pathlib import Path

from tests.agent.node import Node, is_running
from tests.agent.witness_server import WitnessServer, wait_for

PRINT_ENVIRONMENT = "import json,os;print(json.dumps(dict(os.environ)))"


def test_a_job_that_prints_nothing_needs_two_requests_at_most(node: Node, server: WitnessServer) -> None:
    node.run("true")
    assert len(server.requests) <= 2
    assert server.exits[0]["code"] == 0
    assert server.ended is not None
    assert server.ended["reason"] == "exited"
    assert node.read("final.json")["delivered"] is True


def test_everything_printed_arrives_once_and_the_spool_is_left_empty(node: Node, server: WitnessServer) -> None:
    node.run("sh", "-c", "for i in $(seq 20000); do echo line $i; done; echo last >&2")
    expected = "".join(f"line {number}\n" for number in range(1, 20001)) + "last\n"
    assert server.logs[0].decode() == expected
    assert server.ended is not None
    assert server.ended["logs"] == {"0": len(expected)}
    assert list((node.directory / "spool").rglob("*.log")) == []


def test_what_a_rank_prints_follows_while_it_runs(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "echo first; sleep 100")
    node.start()
    wait_for(lambda: server.logs.get(0) == b"first\n", "the first line")
    assert server.exits == {}


def test_every_rank_finds_its_place_in_its_environment(node: Node, server: WitnessServer) -> None:
    node.run(
        sys.executable,
        "-c",
        PRINT_ENVIRONMENT,
        ranks=2,
        env={"GREETING": "hello", "PYTHONPATH": "/mine"},
        checkpoint_dir="/checkpoints",
        port=40123,
        devices=[4, 5],
        visible_devices={"CUDA_VISIBLE_DEVICES": "4,5"},
    )
    first, second = (json.loads(server.logs[rank]) for rank in (0, 1))
    assert (first["RANK"], second["RANK"]) == ("0", "1")
    assert second["WORLD_SIZE"] == second["LOCAL_WORLD_SIZE"] == "2"
    assert second["HEADWAY_ATTEMPT"] == node.order["attempt"]
    assert second["HEADWAY_RANK_DIR"] == str(node.directory / "rank-1")
    assert second["HEADWAY_CHECKPOINT_DIR"] == "/checkpoints"
    assert "HEADWAY_RESUME_FROM" not in second
    assert second["HEADWAY_PORT"] == "40123"
    assert second["GREETING"] == "hello"
    assert second["PYTHONPATH"] == f"{node.zipapp}:/mine"


def test_a_rank_imports_the_package_from_the_zipapp(node: Node, server: WitnessServer) -> None:
    node.run("/usr/bin/env", "python3", "-S", "-c", "import headway; print(headway.__file__)")
    assert server.logs[0].decode().startswith(str(node.zipapp))


def test_an_exit_is_told_first_hand(node: Node, server: WitnessServer) -> None:
    node.run("sh", "-c", '[ "$RANK" = 0 ] && exit 3; kill -SEGV $$', ranks=2)
    assert (server.exits[0]["code"], server.exits[0]["signal"]) == (3, None)
    assert (server.exits[1]["code"], server.exits[1]["signal_name"]) == (None, "SIGSEGV")
    assert not any(record["stopped_by_us"] or record["oom_kill"] for record in server.exits.values())
    assert node.read("exits.json") == node.read("final.json")["exits"]


def test_the_error_file_of_a_program_comes_with_its_exit(node: Node, server: WitnessServer) -> None:
    error = {"message": {"message": "boom", "extraInfo": {"py_callstack": "here", "timestamp": "1796087980"}}}
    node.run("sh", "-c", f"echo '{json.dumps(error)}' > $HEADWAY_RANK_DIR/error.json; exit 1")
    assert server.exits[0]["error"] == {"message": "boom", "callstack": "here", "timestamp": 1796087980.0}


def test_events_arrive_whole_and_once(node: Node, server: WitnessServer) -> None:
    script = (
        "import os, time\n"
        "path = os.environ['HEADWAY_RANK_DIR'] + '/events.jsonl'\n"
        "fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
        "for step in range(3000):\n"
        '    os.write(fd, b\'{"kind":"progress","step":%d}\\n\' % step)\n'
        "os.write(fd, b'\\xff broken\\n')\n"
        "os.write(fd, b'no end of line')\n"
    )
    node.run(sys.executable, "-c", script)
    lines = server.events[0].splitlines()
    assert [json.loads(line)["step"] for line in lines[:-1]] == list(range(3000))
    assert lines[-1] == "? broken"


def test_the_first_report_carries_facts_and_only_the_first(node: Node, server: WitnessServer) -> None:
    node.write_order("sleep", "100")
    node.start()
    wait_for(lambda: len(server.reports) >= 3, "three reports")
    first, *others = server.reports
    assert first["facts"]["kernel"] == os.uname().release
    assert {"driver", "python", "torch"} <= set(first["facts"])
    assert all("facts" not in report for report in others)
    assert first["ranks"][0]["pid"] == node.ranks()[0]["pid"]
    assert [report["seq"] for report in server.reports] == list(range(1, len(server.reports) + 1))


def test_readings_of_node_and_rank_arrive(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "while :; do :; done", readings_s=0.1)
    node.start()
    wanted = {("cpu_percent", None), ("memory_used_bytes", None), ("disk_used_bytes", None), ("cpu_percent", 0)}
    wait_for(lambda: wanted <= {(one["name"], one["rank"]) for one in list(server.readings)}, "readings")
    busy = [one["value"] for one in server.readings if one["name"] == "cpu_percent" and one["rank"] == 0]
    assert all(0 <= value <= 110 for value in busy)
    assert max(busy) > 1


def test_a_command_that_is_not_there_is_a_start_that_failed(node: Node, server: WitnessServer) -> None:
    node.run("no-such-program")
    assert server.ended is not None
    assert server.ended["reason"] == "start-failed"
    assert server.ended["detail"] == "rank 0: command 'no-such-program': No such file or directory"
    assert server.exits == {}


def test_a_working_directory_that_is_not_there_is_named(node: Node, server: WitnessServer) -> None:
    node.run("true", workdir="/no/such/place")
    assert server.ended is not None
    assert server.ended["detail"] == "rank 0: workdir '/no/such/place': No such file or directory"


def test_a_drill_strikes_one_rank_once(node: Node, server: WitnessServer) -> None:
    node.write_order("sleep", "100", ranks=2)
    node.start()
    node.ranks(2)
    server.kill = [{"drill": "d-1", "rank": 1, "signal": int(signal.SIGKILL)}]
    wait_for(lambda: 1 in server.exits, "the exit of rank 1")
    assert server.exits[1]["signal_name"] == "SIGKILL"
    assert server.exits[1]["stopped_by_us"] is False
    wait_for(lambda: server.kill == [], "the drill to be told done")


def test_a_drilled_node_takes_everything_along_without_a_word(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "setsid sleep 100 & sleep 100", ranks=2)
    agent = node.start()
    pids = [rank["pid"] for rank in node.ranks(2)]
    server.kill = [{"drill": "d-1", "rank": 1, "signal": int(signal.SIGKILL), "what": "node"}]
    assert agent.wait(20) == -signal.SIGKILL
    wait_for(lambda: not any(is_running(pid) for pid in pids), "the end of every rank")
    assert (server.exits, server.ended) == ({}, None)


def test_a_drill_of_storage_is_done_once_a_save_has_met_it(node: Node, server: WitnessServer) -> None:
    met = 'until rm "$HEADWAY_RANK_DIR/storage-gone.json" 2>/dev/null; do [ -e "$0" ] || sleep 0.05; done; sleep 100'
    waits = str(node.directory / "waits")
    node.write_order("sh", "-c", f'while [ -e "$0" ]; do sleep 0.05; done; {met}', waits, ranks=2)
    Path(waits).touch()
    node.start()
    node.ranks(2)
    server.kill = [{"drill": "d-1", "rank": 0, "signal": int(signal.SIGKILL), "what": "mount"}]
    wait_for(lambda: (node.directory / "rank-1" / "storage-gone.json").exists(), "the file of the drill")
    told = len(server.reports)
    wait_for(lambda: len(server.reports) > told + 1, "two more reports")
    assert (len(server.kill), server.exits) == (1, {})
    Path(waits).unlink()
    wait_for(lambda: server.kill == [], "the drill to be told done")


def test_the_rest_of_a_gang_is_stopped_after_a_bad_exit(node: Node, server: WitnessServer) -> None:
    node.run("sh", "-c", '[ "$RANK" = 1 ] && exit 1; exec sleep 100', ranks=2)
    assert (server.exits[1]["code"], server.exits[1]["stopped_by_us"]) == (1, False)
    assert (server.exits[0]["signal_name"], server.exits[0]["stopped_by_us"]) == ("SIGTERM", True)
    assert server.exits[0]["at"] - server.exits[1]["at"] >= 4.9
    assert server.ended is not None
    assert (server.ended["reason"], server.ended["detail"]) == ("exited", "gang")


def test_files_of_the_node_directory_are_closed_to_others(node: Node) -> None:
    node.run("sh", "-c", "echo hello")
    for path in node.directory.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path}: {mode:o}"


def test_the_token_is_never_written_or_printed(node: Node, server: WitnessServer) -> None:
    server.refuse_with = 500
    node.write_order("sh", "-c", "env; cat /proc/$PPID/cmdline")
    node.start()
    wait_for(lambda: len(server.requests) >= 3, "some refused requests")
    server.refuse_with = None
    assert node.agents[0].wait(60) == 0
    assert b"the-token" not in server.logs[0]
    places = [path for path in node.directory.rglob("*") if path.is_file() and path.name != "token"]
    assert all(b"the-token" not in path.read_bytes() for path in places)


def test_a_second_agent_leaves_while_the_first_lives(node: Node) -> None:
    node.write_order("sleep", "100")
    node.start()
    node.ranks()
    assert node.start().wait(60) == 0
    assert node.agents[0].poll() is None
    lock = node.read("agent.lock")
    assert lock["pid"] == node.agents[0].pid
