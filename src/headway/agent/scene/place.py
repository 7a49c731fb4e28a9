"""Where the ranks work: how full their file systems are, how these are mounted and were when the ranks started, and
what their memory group went through since. Never waits for a file system by itself (`asking`).
"""

from __future__ import annotations

from headway.agent import files
from headway.agent.ranks import cgroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.order import Order
    from headway.agent.scene.mounts import Mount

_MOST_MOUNTS, _MOST_NAMED = 256, 32
CHECKPOINTS, WORK, NAMED = "checkpoints", "work", "named"


class Place:
    """Remembers what the node was like before its ranks were started; costs a few small reads."""

    def __init__(self, order: Order, directory: str) -> None:
        self._order = order
        self._directory = directory
        self._mountinfo = _mountinfo()
        self._group = cgroup.own_directory("memory")
        self._counted = cgroup.memory_counts(self._group)

    def seen(self) -> dict[str, Any]:
        """`disks` of the places the job uses, and `memory` of its group."""
        from headway.agent.scene import asking, mounts

        before = mounts.read(self._mountinfo)
        now = mounts.read(_mountinfo())
        used = _used(self._order, self._directory)
        # A program may write anywhere: every file system that holds files, or held them, is looked at too.
        others = [mount.point for mount in (*now[:_MOST_MOUNTS], *before[:_MOST_MOUNTS]) if mount.holds_files]
        answers = asking.ask(sorted({*used, *others}))
        disks = [_disk(path, answers.get(path), now, before) for path in sorted({*used, *others})]
        return {"disks": [{**disk, "use": used.get(disk["path"])} for disk in disks], "memory": self._memory()}

    def _memory(self) -> dict[str, int]:
        """What the memory group counted since the ranks started, its use and its limit in bytes."""
        counted = cgroup.memory_counts(self._group)
        since = {name: count - self._counted.get(name, 0) for name, count in counted.items()}
        return {**since, **cgroup.memory_bounds(self._group)}


def used_mounts(order: Order, directory: str) -> list[str]:
    """`kind source` of the mounts of the places the job is known to use, by name alone: no file system is asked."""
    from headway.agent.scene import mounts

    present = mounts.read(_mountinfo())
    held = [mounts.holding(path, present) for path, use in _used(order, directory).items() if use is not None]
    return sorted({f"{mount.kind} {mount.source}" for mount in held if mount is not None})


def file_systems() -> list[dict[str, str]]:
    """Every mount that may hold files, by what tells whether another node sees the same."""
    from headway.agent.scene import mounts

    present = [mount for mount in mounts.read(_mountinfo()) if mount.holds_files]
    return [mount.place() for mount in present[:_MOST_MOUNTS]]


def _disk(path: str, answer: dict[str, Any] | None, now: list[Mount], before: list[Mount]) -> dict[str, Any]:
    """One place with its mount; without figures where its file system did not answer in time."""
    from headway.agent.scene import mounts

    at = path if answer is None else answer.pop("real", path)
    mount = mounts.holding(at, now)
    own = mount.told() if mount is not None else {}
    return {"path": path, **own, **mounts.change(at, before, now), "answers": answer is not None, **(answer or {})}


def _used(order: Order, directory: str) -> dict[str, str | None]:
    """Places the job is known to use, and what for: it may keep checkpoints there, work there, or name them."""
    named = [word.partition("=")[2] if word.startswith("-") else word for word in order.command]
    named += order.env.values()
    used: dict[str, str | None] = {"/tmp": None, "/dev/shm": None}
    used.update((path, NAMED) for path in _paths(named)[:_MOST_NAMED])
    used[order.workdir or directory] = WORK
    used[directory] = used.get(directory)
    used[order.checkpoint_dir or directory] = CHECKPOINTS
    return used


def _paths(words: list[str]) -> list[str]:
    return [word for word in words if word.startswith("/") and word != "/" and not set(word) & set(":\n*?{}")]


def _mountinfo() -> str:
    return files.read_text("/proc/self/mountinfo") or ""
