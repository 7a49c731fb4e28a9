"""A real server for tests: its home, its ports, its kills; and whatever it leaves behind, gone afterwards.

What is known of it comes over HTTP, from its home's files or from its database, as for anybody else.
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from headway.server import running
from headway.server.settings import Settings
from headway.store.database import Database
from tests.live.api import Api, ServerGone

T = TypeVar("T")
DEADLINE_S = 90.0
POLL_S = 0.05
# Below the kernel's range for outgoing connections: nobody takes the port while the server is down.
PORTS = range(10_000, 19_000)
CGROUPS = ("pids", "memory")


@dataclass(frozen=True)
class Process:
    """A process that is told from a later one with the same pid."""

    pid: int
    start_ticks: int

    @property
    def is_alive(self) -> bool:
        return find_process(self.pid) == self

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            if self.is_alive:
                os.kill(self.pid, signal.SIGKILL)


class Platform:
    """One server on a home of its own, which outlives the server's kills. `python`: the words that start its Python."""

    def __init__(self, home: Path, database_url: str | None = None, nodes: str = "n1:2,n2:2", **settings: object):
        self.home = home
        self.database_url = database_url
        self.nodes = nodes
        self.port, self.gateway_port = free_port(), free_port()
        self.python = [sys.executable]
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self.api = Api(f"http://127.0.0.1:{self.port}", home / "client.json")

    def start(self) -> None:
        """Start the server; whether it answers is another question."""
        own = {f"HEADWAY_SERVER_{key.upper()}": str(value) for key, value in self._settings.items()}
        command = [*self.python, "-m", "headway.server.main", "up", "--home", str(self.home), "--nodes", self.nodes]
        command += ["--port", str(self.port), "--gateway-port", str(self.gateway_port)]
        command += ["--database", self.database_url] if self.database_url else []
        with (self.home / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env=os.environ | own, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self) -> None:
        """kill -9 of the server alone."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def wait_until_up(self) -> None:
        wait_until(self.answers, f"the server at {self.api.url} answers", why=self.log_tail)

    def answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log_tail()
        try:
            return self.api.once("GET", "health").status_code == 200
        except ServerGone:
            return False

    def log_tail(self) -> str:
        """The last words of the server, for a failing test."""
        return (self.home / "server.log").read_text(errors="replace")[-4000:]

    @contextmanager
    def database(self) -> Iterator[Database]:
        """The server's own database."""
        opened = Database(self.database_url or f"sqlite:///{self.home / 'headway.db'}")
        yield opened
        opened.close()

    def node_directory(self, attempt: str, node: str) -> Path:
        return self.home / "run" / attempt / node

    def agent(self, attempt: str, node: str) -> Process:
        """The agent of a node, by the lock it holds; waits until there is one."""
        path = self.node_directory(attempt, node) / "agent.lock"
        known: dict[str, int] = wait_for(lambda: _read_json(path), f"an agent of {attempt} on {node}")
        return Process(known["pid"], known["start_ticks"])

    def ranks(self, attempt: str, node: str) -> list[Process]:
        """The ranks of a node as its agent started them."""
        known = _read_json(self.node_directory(attempt, node) / "ranks.json") or []
        return [Process(entry["pid"], entry["start_ticks"]) for entry in known]

    def close(self) -> None:
        """End the server, the gateway, and every process of every attempt."""
        self.api.close()
        if self._process is not None:
            running.stop(Settings(home=self.home))
            self._process.wait(DEADLINE_S)
        attempts = {path.name for path in (self.home / "run").glob("*")}
        wait_until(lambda: not _kill_all(attempts), "no process of any attempt is left")
        for attempt in attempts:
            _remove_cgroups(attempt)


@contextmanager
def opened(database_url: str | None = None, **settings: Any) -> Iterator[Platform]:
    """A running server with a project to submit to, gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="headway-live-"))
    home.chmod(0o711)
    platform = Platform(home, database_url, **settings)
    try:
        platform.start()
        platform.wait_until_up()
        found_project(platform.api)
        yield platform
    finally:
        platform.close()
        shutil.rmtree(home)


def found_project(api: Api) -> None:
    """A department, the project `nlp` and all the slots it may want."""
    api.call("POST", "departments", json={"name": "research"})
    api.call("POST", "projects", json={"name": "nlp", "department": "research"})
    api.call("PUT", "projects/nlp/quotas/cpu", json={"devices": 16})


def wait_until(is_so: Callable[[], object], what: str, why: Callable[[], object] = str) -> None:
    """Wait for a condition; says what was waited for, and `why()`, when it does not come."""
    wait_for(lambda: is_so() or None, what, why)


def wait_for(find: Callable[[], T | None], what: str, why: Callable[[], object] = str) -> T:
    """Wait for something to be there and return it."""
    deadline = time.monotonic() + DEADLINE_S
    while (found := find()) is None:
        assert time.monotonic() < deadline, f"not within {DEADLINE_S:.0f} s: {what}\n{why()}"
        time.sleep(POLL_S)
    return found


def free_port() -> int:
    """A port that nobody listens on."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def find_process(pid: int) -> Process | None:
    """The process of this pid, unless it has ended (a zombie has)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else Process(pid, int(fields[19]))


def _kill_all(attempts: set[str]) -> int:
    """Kill what belongs to any of these attempts; how many there were."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            attempt = re.search(rb"(?:^|\0)HEADWAY_ATTEMPT=([^\0]+)", (folder / "environ").read_bytes())
            if attempt and attempt[1].decode() in attempts:
                os.kill(int(folder.name), signal.SIGKILL)
                found += 1
    return found


def _remove_cgroups(attempt: str) -> None:
    for controller in CGROUPS:
        for folder, _, _ in os.walk(f"/sys/fs/cgroup/{controller}/headway/{attempt}", topdown=False):
            with suppress(OSError):
                os.rmdir(folder)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None
