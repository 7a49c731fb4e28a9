"""Who stands before a waiting job: whose it is, how many devices it wants, when it is expected to start and end."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.store import jobs, plans

SHOWN = 20


@dataclass(frozen=True, slots=True)
class AheadView:
    """A job before it in line. `starts` and `ends` are the middle of what is expected; None: unknown."""

    job: JobId
    project: str
    owner: str
    priority: Priority
    devices: int
    starts: datetime | None
    ends: datetime | None


def ahead_of(c: Connection, job: JobId) -> list[AheadView]:
    """The first of those before it in line for the same devices, first in line first; of any project."""
    waits = plans.waits(c, job)
    found = (_view(c, other) for other in (waits.ahead[:SHOWN] if waits else ()))
    return [view for view in found if view is not None]


def _view(c: Connection, id: JobId) -> AheadView | None:
    job, waits, expected = jobs.get(c, id), plans.waits(c, id), plans.forecast(c, id)
    if job is None:
        return None
    starts = expected.p50 if expected else None
    length = waits.place.predicted if waits and waits.place else None
    ends = starts + length if starts and length else None
    return AheadView(id, job.spec.project, job.owner, job.spec.priority, job.spec.request.devices, starts, ends)
