"""Whether the nodes of a pool see a path that is seen here: by what agents told of their mounts, by what an engine says
is the same everywhere, else not known. Decides by names of mounts alone; never touches a file system.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.domain.carrying import Carried, Carry
from headway.domain.errors import Param

LOCAL = frozenset(
    {"bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"}
)
"""File systems of one machine: the same name and device on another is another one. All others may be shared."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Mount:
    """What hangs at a path: its kind, what lies behind it, and which folder of that is shown."""

    at: str
    kind: str
    source: str
    folder: str = "/"


@dataclass(frozen=True, slots=True)
class Lies:
    """Where a path lies here. `real`: without links; `boot`: the running machine's; None: not known."""

    path: str
    real: str
    boot: str | None = None
    mount: Mount | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What a node's agent last told of its machine and its mounts; `shares`: folders that its engine has the same here
    and on every node."""

    node: str
    boot: str | None = None
    mounts: tuple[Mount, ...] = ()
    shares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """Where the path is to be seen: the nodes of which something is known. `stays`: the job ran under this engine."""

    name: str
    views: tuple[View, ...] = ()
    stays: bool = False


def see(lies: Lies, pool: Pool) -> Carry:
    """Whether the pool's nodes see the path: `no` only where every node that told has something else there."""
    told: dict[str, Param] = {"path": lies.path, "pool": pool.name}
    shares = {_share(lies, view) for view in pool.views}
    if len(shares) == 1 and (share := next(iter(shares))) is not None:
        return Carry("path", Carried.YES, "carry-path-share", {**told, "share": share})
    judged = [(view, sees(lies, view)) for view in pool.views]
    yes, no = ([view for view, seen in judged if seen is wanted] for wanted in (True, False))
    if lies.mount is not None and (yes or no):
        return _by_nodes(told, lies.real, lies.mount, yes, no)
    stays = pool.stays and not judged
    code = "carry-path-same" if stays else "carry-path-other"
    return Carry("path", Carried.YES if stays else Carried.UNSURE, code, told)


def sees(lies: Lies, view: View) -> bool | None:
    """Whether one node sees it; None: what it told does not say."""
    if _share(lies, view) is not None:
        return True
    there = holding(lies.real, view.mounts)
    if lies.mount is None or there is None:
        return None
    if view.boot is not None and view.boot == lies.boot:
        return True if there == lies.mount else None
    if there.kind in LOCAL:
        may_be_one = lies.mount.kind in LOCAL and None in (view.boot, lies.boot)
        return None if may_be_one else False
    return True if there == lies.mount else None


def holding(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """The mount a path lies on: the deepest above it, of several at one place the last."""
    best = None
    for mount in mounts:
        if is_below(path, mount.at) and (best is None or len(mount.at) >= len(best.at)):
            best = mount
    return best


def is_below(path: str, folder: str) -> bool:
    """Whether a path is this folder or lies in it, by name."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _share(lies: Lies, view: View) -> str | None:
    return next((folder for folder in view.shares if is_below(lies.real, folder)), None)


def _by_nodes(told: dict[str, Param], real: str, mount: Mount, yes: list[View], no: list[View]) -> Carry:
    told |= {"kind": mount.kind, "source": mount.source, "seen": len(yes), "unseen": _names(no), "nodes": _names(yes)}
    if not no:
        return Carry("path", Carried.YES, "carry-path-seen", told)
    there = holding(real, no[0].mounts)
    assert there is not None, "who told of nothing there says nothing"
    told |= {"there": f"{there.kind} {there.source}", "shared": _shared(no)}
    if yes:
        return Carry("path", Carried.UNSURE, "carry-path-some", told)
    return Carry("path", Carried.NO, "carry-path-unseen", told)


def _names(views: list[View]) -> str:
    names = [view.node for view in views[:_MOST_NAMED]]
    return ", ".join(names) + (" …" if len(views) > _MOST_NAMED else "")


def _shared(views: list[View]) -> str:
    """Where these nodes have file systems that others may have too: there it could be copied."""
    places = [{mount.at for mount in view.mounts if mount.kind not in LOCAL} for view in views]
    return ", ".join(sorted(set.intersection(*places))[:_MOST_NAMED]) or "—"
