"""A real `headway-agent node` beside a real server: a card tool on its path, a pipe of kernel lines, kills."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from headway.domain.node_events import NodeFaultSeen, NodeInventoried
from headway.store import facts
from tests.agent.probes.scoring import PRINTOUTS
from tests.live.platform import Platform, opened, wait_until

pytestmark = pytest.mark.live
POWER = "device_power_watts"


def tool(folder: Path, print_out: str) -> Path:
    """A maker's tool that prints what was once recorded; returns the folder to put on the path."""
    folder.mkdir()
    script = folder / "mx-smi"
    script.write_text(f"#!/bin/sh\nexec cat {PRINTOUTS / print_out}\n")
    script.chmod(0o755)
    return folder


@contextmanager
def daemon(platform: Platform, folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The node daemon of n1, ended by its pid."""
    command = [sys.executable, "-m", "headway.agent.main", "node", "--server", platform.api.url, "--node", "n1"]
    command += ["--token-file", str(folder / "token"), "--state", str(folder / "state"), "--every", "0.2", *words]
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def faults_of(platform: Platform) -> list[NodeFaultSeen]:
    with platform.database() as database, database.read() as c:
        return [fact for fact in facts.all(c, kinds={NodeFaultSeen.kind}) if isinstance(fact, NodeFaultSeen)]


def series_of(platform: Platform, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = platform.api.call("GET", f"nodes/n1/readings?name={name}&points=5000")
    return found


@pytest.fixture
def platform() -> Iterator[Platform]:
    """A server of the test's own, on SQLite: what is tested here is the way there."""
    with opened() as platform:
        yield platform


def test_what_a_node_says_while_the_server_is_away_is_recorded_once(
    platform: Platform, shared: Path, tmp_path: Path
) -> None:
    """Two kills of the server, one of the daemon; the kernel goes on talking through all of them."""
    pipe = tmp_path / "kernel"
    os.mkfifo(pipe)
    tool(tmp_path / "bin", "metax/mx-smi-02.txt")
    (tmp_path / "token").write_text(platform.api.call("POST", "nodes/n1/credential", json={})["token"] + "\n")
    codes = iter(range(1, 1000))
    said: list[int] = []

    def kernel_says(count: int) -> None:
        with pipe.open("a") as lines:
            for _ in range(count):
                said.append(next(codes))
                lines.write(
                    f"[{said[-1]}.5] NVRM: Xid (PCI:0000:11:00): {said[-1]}, pid=7, name=python, x\n[1.0] fine\n"
                )

    words = ("--maker", "metax", "--kernel-log", str(pipe), "--mount", str(tmp_path))
    with daemon(platform, tmp_path, *words) as process:
        kernel_says(3)
        wait_until(lambda: len(faults_of(platform)) == 3, "three faults", platform.log_tail)
        platform.kill()
        kernel_says(4)
        wait_until(lambda: kept_faults(tmp_path / "state") == 4, "four faults wait on disk")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert kept_faults(tmp_path / "state") == 4
    with daemon(platform, tmp_path, *words):
        kernel_says(2)
        platform.start()
        platform.wait_until_up()
        wait_until(lambda: len(faults_of(platform)) == 9, "nine faults", platform.log_tail)
        platform.kill()
        platform.start()
        platform.wait_until_up()
        kernel_says(1)
        wait_until(lambda: len(faults_of(platform)) == 10, "ten faults", platform.log_tail)
        wait_until(lambda: not list((tmp_path / "state").glob("*.report"))[3:], "nothing waits any more")
    found = faults_of(platform)
    assert [fault.code for fault in found] == said
    assert all((fault.count, fault.device, fault.pid) == (1, 3, 7) for fault in found)
    (inventory,) = inventories_of(platform)
    assert (inventory.maker, len(inventory.cards), inventory.cards[4].health) == ("metax", 8, "Not Available")
    check_readings(platform, tmp_path)


def kept_faults(state: Path) -> int:
    """How many faults wait on disk."""
    return sum(len(json.loads(path.read_text())["events"]) for path in state.glob("*.report"))


def inventories_of(platform: Platform) -> list[NodeInventoried]:
    with platform.database() as database, database.read() as c:
        return [fact for fact in facts.all(c, kinds={NodeInventoried.kind}) if isinstance(fact, NodeInventoried)]


def check_readings(platform: Platform, folder: Path) -> None:
    """Every card and the machine, each moment once, with samples from before, between and after the kills."""
    powers = series_of(platform, POWER)
    assert [series["device"] for series in powers] == list(range(8))
    assert {point["mean"] for point in powers[0]["points"]} == {298.0}
    for name in (POWER, "cpu_percent", f"mount_used_bytes:{folder}", f"mount_answers:{folder}"):
        for series in series_of(platform, name):
            times = [point["at"] for point in series["points"]]
            assert len(times) == len(set(times))
            assert all(point["count"] == 1 for point in series["points"])
            assert len(times) > 10
