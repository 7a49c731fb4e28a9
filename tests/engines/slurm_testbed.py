"""A real Slurm on this machine for a test session, brought up by `shared/tools/slurm-testbed`, and hands to break it.

Fixtures skip, naming the part, where Slurm's packages or the tool are absent.
"""

import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.engines.local.process import find

NEEDED = ("slurmctld", "slurmd", "sbatch", "munged", "slurmdbd", "mariadbd", "ip")
DEADLINE_S = 120
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


class Testbed:
    """One running cluster. `folder` is short and open to all users; `host` is this machine as its nodes reach it."""

    __test__ = False

    def __init__(self, tool: Path, folder: Path) -> None:
        self._tool, self.folder = tool, folder
        self.conf = folder / "etc" / "slurm.conf"

    @property
    def host(self) -> str:
        """The bridge's address, as the configuration has it."""
        line = next(line for line in self.conf.read_text().splitlines() if line.startswith("SlurmctldHost="))
        return line.partition("(")[2].rstrip(")")

    def tool(self, verb: str, *words: str) -> str:
        """Run one verb of the tool on this cluster."""
        argv = [str(self._tool), verb, "--dir", str(self.folder), *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, *argv: str, check: bool = True, stdin: str = "") -> str:
        """A Slurm command's output, as root."""
        env = {"PATH": f"{os.environ['PATH']}:{SBIN}", "SLURM_CONF": str(self.conf), "SLURM_TIME_FORMAT": "%s"}
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=env, input=stdin)
        assert not check or done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout

    @contextmanager
    def without(self, daemon: str) -> Iterator[None]:
        """One daemon killed for the `with` block."""
        self.tool("kill", daemon)
        yield
        self.tool("up")

    def save(self) -> None:
        """Have slurmctld write down all it knows, by an orderly restart: by itself it does so every few seconds."""
        self._shut_controller()
        self.tool("up", "slurmctld")

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """slurmctld is killed at the end of the `with` block and restarted without what happened in it."""
        state, kept = self.folder / "state", self.folder / "state.kept"
        self._shut_controller()
        shutil.copytree(state, kept)
        self.tool("up", "slurmctld")
        yield
        self.tool("kill", "slurmctld")
        shutil.rmtree(state)
        kept.rename(state)
        self.tool("up", "slurmctld")

    def _shut_controller(self) -> None:
        pid = json.loads((self.folder / "testbed.json").read_text())["procs"]["slurmctld"]["pid"]
        controller = find(pid)
        self.run("scontrol", "shutdown", "slurmctld")
        self.until(lambda: controller is None or not controller.is_alive, "slurmctld to end")

    def states(self) -> dict[str, str]:
        """Each node's state in one word."""
        return dict(line.split() for line in self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%N %T").splitlines())

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for a condition. Fails after a deadline, saying what was awaited."""
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline, f"waited {DEADLINE_S} s for {what}"
            time.sleep(0.2)

    def mend(self) -> None:
        """Everything up, no jobs, no node drained: as at the beginning."""
        self.tool("up")
        self.run("scancel", "--quiet", "--user=root", check=False)
        self.until(lambda: not self.run("squeue", "-h", "-o", "%i").split(), "the queue to be empty")
        for node, state in self.states().items():
            if state.startswith(("drain", "down", "maint")):
                self.run("scontrol", "update", f"nodename={node}", "state=resume", check=False)
        self.until(lambda: set(self.states().values()) == {"idle"}, "all nodes to be idle")


@contextmanager
def running(shared: Path, words: Sequence[str]) -> Iterator[Testbed]:
    """A cluster for the `with` block, and nothing left of it afterwards."""
    path = f"{os.environ['PATH']}:{SBIN}"
    if missing := [name for name in NEEDED if shutil.which(name, path=path) is None]:
        pytest.skip(f"absent: Slurm: no {', '.join(missing)} on PATH")
    if os.geteuid():
        pytest.skip("absent: Slurm: the testbed needs root")
    tool = shared / "tools" / "slurm-testbed"
    name = secrets.token_hex(3)
    testbed = Testbed(tool, Path("/tmp", f"tb-{name}"))
    try:
        testbed.tool("start", "--prefix", f"h{name[:4]}x", *words)
        yield testbed
    finally:
        testbed.tool("stop", "--purge")
