"""Facts about how far a training is: steps, phases, checkpoints, what was restored."""

from dataclasses import dataclass
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressSeen(Event):
    """The newest step of an attempt, recorded at most every few seconds; every step is in the readings."""

    kind: ClassVar[str] = "progress-seen"
    job: JobId
    attempt: AttemptId
    step: int
    total: int | None
    loss: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEntered(Event):
    kind: ClassVar[str] = "phase-entered"
    job: JobId
    attempt: AttemptId
    rank: int
    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSaved(Event):
    kind: ClassVar[str] = "checkpoint-saved"
    job: JobId
    attempt: AttemptId
    step: int
    path: str
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointVerified(Event):
    kind: ClassVar[str] = "checkpoint-verified"
    job: JobId
    step: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRejected(Event):
    kind: ClassVar[str] = "checkpoint-rejected"
    job: JobId
    step: int | None
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Event):
    """A rank loaded a checkpoint; `path` None: it started from step 0."""

    kind: ClassVar[str] = "restored"
    job: JobId
    attempt: AttemptId
    rank: int
    step: int
    path: str | None
    seconds: float
