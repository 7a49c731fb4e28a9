"""A rank that prints without end costs a bounded share of the machine, and what was dropped is said in place."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer, wait_for

SAID = re.compile(rb"\[headway\] dropped (\d+) bytes \((\d+) lines\): over (\d+) bytes (a second|in all)\n")
LINE = b"x" * 99 + b"\n"


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_gigabyte_a_minute_is_kept_within_the_rate_and_counted_exactly(node: Node, server: WitnessServer) -> None:
    lines = 500_000
    limits = {"bytes_per_s": 100_000, "burst_bytes": 200_000, "max_bytes": 1 << 30}
    flood = f"yes {'x' * 99} | head -n {lines}"
    node.run("sh", "-c", flood, log_limits=limits)
    kept = bytes(server.logs[0])
    said = [(int(found[1]), int(found[2])) for found in SAID.finditer(kept)]
    rest = SAID.sub(b"", kept)
    assert len(said) >= 1
    assert rest == LINE * (len(rest) // len(LINE))
    assert len(rest) + sum(size for size, _ in said) == lines * len(LINE)
    assert len(rest) // len(LINE) + sum(count for _, count in said) == lines
    assert len(kept) < 5_000_000
    assert [(one["bytes"], one["lines"], one["why"]) for one in server.dropped] == [(*one, "rate") for one in said]
    places = [found.start() for found in SAID.finditer(kept)]
    assert [one["from"] for one in server.dropped] == places


def test_an_endless_flood_costs_the_agent_a_small_share_and_no_disk(node: Node, server: WitnessServer) -> None:
    limits = {"bytes_per_s": 100_000, "burst_bytes": 200_000, "max_bytes": 300_000}
    node.write_order("yes", "x" * 99, log_limits=limits)
    agent = node.start()
    wait_for(lambda: len(server.reports) >= 3, "some reports")
    before, reports = cpu_seconds(agent.pid), len(server.reports)
    wait_for(lambda: len(server.reports) >= reports + 15, "three seconds of flood")
    spent = cpu_seconds(agent.pid) - before
    took = server.reports[-1]["at"] - server.reports[reports - 1]["at"]
    assert spent / took < 0.35
    spooled = sum(path.stat().st_size for path in (node.directory / "spool").rglob("*.log"))
    assert spooled + len(server.logs[0]) < 1_000_000
    server.stop = {"reason": "user", "grace_s": 5.0}
    assert agent.wait(60) == 0
    kept = bytes(server.logs[0])
    assert len(SAID.sub(b"", kept)) <= 300_000
    assert kept.endswith(b"over 300000 bytes in all\n")


def test_a_flooding_rank_takes_nothing_from_its_neighbour(node: Node, server: WitnessServer) -> None:
    limits = {"bytes_per_s": 100_000, "burst_bytes": 200_000, "max_bytes": 1 << 30}
    both = '[ "$RANK" = 0 ] && exec yes; for i in $(seq 50); do echo line $i; sleep 0.02; done; exec sleep 100'
    node.write_order("sh", "-c", both, ranks=2, log_limits=limits)
    node.start()
    expected = "".join(f"line {number}\n" for number in range(1, 51)).encode()
    wait_for(lambda: server.logs.get(1) == expected, "every line of the quiet rank")
