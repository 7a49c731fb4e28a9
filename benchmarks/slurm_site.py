"""A Slurm site while a benchmark lasts: a testbed, and a server whose jobs run on it. Nothing is left of either.

The testbed comes from `tools/slurm-testbed` of the folder `shared` beside the checkout (or HEADWAY_SHARED).
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.server import DEADLINE_S, PREFIX, PROJECT, free_port, wait_for
from headway.sdk.client.access import find_access
from headway.sdk.client.client import Client
from headway.server import engines
from headway.server.settings import Settings

SHARED = Path(os.environ.get("HEADWAY_SHARED", Path(__file__).resolve().parents[2] / "shared"))
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
TYPE = "h200"


@dataclass(frozen=True)
class Slurm:
    """A running testbed."""

    folder: Path

    @property
    def conf(self) -> Path:
        return self.folder / "etc" / "slurm.conf"

    @property
    def host(self) -> str:
        """This machine as the nodes reach it."""
        line = next(line for line in self.conf.read_text().splitlines() if line.startswith("SlurmctldHost="))
        return line.partition("(")[2].rstrip(")")

    def tool(self, verb: str, *words: str) -> None:
        """One verb of the tool. Raises RuntimeError."""
        argv = [str(SHARED / "tools" / "slurm-testbed"), verb, "--dir", str(self.folder), *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        if done.returncode:
            raise RuntimeError(f"slurm-testbed {verb}: {done.stderr.strip()[-500:]}")

    def run(self, *argv: str, stdin: str = "") -> str:
        """A Slurm command's output, as root. Raises RuntimeError."""
        env = {"PATH": f"{os.environ['PATH']}:{SBIN}", "SLURM_CONF": str(self.conf), "SLURM_TIME_FORMAT": "%s"}
        done = subprocess.run(argv, capture_output=True, text=True, input=stdin, timeout=60, check=False, env=env)
        if done.returncode:
            raise RuntimeError(f"{argv[0]}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def is_empty(self) -> bool | None:
        """Whether no job waits or runs; None instead of no."""
        return None if self.run("squeue", "-h", "-o", "%i").split() else True


@contextmanager
def testbed(words: Sequence[str]) -> Iterator[Slurm]:
    """A testbed started with these words."""
    name = secrets.token_hex(3)
    slurm = Slurm(Path("/tmp", f"tb-{name}"))
    try:
        slurm.tool("start", "--prefix", f"b{name[:4]}x", "--isolation", "net", *words)
        yield slurm
    finally:
        slurm.tool("stop", "--purge")


@contextmanager
def serving(slurm: Slurm, devices: int, **options: str) -> Iterator[tuple[Path, Client]]:
    """A server on the testbed: its home, and a client of an administrator's with a project of so many devices."""
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    home.chmod(0o711)
    port = free_port()
    given = {"share": str(home / "share"), "slurm_conf": str(slurm.conf), "partition": "main"}
    given |= {"server_url": f"http://{slurm.host}:{port}", "python": "/usr/bin/python3"} | options
    engines.add(Settings(home=home), "slurm", given)
    words = [sys.executable, "-m", "headway.server.main", "up", "--home", str(home), "--host", "0.0.0.0"]
    words += ["--port", str(port), "--gateway-port", str(free_port())]
    env = os.environ | {"HEADWAY_SERVER_ENGINES": "slurm"}
    with (home / "server.log").open("wb") as output:
        process = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        client = wait_for(lambda: _client(home, port, process), "the server")
        with client:
            client.create_department("benchmarks")
            client.create_project(PROJECT, "benchmarks")
            client.set_quota(PROJECT, TYPE, devices)
            wait_for(lambda: client.nodes() or None, "a node")
            yield home, client
    finally:
        down = [sys.executable, "-m", "headway.server.main", "down", "--home", str(home)]
        subprocess.run(down, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE_S, check=False)
        process.kill()
        process.wait(DEADLINE_S)
        slurm.run("scancel", "--quiet", "--user=root")
        time.sleep(1)  # what was cancelled may still write to the share
        shutil.rmtree(home, ignore_errors=True)


def _client(home: Path, port: int, process: subprocess.Popen[bytes]) -> Client | None:
    if process.poll() is not None:
        raise RuntimeError((home / "server.log").read_text()[-2000:])
    if not (home / "server.json").exists():
        return None
    access = find_access({"HEADWAY_HOME": str(home)})
    client = Client(f"http://127.0.0.1:{port}", access.token, patience_s=DEADLINE_S)
    client.health()
    return client
