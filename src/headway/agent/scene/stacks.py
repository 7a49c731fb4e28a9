"""The stacks of a rank's Python processes: by py-spy where there is one, else by the in-job SDK's signal.

py-spy reads without stopping the process, and reads a stopped one too. The signal goes only to a process that catches
it; a process that is stopped or held by the kernel does not answer, and then there is no stack.
"""

from __future__ import annotations

import os
import time

from headway.agent import files
from headway.agent.ranks import remains
from headway.agent.scene import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.order import Order
    from headway.agent.ranks.processes import Process

SIGNAL = 40
_PATIENCE_S = 2.0
_SETTLED_S = 0.1
_SPY_S = 8.0
_MOST_BYTES = 128 << 10
_MOST_PROCESSES = 4


def take(order: Order, directory: str, rank: int, processes: list[Process]) -> list[dict[str, Any]]:
    """What could be seen: `{"pid", "source": "py-spy" | "faulthandler", "text"}`, the rank's own process first."""
    spy = _find_spy(order)
    taken = []
    for process in processes[:_MOST_PROCESSES]:
        text = _spied(spy, process.pid) if spy else None
        if text is not None:
            taken.append({"pid": process.pid, "source": "py-spy", "text": text})
        elif (text := _signalled(order, directory, rank, process)) is not None:
            taken.append({"pid": process.pid, "source": "faulthandler", "text": text})
    return taken


def _find_spy(order: Order) -> str | None:
    program = order.command[0]
    beside = [os.path.dirname(program)] if "/" in program else []
    search = order.env.get("PATH", os.environ.get("PATH", os.defpath)).split(":")
    places = [os.path.join(folder, "py-spy") for folder in beside + search if folder.startswith("/")]
    return next((place for place in places if os.access(place, os.X_OK)), None)


def _spied(spy: str, pid: int) -> str | None:
    import subprocess

    command = [spy, "dump", "--nonblocking", "--pid", str(pid)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_SPY_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = done.stdout[:_MOST_BYTES].decode("utf-8", "replace")
    return text if "Thread" in text else None


def _signalled(order: Order, directory: str, rank: int, process: Process) -> str | None:
    """What the process appends to its stacks file when it is asked."""
    if process.state == "T" or not tree.catches(process.pid, SIGNAL):
        return None
    path = _path(order, directory, rank)
    owner = order.user.uid if order.user else None
    start = _size(path)
    remains.send(process, SIGNAL)
    deadline, grew_at, size = time.monotonic() + _PATIENCE_S, 0.0, start
    while (now := time.monotonic()) < deadline and not (grew_at and now - grew_at > _SETTLED_S):
        time.sleep(0.02)
        if (present := _size(path)) > size:
            size, grew_at = present, now
    text = files.read_foreign(path, owner, start, _MOST_BYTES).decode("utf-8", "replace")
    return text or None


def _path(order: Order, directory: str, rank: int) -> str:
    if order.launcher == "torchrun":
        return os.path.join(directory, f"rank-{order.ranks[0].rank}", f"stacks-{rank}.txt")
    return os.path.join(directory, f"rank-{rank}", "stacks.txt")


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
