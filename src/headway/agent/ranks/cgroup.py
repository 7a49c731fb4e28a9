"""The attempt's cgroups, version 1 or 2: enter them, list who is inside, count kills for want of memory."""

from __future__ import annotations

import os

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_ROOT = "/sys/fs/cgroup"
_NO_LIMIT = 1 << 60
_BYTES = (
    ("memory.current", "used_bytes"),
    ("memory.usage_in_bytes", "used_bytes"),
    ("memory.peak", "peak_bytes"),
    ("memory.max_usage_in_bytes", "peak_bytes"),
)
_COUNTED = ("low", "high", "max", "oom", "oom_kill", "under_oom")


def enter(paths: Sequence[str]) -> list[str]:
    """Move this process into each cgroup; answers what went wrong, one sentence each."""
    problems = []
    for path in paths:
        try:
            with open(os.path.join(path, "cgroup.procs"), "w") as file:
                file.write(str(os.getpid()))
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
    return problems


def pids(paths: Sequence[str]) -> set[int]:
    """Every process inside any of the cgroups."""
    inside: set[int] = set()
    for path in paths:
        text = files.read_text(os.path.join(path, "cgroup.procs"))
        inside.update(int(word) for word in (text or "").split())
    return inside


def oom_kills(directory: str | None) -> int:
    """How often the kernel has killed in this memory cgroup for want of memory; 0 where it does not say."""
    return memory_counts(directory).get("oom_kill", 0)


def memory_counts(directory: str | None) -> dict[str, int]:
    """What a memory cgroup counts, by version 2's names: `max` (its limit was met), `oom`, `oom_kill`, …"""
    found: dict[str, int] = {}
    for name in ("memory.events", "memory.oom_control") if directory else ():
        for line in (files.read_text(os.path.join(str(directory), name)) or "").splitlines():
            key, _, value = line.partition(" ")
            if key in _COUNTED and value.strip().isdigit():
                found[key] = int(value)
    met = _number(directory, "memory.failcnt")
    return found if met is None else {**found, "max": met}


def memory_bounds(directory: str | None) -> dict[str, int]:
    """Bytes: `used_bytes` now, `peak_bytes` at most, and the least `limit_bytes` of the cgroup and those above it."""
    found: dict[str, int] = {}
    for name, key in _BYTES:
        value = _number(directory, name)
        if value is not None:
            found[key] = value
    limits = [limit for above in _upwards(directory) if (limit := _limit(above)) is not None]
    return {**found, "limit_bytes": min(limits)} if limits else found


def cpu_seconds(directory: str) -> float | None:
    """Processor time used in this cgroup; None where it does not count it."""
    version_1 = files.read_text(os.path.join(directory, "cpuacct.usage"))
    if version_1:
        return int(version_1) / 1e9
    for line in (files.read_text(os.path.join(directory, "cpu.stat")) or "").splitlines():
        key, _, value = line.partition(" ")
        if key == "usage_usec":
            return int(value) / 1e6
    return None


def memory_bytes(directory: str) -> float | None:
    """Memory charged to this cgroup; None where it does not count it."""
    for name in ("memory.current", "memory.usage_in_bytes"):
        text = files.read_text(os.path.join(directory, name))
        if text:
            return float(text)
    return None


def own_directory(controller: str) -> str | None:
    """This process's cgroup of a controller (`memory`, `cpuacct`), by its version 1 tree or else the version 2 one."""
    unified = None
    for line in (files.read_text("/proc/self/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return _existing(f"/sys/fs/cgroup/{controllers}{path}", f"/sys/fs/cgroup/{controller}{path}")
        if number == "0":
            unified = _existing(f"/sys/fs/cgroup{path}", f"/sys/fs/cgroup/unified{path}")
    return unified


def _limit(directory: str) -> int | None:
    """Its own limit; None where it has none (version 1 then shows more than any memory)."""
    for name in ("memory.max", "memory.limit_in_bytes"):
        limit = _number(directory, name)
        if limit is not None and limit < _NO_LIMIT:
            return limit
    return None


def _upwards(directory: str | None) -> list[str]:
    """A cgroup and all above it."""
    found = []
    while directory and len(directory) > len(_ROOT):
        found.append(directory)
        directory = os.path.dirname(directory)
    return found


def _number(directory: str | None, name: str) -> int | None:
    text = (files.read_text(os.path.join(directory, name)) or "").strip() if directory else ""
    return int(text) if text.isdigit() else None


def _existing(*directories: str) -> str | None:
    return next((directory for directory in directories if os.path.isdir(directory)), None)
