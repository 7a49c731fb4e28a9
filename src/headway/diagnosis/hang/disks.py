"""Which file systems did not answer while an attempt hung, and which ranks wait for them.

A mount that nobody of the job uses proves nothing: nodes keep dead ones for years.
"""

from collections.abc import Sequence

from headway.diagnosis.hang.scene import RankSeen, Scene


def silent(scene: Scene | None, rank: RankSeen | None = None) -> str | None:
    """A mount that did not answer: one that a process of the rank waits for a file on, else one that the job uses."""
    if scene is None:
        return None
    waits = [process.on for process in rank.processes if process.on and process.on.startswith("/")] if rank else []
    mounts = {str(disk["mount"]): disk for disk in scene.disks if disk.get("answers") is False and disk.get("mount")}
    waited = [mount for mount in mounts if any(_is_below(path, mount) for path in waits)]
    used = [mount for mount, disk in mounts.items() if disk.get("use")]
    return next(iter((*waited, *used)), None)


def waiting(scenes: Sequence[Scene]) -> dict[int, str]:
    """The mount that each rank waits for: whose processes wait for a file there, else all of a node that uses it."""
    found: dict[int, str] = {}
    for scene in scenes:
        there = {rank.rank: mount for rank in scene.ranks if (mount := silent(scene, rank))}
        named = {rank.rank for rank in scene.ranks if rank.rank in there and _waits_below(rank, there[rank.rank])}
        found |= {rank: mount for rank, mount in there.items() if not named or rank in named}
    return found


def _waits_below(rank: RankSeen, mount: str) -> bool:
    return any(process.on is not None and _is_below(process.on, mount) for process in rank.processes)


def _is_below(path: str, mount: str) -> bool:
    return f"{path}/".startswith(f"{mount.rstrip('/')}/")
