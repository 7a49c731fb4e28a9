"""The processes of each rank: the one that trains and whatever it started, by the kernel's word."""

from __future__ import annotations

import os

from headway.agent import files
from headway.agent.ranks.processes import Process, read_environment, read_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from headway.agent.order import Order

_MOST = 32
# Numbers of system calls that a process can wait in for long, by machine.
_CALLS = {
    "x86_64": {
        0: "read", 1: "write", 2: "open", 7: "poll", 17: "pread64", 19: "readv", 20: "writev", 23: "select",
        35: "nanosleep", 44: "sendto", 45: "recvfrom", 47: "recvmsg", 61: "wait4", 74: "fsync", 75: "fdatasync",
        202: "futex", 230: "clock_nanosleep", 232: "epoll_wait", 257: "openat", 270: "pselect6", 271: "ppoll",
        281: "epoll_pwait",
    },
    "aarch64": {
        56: "openat", 63: "read", 64: "write", 65: "readv", 66: "writev", 67: "pread64", 72: "pselect6", 73: "ppoll",
        82: "fsync", 83: "fdatasync", 98: "futex", 101: "nanosleep", 115: "clock_nanosleep", 206: "sendto",
        207: "recvfrom", 212: "recvmsg", 22: "epoll_pwait", 260: "wait4",
    },
}  # fmt: skip
_ON_DESCRIPTOR = ("read", "write", "pread64", "readv", "writev", "fsync", "fdatasync")
_LONGEST_PATH = 512


def of_ranks(order: Order, running: Mapping[int, int]) -> dict[int, list[Process]]:
    """Each rank's processes that live, its own first. `running`: pid -> rank as the agent started them."""
    if order.launcher != "torchrun":
        return {rank: below(pid) for pid, rank in running.items()}
    found: dict[int, list[Process]] = {}
    for pid in running:
        for process in below(pid)[1:]:
            rank = read_environment(process.pid).get("RANK", "")
            if rank.isdigit():
                found.setdefault(int(rank), []).append(process)
    return found


def below(pid: int) -> list[Process]:
    """A process and what it started, breadth first, at most 32; empty where it is gone."""
    found: list[Process] = []
    waiting = [pid]
    while waiting and len(found) < _MOST:
        one = waiting.pop(0)
        process = read_process(one)
        if process is not None and process.state not in "ZX":
            found.append(process)
            waiting += _children(one)
    return found


def _children(pid: int) -> list[int]:
    """Its children, of whichever of its threads; none where the kernel does not list them."""
    children = []
    for thread in _names(f"/proc/{pid}/task"):
        text = files.read_text(f"/proc/{pid}/task/{thread}/children") or ""
        children += [int(word) for word in text.split()]
    return children


def describe(process: Process) -> dict[str, Any]:
    """What a process does now: its state, the kernel function and system call it waits in, and on which file."""
    call, on = _waits_in(process.pid)
    return {
        "pid": process.pid,
        "parent": process.parent,
        "command": (files.read_text(f"/proc/{process.pid}/comm") or "").strip(),
        "state": process.state,
        "cpu_s": process.used_ticks / os.sysconf("SC_CLK_TCK"),
        "wchan": files.read_text(f"/proc/{process.pid}/wchan") or None,
        "call": call,
        "on": on,
    }


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal: without one it might die of it."""
    for line in (files.read_text(f"/proc/{pid}/status") or "").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def _waits_in(pid: int) -> tuple[str | None, str | None]:
    words = (files.read_text(f"/proc/{pid}/syscall") or "").split()
    if len(words) < 3 or not words[0].isdigit():
        return None, None
    name = _CALLS.get(os.uname().machine, {}).get(int(words[0]), words[0])
    try:
        if name in _ON_DESCRIPTOR:
            return name, os.readlink(f"/proc/{pid}/fd/{int(words[1], 16)}")
        if name in ("open", "openat"):
            return name, _string(pid, int(words[1 if name == "open" else 2], 16))
    except (OSError, ValueError):
        pass
    return name, None


def _string(pid: int, address: int) -> str | None:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        raw = os.pread(memory.fileno(), _LONGEST_PATH, address)
    return raw.partition(b"\0")[0].decode("utf-8", "replace") or None


def _names(directory: str) -> Iterable[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return ()
