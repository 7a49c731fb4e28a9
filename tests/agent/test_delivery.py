"""A server that goes away, forgets, stalls, refuses: nothing is lost and nothing is told twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.node import Node, is_running
from tests.agent.witness_server import WitnessServer, wait_for

TALKER = (
    "import os, sys, time\n"
    "fd = os.open(os.environ['HEADWAY_RANK_DIR'] + '/events.jsonl', os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
    "for step in range(int(sys.argv[1])):\n"
    "    print('line', step, flush=True)\n"
    '    os.write(fd, b\'{"kind":"progress","step":%d}\\n\' % step)\n'
    "    time.sleep(0.002)\n"
)


def assert_all_told_once(server: WitnessServer, lines: int, rank: int = 0) -> None:
    assert server.logs[rank].decode() == "".join(f"line {number}\n" for number in range(lines))
    assert [json.loads(line)["step"] for line in server.events[rank].splitlines()] == list(range(lines))
    assert server.exits[rank]["code"] == 0


def test_a_server_killed_again_and_again_misses_nothing(node: Node, server: WitnessServer) -> None:
    server.fsync = False
    chance = random.Random(7)
    node.write_order(sys.executable, "-c", TALKER, "1500", ranks=2)
    agent = node.start()
    for _ in range(5):
        count = len(server.requests) + chance.randint(1, 6)
        wait_for(lambda: len(server.requests) >= count or agent.poll() is not None, "some requests")  # noqa: B023
        server.down(lose_logs=True)
        server.up()
    assert agent.wait(120) == 0
    for rank in (0, 1):
        assert_all_told_once(server, 1500, rank)


def test_a_server_that_is_away_all_the_while_hears_everything_afterwards(node: Node, server: WitnessServer) -> None:
    server.down()
    node.write_order(sys.executable, "-c", TALKER, "300")
    agent = node.start()
    wait_for(lambda: node.read("final.json"), "the end of the ranks")
    assert node.read("final.json")["delivered"] is False
    assert agent.poll() is None
    server.up()
    assert agent.wait(60) == 0
    assert_all_told_once(server, 300)
    assert node.read("final.json")["delivered"] is True


def test_answers_that_get_lost_double_nothing(node: Node, server: WitnessServer) -> None:
    server.break_off_answers = 4
    node.run(sys.executable, "-c", TALKER, "500", readings_s=0.05)
    assert_all_told_once(server, 500)
    seen = [(one["t"], one["name"], one["rank"]) for one in server.readings]
    assert len(seen) == len(set(seen)) > 0


@pytest.mark.parametrize("status", [500, 503, 401, 403, 404, 422])
def test_a_server_that_refuses_for_a_while_never_stops_a_rank(node: Node, server: WitnessServer, status: int) -> None:
    server.refuse_with = status
    node.write_order(sys.executable, "-c", TALKER, "200")
    agent = node.start()
    wait_for(lambda: len(server.requests) >= 3, "three refused requests")
    server.refuse_with = None
    assert agent.wait(60) == 0
    assert_all_told_once(server, 200)
    assert server.exits[0]["stopped_by_us"] is False


def test_a_slow_server_never_holds_up_a_rank(node: Node, server: WitnessServer) -> None:
    server.stall_s = 3.0
    node.write_order("sh", "-c", "head -c 4000000 /dev/zero | tr '\\0' 'x' | fold -w 99; exit 0", grace_s=1.0)
    node.start()
    wait_for(lambda: node.read("exits.json"), "the rank's end")
    assert server.reports == []
    server.stall_s = 0.0
    assert node.agents[0].wait(60) == 0
    assert len(server.logs[0]) == 4000000 + 4000000 // 99


def test_an_attempt_that_is_over_is_stopped_and_told_no_more(node: Node, server: WitnessServer) -> None:
    node.write_order("sleep", "100")
    agent = node.start()
    (rank,) = node.ranks()
    server.refuse_with = 409
    assert agent.wait(60) == 0
    assert not is_running(rank["pid"])
    assert node.read("final.json")["reason"] == "stopped"
    assert node.read("final.json")["detail"] == "over"


def test_a_stale_kept_connection_is_replaced_without_a_wait(node: Node, server: WitnessServer) -> None:
    node.write_order("sleep", "100", report_s=0.1)
    node.start()
    wait_for(lambda: len(server.reports) >= 2, "two reports")
    with server.lock:
        for connection in list(server._connections):
            connection.close_now()
    count = len(server.reports)
    wait_for(lambda: len(server.reports) > count, "a report on a new connection")
    log = (node.directory / "agent.log").read_text()
    assert "not-delivered" not in log


def test_a_server_that_lost_durable_bytes_for_good_never_holds_the_agent(node: Node, server: WitnessServer) -> None:
    node.write_order("sh", "-c", "echo first; read line < $HEADWAY_RANK_DIR/../../go; echo second")
    os.mkfifo(node.workdir / "go")
    agent = node.start()
    wait_for(lambda: server.logs.get(0) == b"first\n", "the first line")
    wait_for(lambda: not list((node.directory / "spool").rglob("*.log")), "the first line to be durable")
    server.logs.clear()
    server.durable.clear()
    (node.workdir / "go").write_text("on\n")
    assert agent.wait(60) == 0
    assert "stream-lost" in (node.directory / "agent.log").read_text()
    assert server.exits[0]["code"] == 0


def test_logs_that_are_refused_delay_the_end_by_seconds_only(node: Node, server: WitnessServer) -> None:
    server.refuse_logs = True
    node.write_order("sh", "-c", "echo hello")
    agent = node.start()
    wait_for(lambda: server.ended is not None, "the end")
    assert agent.poll() is None
    server.refuse_logs = False
    assert agent.wait(60) == 0
    assert server.logs[0] == b"hello\n"


def test_a_server_behind_tls_is_trusted_by_the_orders_certificates_alone(
    node: Node, server: WitnessServer, tmp_path: Path
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("absent: openssl: makes the test's certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    server.secure(certificate, key)
    address = f"https://localhost:{server.port}"
    node.write_order("sh", "-c", "echo hello", server=address)
    agent = node.start()
    log = node.directory / "agent.log"
    wait_for(lambda: log.exists() and "CERTIFICATE_VERIFY_FAILED" in log.read_text(), "a certificate refused")
    agent.kill()
    agent.wait(60)
    assert server.requests == []
    node.write_order("sh", "-c", "echo hello", server=address, ca_file=str(certificate))
    assert node.start().wait(60) == 0
    assert server.logs[0] == b"hello\n"
