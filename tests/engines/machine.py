"""The local engine under test: real processes of this machine, all of them ended when the test ends."""

import shlex
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headway.domain.ids import AttemptId
from headway.engines.local import cgroups
from headway.engines.local.directory import NodeDirectory, directories
from headway.engines.local.engine import LocalEngine
from headway.engines.local.process import Process, reap
from headway.engines.local.settings import LocalSettings, VirtualNode
from headway.engines.local.sweep import left
from tests.engines.contract import Plan, Subject

STAND_IN = Path(__file__).with_name("stand_in_agent.py")
SCRIPTS = {
    Plan.RUNS: "exec sleep 600",
    Plan.SUCCEEDS: "exit 0",
    Plan.FAILS: "exit 3",
    Plan.IGNORES_SIGTERM: "trap '' TERM; while :; do sleep 0.1; done",
    Plan.STRAYS: "setsid sleep 600 & exec sleep 600",
}


class Clock:
    """The machine's clock, and what a test adds to it."""

    def __init__(self) -> None:
        self._ahead = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)


class LocalSubject(Subject):
    """A local engine with two virtual nodes of two CPU slots."""

    nodes = ("n1", "n2")
    device_type = "cpu"

    def __init__(self, folder: Path, agent: Path | tuple[str, ...] = STAND_IN, *, grouped: bool = True) -> None:
        self.folder = folder
        nodes = tuple(VirtualNode(name, 2) for name in self.nodes)
        settings = LocalSettings(folder / "run", agent, nodes=nodes)
        self.settings = settings if grouped else replace(settings, cgroup_root=None)
        self.clock = Clock()
        self.engine = LocalEngine(self.settings, self.clock)

    def command(self, plan: Plan, attempt: str) -> tuple[str, ...]:
        return ("sh", "-c", f"echo start >> {shlex.quote(str(self._marker(attempt)))}; {SCRIPTS[plan]}")

    def wait(self) -> None:
        time.sleep(0.05)

    def reopen(self) -> None:
        self.engine = LocalEngine(self.settings, self.clock)

    def kill_agents(self, attempt: str) -> None:
        for place in self.places(attempt):
            agent = place.agent()
            assert agent is not None
            agent.send(signal.SIGKILL)

    def starts(self, attempt: str) -> int:
        marker = self._marker(attempt)
        return len(marker.read_text().splitlines()) if marker.exists() else 0

    def alive(self, attempt: str) -> Sequence[Process]:
        """Ranks and what they started; an agent that still delivers is none of it."""
        agents = [place.agent() for place in self.places(attempt)]
        found = {process for place in self.places(attempt) for process in left(attempt, place.node, place.groups)}
        return [process for process in found if process not in agents and process.is_alive]

    def places(self, attempt: str) -> list[NodeDirectory]:
        return [place for place in directories(self.settings.run_dir) if place.attempt == attempt]

    def place(self, attempt: str, node: str = "n1") -> NodeDirectory:
        return NodeDirectory(self.settings.run_dir, AttemptId(attempt), node)

    def close(self) -> None:
        """End every process of every attempt of this test, each by pid and start time."""
        deadline = time.monotonic() + 60
        places = list(directories(self.settings.run_dir))
        while found := [process for place in places for process in left(place.attempt, place.node, place.groups)]:
            assert time.monotonic() < deadline, found
            for process in found:
                process.send(signal.SIGKILL)
            time.sleep(0.01)
            reap()
        for place in places:
            cgroups.remove(place.groups)

    def _marker(self, attempt: str) -> Path:
        return self.folder / f"starts-{attempt}"
