"""Facts about attempts: placed, launched, started, what their agents saw of them, ended and explained."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.attempt import Outcome
from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId
from headway.domain.resources import Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPlaced(Event):
    """Devices are taken from here on; where a job begins again in place, that is when its attempt before ended.

    `basis` says how they are billed: `occupancy` or `resident` time. `borrowed`: they are beyond
    the project's guarantee; `grant`: the approved addition they stand on.
    """

    kind: ClassVar[str] = "attempt-placed"
    job: JobId
    attempt: AttemptId
    project: str
    device_type: str
    placements: tuple[Placement, ...]
    basis: str
    borrowed: bool = False
    grant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLaunched(Event):
    kind: ClassVar[str] = "attempt-launched"
    job: JobId
    attempt: AttemptId
    resume_from: str | None
    resume_step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFailed(Event):
    kind: ClassVar[str] = "launch-failed"
    job: JobId
    attempt: AttemptId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptWaited(Event):
    """A batch system kept the attempt in its own queue: it had no devices before `until`."""

    kind: ClassVar[str] = "attempt-waited"
    job: JobId
    attempt: AttemptId
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted(Event):
    kind: ClassVar[str] = "attempt-started"
    job: JobId
    attempt: AttemptId


@dataclass(frozen=True, slots=True, kw_only=True)
class RankExited(Event):
    kind: ClassVar[str] = "rank-exited"
    job: JobId
    attempt: AttemptId
    rank: int
    node: str
    code: int | None
    signal: int | None
    stopped_by_us: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsDropped(Event):
    kind: ClassVar[str] = "logs-dropped"
    job: JobId
    attempt: AttemptId
    rank: int
    offset: int
    bytes: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilesRemoved(Event):
    """The folders an attempt ran in are gone, so many bytes with them; everything in them had been told long before."""

    kind: ClassVar[str] = "run-files-removed"
    job: JobId
    attempt: AttemptId
    engine: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLost(Event):
    kind: ClassVar[str] = "agent-lost"
    job: JobId
    attempt: AttemptId
    node: str
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndExplained(Event):
    """What the batch system ended a part for, where the agent has told the end itself."""

    kind: ClassVar[str] = "end-explained"
    job: JobId
    attempt: AttemptId
    node: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded(Event):
    """Devices are free from here on."""

    kind: ClassVar[str] = "attempt-ended"
    job: JobId
    attempt: AttemptId
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictReached(Event):
    kind: ClassVar[str] = "verdict-reached"
    job: JobId
    attempt: AttemptId
    fault: str
    owner: str
    rank: int | None
    node: str | None
