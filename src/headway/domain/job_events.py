"""Facts about jobs as a whole: submitted, asked to stop, ended."""

from dataclasses import dataclass
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSubmitted(Event):
    """`origin`: the job from whose checkpoint it goes on."""

    kind: ClassVar[str] = "job-submitted"
    job: JobId
    project: str
    name: str
    devices: int
    origin: JobId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRequested(Event):
    kind: ClassVar[str] = "stop-requested"
    job: JobId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnded(Event):
    kind: ClassVar[str] = "job-ended"
    job: JobId
    state: str
    reason: str | None
