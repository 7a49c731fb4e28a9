"""Facts about recoveries: what was decided on a broken job, and what its failure cost."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.checkpoint import LossBill
from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDecided(Event):
    """Whether the job goes on: `resume` with the devices held until `held_until`, or not, with a reason.

    `avoids`: nodes it is kept away from now, since they broke it. `in_place`: it begins again at once where it was;
    `queued_for`: why that was not possible, where the verdict allowed it. `resume_format`: who wrote the checkpoint it
    goes on from; `other_format`, `other_step`: the newest that another had written, which was passed over.
    """

    kind: ClassVar[str] = "recovery-decided"
    job: JobId
    attempt: AttemptId
    resume: bool
    resume_from: str | None
    resume_step: int
    reason: str
    held_until: datetime | None
    avoids: tuple[str, ...] = ()
    in_place: bool = False
    queued_for: str | None = None
    resume_format: str | None = None
    other_format: str | None = None
    other_step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryMeasured(Event):
    kind: ClassVar[str] = "recovery-measured"
    job: JobId
    bill: LossBill
