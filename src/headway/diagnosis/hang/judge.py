"""Says of a stalled attempt what it waits for: the class of the cause, the rank, and by which evidence.

Stopped processes, links and silent connections speak for themselves; otherwise the class follows from what the rank
that is waited for does. Abstains from a rank where nothing singles one out; then the hang has a class of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.diagnosis.cause import Cause
from headway.diagnosis.hang import disks, network, stacks
from headway.diagnosis.hang.scene import ProcessSeen, Scene
from headway.diagnosis.hang.stacks import Stage
from headway.diagnosis.hang.suspect import Everyone, Suspect, everyone, find, main_process
from headway.domain.errors import BETWEEN, say

_PIPES = ("pipe:[", "fifo")
_READS = frozenset({"read", "pread64", "readv", "open", "openat"})
_WRITES = frozenset({"write", "writev", "fsync", "fdatasync"})
_BY_ITSELF = {"stopped": Cause.HANG_UNKNOWN, "link": Cause.RDMA_LINK, "connections": Cause.COMM_TIMEOUT}


@dataclass(frozen=True, slots=True)
class Hang:
    """What a stalled attempt waits for. `rank` None: the evidence names nobody. `by`: which evidence did."""

    cause: Cause
    rank: int | None
    node: str | None
    confidence: float
    detail: str
    by: str | None = None
    location: str | None = None
    followers: tuple[int, ...] = ()


def judge(scenes: Sequence[Scene]) -> Hang:
    """What the attempt waits for, from the scenes of one look."""
    seen = everyone([scene for scene in scenes if scene.kind == "stall"])
    suspect = find(seen)
    if suspect is None:
        return _nobody(seen)
    rank = suspect.ranks[0] if len(suspect.ranks) == 1 else None
    frames = seen.frames.get(suspect.ranks[0], ())
    cause, more = _cause(seen, suspect)
    return Hang(
        cause=cause,
        rank=rank,
        node=_node(seen, suspect),
        confidence=0.9 if rank is not None else 0.6,
        detail=BETWEEN.join([suspect.detail, *([more] if more else [])]),
        by=suspect.by,
        location=stacks.own_location(frames),
        followers=tuple(sorted(set(seen.ranks) - set(suspect.ranks))),
    )


def _cause(seen: Everyone, suspect: Suspect) -> tuple[Cause, str | None]:
    """The class, and what was seen of the rank that led to it."""
    if suspect.by in _BY_ITSELF:
        return _BY_ITSELF[suspect.by], None
    rank = suspect.ranks[0]
    silent = disks.silent(seen.scene_of(rank), seen.ranks.get(rank))
    if silent is not None:
        return Cause.STORAGE_IO, None if suspect.by == "disk" else say("hang-disk-silent", mount=silent)
    stage = stacks.stage(seen.frames.get(rank, ()))
    process = _waiting(seen, rank)
    waits = say("hang-waits", call=process.call, on=process.on) if process and process.on else None
    if suspect.by == "desync":
        return Cause.COLLECTIVE_DESYNC, None
    if stage is Stage.DATA:
        return Cause.DATA_STALL, waits or say("hang-loading")
    if stage is Stage.SAVING or (process and process.call in _WRITES):
        return Cause.STORAGE_IO, waits or say("hang-saving")
    if process and process.call in _READS and process.on:
        return Cause.DATA_STALL, waits
    if suspect.by == "held":
        return Cause.STORAGE_IO, waits
    return Cause.HANG_UNKNOWN, waits


def _waiting(seen: Everyone, rank: int) -> ProcessSeen | None:
    """The process of a rank that waits on a file that has a name, its own first."""
    processes = seen.ranks[rank].processes
    named = [one for one in processes if one.on and one.on.startswith("/")]
    return next(iter(named), main_process(seen.ranks[rank]))


def _node(seen: Everyone, suspect: Suspect) -> str | None:
    """The node of the suspects, where it is one."""
    nodes = {seen.nodes[rank] for rank in suspect.ranks if rank in seen.nodes}
    return nodes.pop() if len(nodes) == 1 else None


def _nobody(seen: Everyone) -> Hang:
    """All are alike. Silent connections then say that it is the network, and between whom."""
    pairs = network.broken(seen.scenes)
    if pairs:
        said = ", ".join(f"{one}-{other}" for one, other in pairs[:4])
        return Hang(Cause.COMM_TIMEOUT, None, None, 0.6, say("hang-network", pairs=said))
    mounts = {disks.silent(scene) for scene in seen.scenes}
    if None not in mounts and mounts:
        return Hang(
            Cause.STORAGE_IO, None, None, 0.7, say("hang-disk-silent", mount=" ".join(sorted(map(str, mounts))))
        )
    return Hang(Cause.HANG_UNKNOWN, None, None, 0.3, say("hang-nobody"))
