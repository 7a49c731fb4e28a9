"""Facts about attempts that stand still or are held up: found, explained, over."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalled(Event):
    """Nothing has moved since `since`, longer than `threshold_s` allows; `agreeing`: the evidence besides silence."""

    kind: ClassVar[str] = "stalled"
    job: JobId
    attempt: AttemptId
    since: datetime
    threshold_s: float
    phase: str
    agreeing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StallExplained(Event):
    """What a stalled attempt waits for, by what its agents saw while it hung; `rank` None: nobody stands apart."""

    kind: ClassVar[str] = "stall-explained"
    job: JobId
    attempt: AttemptId
    cause: str
    rank: int | None
    node: str | None
    by_evidence: str | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving(Event):
    """A stalled attempt moves again, after having stood still since `since`."""

    kind: ClassVar[str] = "moving"
    job: JobId
    attempt: AttemptId
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSlow(Event):
    """A rank comes last to its peers' collectives: by `late_s` of the `period_s` from one to the next."""

    kind: ClassVar[str] = "rank-slow"
    job: JobId
    attempt: AttemptId
    rank: int
    node: str | None
    late_s: float
    period_s: float
