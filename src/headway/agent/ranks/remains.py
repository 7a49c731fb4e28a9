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
    from headway.agent.ranks.processes import Process

_DEADLINE_S = 10.0


def find(order: Order, ranks: Sequence[dict[str, int]]) -> list[Process]:
    """What is left, by pid. `ranks`: entries of `ranks.json`."""
    own = os.getpid()
    grouped = cgroup.pids(order.cgroup)
    left = []
    sessions = {entry["pid"] for entry in ranks if processes.start_ticks(entry["pid"]) in (0, entry["start_ticks"])}
    for pid in processes.all_pids():
        process = processes.read_process(pid) if pid != own else None
        if process is None or process.state == "Z":
            continue
        if pid in grouped or process.parent == own or process.session in sessions or _belongs(pid, order):
            left.append(process)
    return sorted(left, key=lambda process: process.pid)


def find_rank(order: Order, rank: int) -> list[Process]:
    """The processes that torchrun or another launcher started as this rank."""
    found = []
    for pid in processes.all_pids():
        process = processes.read_process(pid) if pid != os.getpid() else None
        env = processes.read_environment(pid) if process else {}
        if process and env.get("RANK") == str(rank) and _is_ours(env, order):
            found.append(process)
    return found


def kill(order: Order, ranks: Sequence[dict[str, int]]) -> list[Process]:
    """SIGKILL what is left until nothing is; answers what would not go within ten seconds."""
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        left = find(order, ranks)
        if not left or time.monotonic() > deadline:
            return left
        for process in left:
            send(process, signal.SIGKILL)
        time.sleep(0.02)


def send(process: Process, number: int) -> None:
    """Signal exactly this process, which may be gone already: another may have its pid by now."""
    held = _hold(process.pid)
    try:
        if processes.start_ticks(process.pid) != process.start_ticks:
            return
        if held is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(held, number)
    except (ProcessLookupError, PermissionError):
        return
    finally:
        if held is not None:
            os.close(held)


def _hold(pid: int) -> int | None:
    """A descriptor that stays this process's, whoever gets the pid; None where the kernel or Python has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _belongs(pid: int, order: Order) -> bool:
    return _is_ours(processes.read_environment(pid), order)


def _is_ours(env: dict[str, str], order: Order) -> bool:
    return env.get("HEADWAY_ATTEMPT") == order.attempt and env.get("HEADWAY_NODE") == order.node
