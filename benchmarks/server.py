"""A real Headway server for as long as a benchmark lasts: a home of its own, a project with devices, its CPU seconds.

Nothing is left running and nothing is left on disk, whatever happened within.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from headway.engines.local.directory import directories
from headway.sdk.client.access import find_access
from headway.sdk.client.client import Client

PROJECT = "bench"
DEADLINE_S = 120.0
TICKS = os.sysconf("SC_CLK_TCK")
PREFIX = "headway-benchmark-"
T = TypeVar("T")


@dataclass(frozen=True)
class Server:
    """One running server. `client` is an administrator's."""

    home: Path
    pid: int
    client: Client

    def cpu_seconds(self) -> tuple[float, float]:
        """CPU seconds so far: of the server itself, and of the agents it has seen end, with their ranks."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / TICKS, sum(map(int, fields[13:15])) / TICKS

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Not one instruction of the server runs within."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)


@contextmanager
def server(nodes: str, devices: int, core: int | None = None) -> Iterator[Server]:
    """Serve on SQLite and the local engine; with `core` the server, its gateway and its agents stay on that core."""
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    words = [sys.executable, "-m", "headway.server.main", "up", "--home", str(home), "--nodes", nodes]
    words += ["--port", str(free_port()), "--gateway-port", str(free_port())]
    pinned = [] if core is None else ["taskset", "-c", str(core)]
    with (home / "server.log").open("wb") as output:
        process = subprocess.Popen([*pinned, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        client = wait_for(lambda: _client(home, process), "the server")
        with client:
            _make_project(client, devices)
            yield Server(home, process.pid, client)
    finally:
        _end(process, home)
        shutil.rmtree(home, ignore_errors=True)


def wait_for(look: Callable[[], T | None], what: str, every_s: float = 0.02, deadline_s: float = DEADLINE_S) -> T:
    """What `look` finds once it finds something. Raises TimeoutError naming `what`."""
    deadline = time.monotonic() + deadline_s
    while (found := look()) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come within {deadline_s:g} s")
        time.sleep(every_s)
    return found


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _client(home: Path, process: subprocess.Popen[bytes]) -> Client | None:
    if process.poll() is not None:
        raise RuntimeError((home / "server.log").read_text()[-2000:])
    if not (home / "server.json").exists():
        return None
    access = find_access({"HEADWAY_HOME": str(home)})
    client = Client(access.url, access.token, patience_s=DEADLINE_S)
    client.health()
    return client


def _make_project(client: Client, devices: int) -> None:
    client.create_department("benchmarks")
    client.create_project(PROJECT, "benchmarks")
    client.set_quota(PROJECT, "cpu", devices)
    wait_for(lambda: client.nodes() or None, "a node")


def _end(process: subprocess.Popen[bytes], home: Path) -> None:
    """End what was started: the server and its gateway by `down`, agents that live by their own process."""
    down = [sys.executable, "-m", "headway.server.main", "down", "--home", str(home)]
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
    subprocess.run(down, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE_S, check=False)
    if process.poll() is None:
        process.kill()
    process.wait(DEADLINE_S)
    for place in directories(home / "run") if (home / "run").is_dir() else ():
        if agent := place.agent():
            agent.send(signal.SIGKILL)  # its ranks die with it
