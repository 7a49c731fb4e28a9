"""The ranks of this node while they live: started together, reaped as they end, signalled by group.

Under torchrun the table holds one process, torchrun itself, under the node's first rank. Never signals a rank that
has been reaped: its pid may be somebody else's by then.
"""

from __future__ import annotations

import os
import signal
import time

from headway.agent import files
from headway.agent.ranks import cgroup, environment, exits, processes, remains
from headway.agent.ranks.launch import Launcher, Program, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from headway.agent.order import Order, Rank


class Ranks:
    """Every process the agent itself starts for the attempt."""

    def __init__(self, order: Order, directory: str) -> None:
        self._order = order
        self._directory = directory
        self._launcher: Launcher | None = None
        self._memory: str | None = None
        self._oom_kills = 0
        self.running: dict[int, int] = {}
        self.started: list[dict[str, Any]] = []
        self.ended: list[dict[str, Any]] = []
        self._signalled: set[int] = set()

    def witnessed(self) -> list[Rank]:
        """The ranks whose processes the agent starts and sees end: all, or under torchrun the node's first."""
        ranks = list(self._order.ranks)
        return ranks[:1] if self._order.launcher == "torchrun" else ranks

    def rank_dir(self, rank: int) -> str:
        """The rank's own directory."""
        return os.path.join(self._directory, f"rank-{rank}")

    def start(self, package: str, open_output: Callable[[int], int]) -> None:
        """Start all. `open_output` answers the descriptor a rank writes to. Raises StartError, leaving those begun."""
        self._memory = cgroup.own_directory("memory")
        self._oom_kills = cgroup.oom_kills(self._memory)
        self._launcher = Launcher()
        for rank in self.witnessed():
            self._make_rank_dir(rank.rank)
            output = open_output(rank.rank)
            try:
                pid = self._launcher.start(self._program(rank, package), output)
            except StartError as error:
                raise StartError(f"rank {rank.rank}: {error}") from error
            finally:
                os.close(output)
            self.running[pid] = rank.rank
            entry = {"rank": rank.rank, "pid": pid, "start_ticks": processes.start_ticks(pid)}
            self.started.append({**entry, "started_at": time.time()})
            self._write("ranks.json", [{key: rank[key] for key in entry} for rank in self.started])

    def reap(self, at: float) -> list[dict[str, Any]]:
        """The exits of the ranks that have ended since the last call; adopted orphans are reaped in passing."""
        new = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid in self.running:
                new.append(self._ended(pid, status, at))
        if new:
            self.ended += new
            self._write("exits.json", self.ended)
        return new

    def tell(self, name: str, value: object) -> list[str]:
        """Put a JSON file into every rank's directory; one that a rank has taken away is passed over.

        Returns the paths of those written.
        """
        told = []
        for rank in self.witnessed():
            path = os.path.join(self.rank_dir(rank.rank), name)
            try:
                files.write_json(path, value, 0o644)
            except OSError:
                continue
            told.append(path)
        return told

    def signal(self, number: int) -> None:
        """Signal the group of every rank that still runs; their exits will say that the agent stopped them."""
        for pid, rank in self.running.items():
            self._signalled.add(rank)
            _signal_group(pid, number)

    def strike(self, rank: int, number: int) -> None:
        """A drill: signal one rank's processes without any warning, as a fault would."""
        if self._order.launcher == "torchrun":
            for process in remains.find_rank(self._order, rank):
                remains.send(process, number)
        for pid, running in self.running.items():
            if running == rank and self._order.launcher == "ranks":
                _signal_group(pid, number)

    def strike_all(self) -> None:
        """A drill: everything of the attempt on this node dies at once, as a node takes it along."""
        for process in remains.find(self._order, self.started):
            remains.send(process, signal.SIGKILL)

    def left(self) -> list[processes.Process]:
        """What the ranks left behind on this node after their own end."""
        if self._launcher is not None and self._launcher.adopts and not _has_children():
            return []
        return remains.find(self._order, self.started)

    def _ended(self, pid: int, status: int, at: float) -> dict[str, Any]:
        rank = self.running.pop(pid)
        record = exits.record_exit(rank, status, at)
        record["stopped_by_us"] = rank in self._signalled
        if self._may_be_oom(record):
            record["oom_kill"] = cgroup.oom_kills(self._memory) > self._oom_kills
        owner = self._order.user.uid if self._order.user else None
        record["error"] = exits.read_error(self.rank_dir(rank), owner)
        return record

    def _may_be_oom(self, record: dict[str, Any]) -> bool:
        """A kill seen here, told by a shell (137), or hidden behind torchrun in a cgroup of the attempt's own."""
        if record["stopped_by_us"] or not exits.went_badly(record):
            return False
        hidden = self._order.launcher == "torchrun" and self._memory in self._order.cgroup
        return record["signal"] == signal.SIGKILL or record["code"] == 128 + signal.SIGKILL or hidden

    def _program(self, rank: Rank, package: str) -> Program:
        order = self._order
        rank_dir = self.rank_dir(rank.rank)
        if order.launcher == "torchrun":
            env = environment.torchrun_environment(order, rank_dir, package, os.environ)
            command = environment.torchrun_command(order, rank_dir)
        else:
            env = environment.rank_environment(order, rank, rank_dir, package, os.environ)
            command = list(order.command)
        return Program(command, env, order.workdir or rank_dir, order.user)

    def _make_rank_dir(self, rank: int) -> None:
        path = self.rank_dir(rank)
        os.makedirs(path, 0o700, exist_ok=True)
        if self._order.user is not None and os.geteuid() == 0:
            os.chown(path, self._order.user.uid, self._order.user.gid)

    def _write(self, name: str, value: object) -> None:
        files.write_json(os.path.join(self._directory, name), value)


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _has_children() -> bool:
    """Whether this process has any child, adopted ones included."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
