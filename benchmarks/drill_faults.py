"""The faults of the live drills, none mocked: how each is put into a running job, and what must be said of it."""

import os
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import drill_disks
from benchmarks.drill_network import Spaces

RANKS = 3
EXIT, STALL, SLOW = "exit", "stall", "slow"
NETWORK, DISK, DEAD = "network", "disk", "dead mount"
MEMORY_LIMIT = 900 << 20
THROTTLED = Path("/sys/fs/cgroup/cpu") / f"headway-drill-{os.getpid()}"
"""A group of the processor controller, version 1."""


@dataclass
class Running:
    """A job in which a fault is to happen: each rank's process and memory groups, and the drill's own folder."""

    folder: Path
    pids: dict[int, int]
    groups: dict[int, list[str]]
    network: Spaces | None = None


@dataclass(frozen=True)
class Kind:
    """A fault: what shows it, the classes that are right, whose move it is; how it happens; what it needs."""

    name: str
    shows: str
    causes: frozenset[str]
    owner: str
    strike: Callable[[Running, int], None]
    at_start: bool = False
    needs: str = ""


def _kill(number: int) -> Callable[[Running, int], None]:
    return lambda running, rank: os.kill(running.pids[rank], number)


def _tell(what: str) -> Callable[[Running, int], None]:
    def strike(running: Running, rank: int) -> None:
        path = running.folder / f"trouble-{rank}"
        (draft := path.with_suffix(".new")).write_text(what)
        draft.rename(path)

    return strike


def _starve(running: Running, rank: int) -> None:
    """Its memory group gets a limit, then it eats."""
    for group in running.groups[rank]:
        for name in ("memory.limit_in_bytes", "memory.max"):
            if (limit := Path(group) / name).exists():
                limit.write_text(str(MEMORY_LIMIT))
    _tell("eat")(running, rank)


def _feed(running: Running, rank: int) -> None:
    os.mkfifo(running.folder / f"feed-{rank}")
    _tell("feed")(running, rank)


def _throttle(running: Running, rank: int) -> None:
    """It gets a fiftieth of a core."""
    THROTTLED.mkdir(exist_ok=True)
    (THROTTLED / "cpu.cfs_quota_us").write_text("2000")
    for task in os.listdir(f"/proc/{running.pids[rank]}/task"):
        (THROTTLED / "tasks").write_text(task)


def _truncate(running: Running, rank: int) -> None:
    """Half of its weights are gone before it starts."""
    import torch

    for number in range(RANKS):
        torch.save({"weight": torch.ones(1 << 18)}, running.folder / f"weights-{number}.pt")
    path = running.folder / f"weights-{rank}.pt"
    os.truncate(path, path.stat().st_size // 2)


def _lock(running: Running, rank: int) -> None:
    drill_disks.make_read_only(running.folder / "disk")
    _tell("fill")(running, rank)


def _unmount(running: Running, rank: int) -> None:
    drill_disks.take_away(running.folder / "disk")
    _tell("fetch")(running, rank)


def _network(how: str) -> Callable[[Running, int], None]:
    def strike(running: Running, rank: int) -> None:
        assert running.network is not None
        getattr(running.network, how)(rank)

    return strike


OPERATOR, RESEARCHER = "operator", "researcher"
KINDS = {
    kind.name: kind
    for kind in (
        Kind("kill -9", EXIT, frozenset({"killed", "HANG_UNKNOWN", "USER_CANCEL"}), OPERATOR, _kill(signal.SIGKILL)),
        Kind("kill -11", EXIT, frozenset({"crashed", "NATIVE_CRASH"}), RESEARCHER, _kill(signal.SIGSEGV)),
        Kind("exception", EXIT, frozenset({"code-error", "USER_CODE_EXC"}), RESEARCHER, _tell("raise")),
        Kind("host OOM", EXIT, frozenset({"host-out-of-memory", "HOST_OOM"}), RESEARCHER, _starve),
        Kind("disk full", EXIT, frozenset({"DISK_FULL"}), OPERATOR, _tell("fill"), needs=DISK),
        Kind("truncated checkpoint", EXIT, frozenset({"CKPT_CORRUPT"}), RESEARCHER, _truncate, at_start=True),
        Kind("SIGSTOP", STALL, frozenset({"HANG_UNKNOWN"}), OPERATOR, _kill(signal.SIGSTOP)),
        Kind("data from a FIFO", STALL, frozenset({"DATA_STALL"}), OPERATOR, _feed),
        Kind("link cut", STALL, frozenset({"RDMA_LINK"}), OPERATOR, _network("cut"), needs=NETWORK),
        Kind("packets dropped", STALL, frozenset({"COMM_TIMEOUT"}), OPERATOR, _network("drop"), needs=NETWORK),
        Kind("read-only disk", EXIT, frozenset({"STORAGE_IO"}), OPERATOR, _lock, needs=DISK),
        Kind("unmounted disk", EXIT, frozenset({"STORAGE_IO"}), OPERATOR, _unmount, needs=DISK),
        Kind("dead mount", STALL, frozenset({"STORAGE_IO"}), OPERATOR, _tell("wait"), needs=DEAD),
        Kind("slow rank", SLOW, frozenset({"THERMAL_SLOW"}), OPERATOR, _throttle),
    )
}


def fresh_folder(home: Path) -> Path:
    """A folder for one drill, which ranks of other users may write to."""
    folder = Path(tempfile.mkdtemp(prefix="drill-", dir=home))
    folder.chmod(0o777)
    return folder
