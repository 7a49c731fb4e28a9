"""What is left of an attempt on this node, whoever started it and wherever it hid; and its end.

Sees processes by the attempt's cgroup, by the environment the ranks pass on, by the ranks' sessions, and as children
that this process has adopted from ranks that ended.
Never touches this process, and never a process known by its pid alone.
"""

from __future__ import annotations

import os
import signal
import time

from headway.agent.ranks import cgroup, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from headway.agent.order import Order

_DEADLINE_S = 10.0


def find(order: Order, ranks: Sequence[dict[str, int]]) -> list[int]:
    """The pids of what is left. `ranks`: entries of `ranks.json`."""
    own = os.getpid()
    left = cgroup.pids(order.cgroup)
    sessions = {entry["pid"] for entry in ranks if processes.start_ticks(entry["pid"]) in (0, entry["start_ticks"])}
    for pid in processes.all_pids():
        process = processes.read_process(pid)
        if process is None or process.state == "Z":
            left.discard(pid)
        elif process.parent == own or process.session in sessions or _belongs(pid, order):
            left.add(pid)
    left.discard(own)
    return sorted(left)


def find_rank(order: Order, rank: int) -> list[int]:
    """The processes that torchrun or another launcher started as this rank."""
    found = []
    for pid in processes.all_pids():
        env = processes.read_environment(pid)
        if env.get("RANK") == str(rank) and _is_ours(env, order) and pid != os.getpid():
            found.append(pid)
    return found


def kill(order: Order, ranks: Sequence[dict[str, int]]) -> list[int]:
    """SIGKILL what is left until nothing is; answers what would not go within ten seconds."""
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        left = find(order, ranks)
        if not left or time.monotonic() > deadline:
            return left
        for pid in left:
            send(pid, signal.SIGKILL)
        time.sleep(0.02)


def send(pid: int, number: int) -> None:
    """Signal a process that may be gone already."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _belongs(pid: int, order: Order) -> bool:
    return _is_ours(processes.read_environment(pid), order)


def _is_ours(env: dict[str, str], order: Order) -> bool:
    return env.get("HEADWAY_ATTEMPT") == order.attempt and env.get("HEADWAY_NODE") == order.node
