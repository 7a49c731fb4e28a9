"""The mounts of this node by `/proc/self/mountinfo`, and on which of them a path lies.

Reads text only: nothing here touches a file system that may be dead.
"""

from __future__ import annotations

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_ESCAPED = {"\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"}
_NO_FILES = frozenset(
    {
        "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
        "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs", "selinuxfs",
        "squashfs", "sysfs", "tracefs",
    }
)  # fmt: skip


class Mount:
    """Where a file system hangs, what kind it is, what lies behind it (a device, `server:/path`), which folder of it
    is shown there, and if it is `ro`."""

    __slots__ = ("folder", "kind", "point", "read_only", "source")

    def __init__(self, point: str, kind: str, source: str, folder: str, read_only: bool) -> None:
        self.point = point
        self.folder = folder
        self.kind = kind
        self.source = source
        self.read_only = read_only

    @property
    def holds_files(self) -> bool:
        """Whether a program may keep files there."""
        return self.kind not in _NO_FILES

    def told(self) -> dict[str, Any]:
        """As a scene tells it."""
        return {"mount": self.point, "kind": self.kind, "source": self.source, "read_only": self.read_only}

    def place(self) -> dict[str, str]:
        """As two nodes are compared by."""
        return {"at": self.point, "kind": self.kind, "source": self.source, "folder": self.folder}


def read(text: str) -> list[Mount]:
    """Every mount of a `mountinfo`, in its order; a line of another shape is passed over."""
    found = []
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        own, behind = left.split(" "), right.split(" ")
        if len(own) < 6 or len(behind) < 3:
            continue
        options = {*own[5].split(","), *behind[2].split(",")}
        found.append(Mount(_plain(own[4]), behind[0], _plain(behind[1]), _plain(own[3]), "ro" in options))
    return found


def boot() -> str | None:
    """What all of one running machine, and nothing else, has in common: the kernel's name for this boot."""
    return (files.read_text("/proc/sys/kernel/random/boot_id") or "").strip() or None


def holding(path: str, mounts: Iterable[Mount]) -> Mount | None:
    """The mount a path lies on: the deepest above it, of several at one place the last."""
    best = None
    for mount in mounts:
        if is_below(path, mount.point) and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def is_below(path: str, folder: str) -> bool:
    """Whether a path is this folder or lies in it, by name."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def change(path: str, before: Sequence[Mount], now: Sequence[Mount]) -> dict[str, Any]:
    """`was`: the mount a path lay on before, where that is another now or has become read-only."""
    old, new = holding(path, before), holding(path, now)
    if old is None or new is None:
        return {}
    same = (old.point, old.source) == (new.point, new.source)
    return {} if same and not (new.read_only and not old.read_only) else {"was": old.told()}


def _plain(name: str) -> str:
    for escaped, plain in _ESCAPED.items():
        name = name.replace(escaped, plain)
    return name
