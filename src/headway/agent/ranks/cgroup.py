"""The attempt's cgroups, version 1 or 2: enter them, list who is inside, count kills for want of memory."""

from __future__ import annotations

import os

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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
    if directory is None:
        return 0
    for name in ("memory.events", "memory.oom_control"):
        text = files.read_text(os.path.join(directory, name))
        for line in (text or "").splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
    return 0


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


def _existing(*directories: str) -> str | None:
    return next((directory for directory in directories if os.path.isdir(directory)), None)
