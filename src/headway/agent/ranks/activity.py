"""What each rank's processes do between two samples: processor time, bytes through files, whether they are held.

A rank is its own process and whatever it started: a rank may idle while its data loaders work.
"""

from __future__ import annotations

import os

from headway.agent import files
from headway.agent.scene import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from headway.agent.order import Order
    from headway.agent.ranks.processes import Process


_FAR = (
    *("beegfs", "ceph", "cifs", "cl_", "fuse", "gpfs", "ldlm_", "ll_", "netfs", "nfs", "osc_", "p9_", "ptlrpc"),
    *("request_wait_answer", "rpc_", "smb"),
)
"""How the kernel's functions begin in which processes wait for the network file systems that there are."""


class Activity:
    """The ranks of one node; the first sample of a process has no rate."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._ticks_per_s = os.sysconf("SC_CLK_TCK")
        self._before: dict[int, tuple[float, int, int | None]] = {}

    def sample(self, running: Mapping[int, int], clock: float, at: float) -> list[dict[str, object]]:
        """Readings with `rank`. `running`: pid -> rank; `clock`: monotonic; `at`: epoch seconds."""
        before, self._before = self._before, {}
        readings = []
        for rank, processes in tree.of_ranks(self._order, running).items():
            for name, value in self._rank(processes, before, clock):
                readings.append({"t": at, "name": name, "rank": rank, "device": None, "value": round(value, 3)})
        return readings

    def _rank(
        self, processes: list[Process], before: dict[int, tuple[float, int, int | None]], clock: float
    ) -> list[tuple[str, float]]:
        cpu = moved = 0.0
        known = counted = False
        for process in processes:
            now = (clock, process.used_ticks, _bytes_through_files(process.pid))
            self._before[process.pid] = now
            then = before.get(process.pid)
            if then is None or clock <= then[0]:
                continue
            known = True
            cpu += (now[1] - then[1]) / self._ticks_per_s / (clock - then[0])
            if now[2] is not None and then[2] is not None:
                counted = True
                moved += max(0, now[2] - then[2]) / (clock - then[0])
        states = "".join(process.state for process in processes)
        far = sum(process.state == "D" and _waits_far(process.pid) for process in processes)
        found = [("processes_stopped", float(states.count("T"))), ("processes_held", float(states.count("D")))]
        found += [("processes_held_remotely", float(far))]
        found += [("processes_cpu_percent", 100 * cpu)] if known else []
        return found + ([("file_bytes_per_s", moved)] if counted else [])


def _waits_far(pid: int) -> bool:
    """Whether the kernel holds it for a file system that lies on no disk of this node."""
    return (files.read_text(f"/proc/{pid}/wchan") or "").startswith(_FAR)


def _bytes_through_files(pid: int) -> int | None:
    """What it read and wrote by system calls, whatever lies behind them; None where that may not be read."""
    counts = {}
    for line in (files.read_text(f"/proc/{pid}/io") or "").splitlines():
        name, _, value = line.partition(": ")
        counts[name] = int(value)
    return counts["rchar"] + counts["wchar"] if "rchar" in counts else None
