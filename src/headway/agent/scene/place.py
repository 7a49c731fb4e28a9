"""Where the ranks work: how full their file systems are, how these are mounted, what their memory group went through.

Nothing here may hang on a dead network disk: each file system is asked in a thread, which is left behind.
"""

from __future__ import annotations

import _thread
import os
import time

from headway.agent import files
from headway.agent.ranks import cgroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.order import Order

_PATIENCE_S = 2.0
_MOST_MOUNTS = 256
_NO_FILES = frozenset(
    {
        "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
        "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs", "selinuxfs",
        "squashfs", "sysfs", "tracefs",
    }
)  # fmt: skip
_COUNTED = ("low", "high", "max", "oom", "oom_kill", "under_oom", "oom_kill_disable")


def seen(order: Order, directory: str) -> dict[str, Any]:
    """`disks` of the places the job writes to, and `memory` of its group."""
    mounts = [line.split() for line in (files.read_text("/proc/self/mounts") or "").splitlines()]
    places = {"/tmp", "/dev/shm", directory, order.workdir or directory, order.checkpoint_dir or directory}
    # A program may write anywhere: every file system that holds files is looked at too.
    places.update(words[1] for words in mounts[:_MOST_MOUNTS] if len(words) > 3 and words[2] not in _NO_FILES)
    return {"disks": _disks(sorted(places), mounts), "memory": _memory()}


def _disks(places: list[str], mounts: list[list[str]]) -> list[dict[str, Any]]:
    """Each place with its mount; without figures where the file system did not answer in time."""
    asked = [(place, _Asked(place)) for place in places]
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and not all(one.done for _, one in asked):
        time.sleep(0.02)
    return [{"path": place, **_mount(place, mounts), **one.found} for place, one in asked]


class _Asked:
    def __init__(self, place: str) -> None:
        self._place = place
        self.found: dict[str, Any] = {"answers": False}
        self.done = False
        _thread.start_new_thread(self._ask, ())

    def _ask(self) -> None:
        try:
            space = os.statvfs(self._place)
            self.found = {
                "answers": True,
                "total_bytes": space.f_blocks * space.f_frsize,
                "free_bytes": space.f_bavail * space.f_frsize,
                "free_files": space.f_favail,
            }
        except OSError as error:
            self.found = {"answers": True, "problem": error.strerror}
        self.done = True


def _mount(place: str, mounts: list[list[str]]) -> dict[str, Any]:
    """The mount a path lies on, by the longest prefix."""
    best = ["", "/", "", ""]
    for words in mounts:
        inside = place == words[1] or place.startswith(words[1].rstrip("/") + "/")
        if inside and len(words[1]) >= len(best[1]):
            best = words
    return {"mount": best[1], "kind": best[2], "read_only": "ro" in best[3].split(",")}


def _memory() -> dict[str, int]:
    """What the memory group counts: uses, limits, kills for want of memory."""
    directory = cgroup.own_directory("memory")
    if directory is None:
        return {}
    found: dict[str, int] = {}
    for name in ("memory.events", "memory.oom_control"):
        for line in (files.read_text(os.path.join(directory, name)) or "").splitlines():
            key, _, value = line.partition(" ")
            if key in _COUNTED and value.strip().isdigit():
                found[key] = int(value)
    for name, kind in (("memory.current", "used"), ("memory.usage_in_bytes", "used"), ("memory.max", "limit")):
        text = (files.read_text(os.path.join(directory, name)) or "").strip()
        if text.isdigit():
            found[f"{kind}_bytes"] = int(text)
    return found
