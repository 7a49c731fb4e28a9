"""A node directory as an engine makes it, and real agents started on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.agent.witness_server import WitnessServer, wait_for


class Node:
    """One node of an attempt: its directory, its order, and the agents a test has started on it."""

    def __init__(self, directory: Path, server: WitnessServer, zipapp: Path) -> None:
        self.directory = directory
        self.server = server
        self.zipapp = zipapp
        self.agents: list[subprocess.Popen[bytes]] = []
        self.order: dict[str, Any] = {}
        self.workdir = directory.parent

    def write_order(self, *command: str, ranks: int = 1, **changes: Any) -> None:
        """An order for `command` on this node, and the token."""
        self.directory.mkdir(mode=0o711, exist_ok=True)
        self.order = {
            "attempt": f"j-{self.directory.name}-{os.getpid()}.1",
            "job": "j-1",
            "number": 1,
            "node": "n1",
            "node_rank": 0,
            "node_count": 1,
            "server": self.server.url,
            "ca_file": None,
            "launcher": "ranks",
            "command": list(command),
            "workdir": str(self.workdir),
            "env": {},
            "ranks": [{"rank": rank, "local_rank": rank, "devices": []} for rank in range(ranks)],
            "world_size": ranks,
            "master_addr": "127.0.0.1",
            "master_port": 29400,
            "grace_s": 30.0,
            "readings_s": 30.0,
            "report_s": 0.2,
            **changes,
        }
        self._write("order.json", json.dumps(self.order))
        self._write("token", "the-token")

    def start(self, python: str = sys.executable) -> subprocess.Popen[bytes]:
        """Start an agent, as an engine does."""
        command = [python, str(self.zipapp), "run", str(self.directory)]
        agent = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)
        self.agents.append(agent)
        return agent

    def run(self, *command: str, **changes: Any) -> None:
        """Order, start, and wait for the agent to leave in peace."""
        self.write_order(*command, **changes)
        assert self.start().wait(120) == 0

    def read(self, name: str) -> Any:
        """A JSON file of the directory; None where it is not there."""
        path = self.directory / name
        return json.loads(path.read_text()) if path.exists() else None

    def ranks(self, count: int = 1) -> list[dict[str, int]]:
        """Wait until this many ranks are started."""
        wait_for(lambda: len(self.read("ranks.json") or []) == count, f"{count} started ranks")
        return self.read("ranks.json")

    def end(self) -> None:
        """End every agent of this test, and their ranks with them."""
        for agent in self.agents:
            if agent.poll() is None:
                agent.send_signal(signal.SIGKILL)
            agent.wait(60)

    def _write(self, name: str, content: str) -> None:
        path = self.directory / name
        path.write_text(content)
        path.chmod(0o600)


def is_running(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
    except ProcessLookupError:
        return False
