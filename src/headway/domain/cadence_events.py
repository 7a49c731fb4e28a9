"""Facts about how often jobs save, and what of it stays."""

from dataclasses import dataclass
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class CadenceAdvised(Event):
    """A job whose interval is advised saves at another one from now on; `before_s` None: at its first."""

    kind: ClassVar[str] = "cadence-advised"
    job: JobId
    attempt: AttemptId
    every_s: float
    before_s: float | None
    blocking_s: float
    mtbf_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCopied(Event):
    """A whole copy of a checkpoint is in a store (`to`), so many seconds after its save began."""

    kind: ClassVar[str] = "checkpoint-copied"
    job: JobId
    attempt: AttemptId
    step: int
    path: str
    to: str
    storage: str
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDeleted(Event):
    """A checkpoint went, by its job's policy or for want of space (`cause`)."""

    kind: ClassVar[str] = "checkpoint-deleted"
    job: JobId
    step: int
    path: str
    bytes: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPinned(Event):
    """Somebody wants a checkpoint kept, whatever its job's policy or a full disk says."""

    kind: ClassVar[str] = "checkpoint-pinned"
    job: JobId
    step: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointUnpinned(Event):
    """A checkpoint that was pinned stays only as long as its job's policy says."""

    kind: ClassVar[str] = "checkpoint-unpinned"
    job: JobId
    step: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceShort(Event):
    """The file system of a job's checkpoints takes only so many more of its saves; `full_in_s` None: not known."""

    kind: ClassVar[str] = "space-short"
    job: JobId
    saves_left: float
    full_in_s: float | None
