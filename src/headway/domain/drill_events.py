"""Facts about drills: what was ordered, and how it came out."""

from dataclasses import dataclass
from typing import ClassVar

from headway.domain.drill import Score
from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillOrdered(Event):
    """`kill`: what is broken; `at_step`: not before that step; `shadow_of`: the job is a copy of that one."""

    kind: ClassVar[str] = "drill-ordered"
    job: JobId
    attempt: AttemptId
    drill: str
    rank: int
    kill: str = "rank"
    at_step: int | None = None
    shadow_of: JobId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillScored(Event):
    kind: ClassVar[str] = "drill-scored"
    job: JobId
    drill: str
    score: Score
