"""The Slurm engine under test: a real cluster with two types of devices, and real agents."""

import os
import shlex
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from headway.engines.local.process import Process, find
from headway.engines.protocol import LaunchOrder
from headway.engines.slurm.engine import SlurmEngine
from headway.engines.slurm.settings import SlurmSettings
from tests.engines.contract import Plan, Subject
from tests.engines.machine import SCRIPTS, Clock
from tests.engines.recorder import Recorder
from tests.engines.slurm_testbed import Testbed


class SlurmSubject(Subject):
    """An engine on a testbed whose first two nodes have `device_type`."""

    patience_s = 120.0

    def __init__(self, folder: Path, testbed: Testbed, agent: Path, recorder: Recorder) -> None:
        self.folder, self.testbed = folder, testbed
        names = sorted(testbed.states())
        self.nodes = (names[0], names[1])
        self.all_nodes = names
        self.device_type = "h200"
        self.server_url = recorder.url
        self.clock = Clock()
        self.settings = SlurmSettings(
            records=folder / "records",
            share=folder / "share",
            agent=agent,
            python="/usr/bin/python3",
            slurm_conf=str(testbed.conf),
            look=(timedelta(seconds=0.3), timedelta(seconds=0.3)),
            settle=timedelta(seconds=5),
            report=timedelta(seconds=0.5),
        )
        self.reopen()

    def change(self, **fields: object) -> None:
        """Open the engine anew with other settings."""
        self.settings = replace(self.settings, **fields)  # type: ignore[arg-type]
        self.reopen()

    def command(self, plan: Plan, attempt: str) -> tuple[str, ...]:
        return ("sh", "-c", f"echo start >> {shlex.quote(str(self._marker(attempt)))}; {SCRIPTS[plan]}")

    def on(self, order: LaunchOrder, *nodes: str) -> LaunchOrder:
        """The same order for other nodes."""
        return replace(
            order, nodes=tuple(replace(part, node=node) for part, node in zip(order.nodes, nodes, strict=True))
        )

    def wait(self) -> None:
        time.sleep(0.1)

    def reopen(self) -> None:
        self.engine = SlurmEngine(self.settings, self.clock)

    def kill_agents(self, attempt: str) -> None:
        agents = self._agents(attempt)
        assert agents
        for agent in agents:
            agent.send(signal.SIGKILL)

    def starts(self, attempt: str) -> int:
        marker = self._marker(attempt)
        return len(marker.read_text().splitlines()) if marker.exists() else 0

    def alive(self, attempt: str) -> Sequence[Process]:
        """Ranks and what they started, on any node: pids as this machine sees them."""
        agents = self._agents(attempt)
        mark = f"HEADWAY_ATTEMPT={attempt}".encode()
        return [process for process in _processes("environ", mark) if process not in agents]

    def _agents(self, attempt: str) -> list[Process]:
        return [found for found in _processes("cmdline", f"/{attempt}/".encode()) if _is_agent(found.pid)]

    def _marker(self, attempt: str) -> Path:
        return self.folder / f"starts-{attempt}"


def _processes(file: str, text: bytes) -> list[Process]:
    found = [find(int(name)) for name in os.listdir("/proc") if name.isdecimal() and text in _read(name, file)]
    return [process for process in found if process and process.pid != os.getpid()]


def _is_agent(pid: int) -> bool:
    words = _read(str(pid), "cmdline").split(b"\0")
    return len(words) > 2 and words[1].endswith(b".pyz") and words[2] == b"run"


def _read(pid: str, file: str) -> bytes:
    try:
        return Path("/proc", pid, file).read_bytes()
    except OSError:
        return b""
