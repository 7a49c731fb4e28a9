"""Jobs as they were, for a rehearsal: what was asked, when, and how long it ran in all."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from headway.scheduler.replay import Past
from headway.scheduler.snapshot import QueuedJob
from headway.store import schema

_a, _j = schema.attempts, schema.jobs
_JOBS = (
    select(_j.c.id, _j.c.spec, _j.c.owner, _j.c.submitted_at)
    .where(_j.c.submitted_at >= bindparam("since"), _j.c.submitted_at < bindparam("until"))
    .order_by(_j.c.submitted_at, _j.c.id)
)
_RUNS = (
    select(_a.c.job, _a.c.placed_at, _a.c.ended_at)
    .join(_j, _j.c.id == _a.c.job)
    .where(_j.c.submitted_at >= bindparam("since"), _j.c.submitted_at < bindparam("until"))
)


def jobs(c: Connection, since: datetime, until: datetime) -> list[Past]:
    """Every job submitted in this time that ever had devices, by submission; what still runs ran until now."""
    return list(_jobs(c, since, until))


def _jobs(c: Connection, since: datetime, until: datetime) -> Iterator[Past]:
    seconds: dict[str, float] = defaultdict(float)
    for job, placed_at, ended_at in c.execute(_RUNS, {"since": since, "until": until}):
        seconds[job] += max(0.0, ((ended_at or until) - placed_at).total_seconds())
    first: datetime | None = None
    for id, spec, owner, submitted_at in c.execute(_JOBS, {"since": since, "until": until}):
        if not seconds.get(id):
            continue
        first = first or submitted_at
        asked = QueuedJob(
            id=id,
            name=spec.name,
            project=spec.project,
            owner=owner,
            priority=spec.priority,
            request=spec.request,
            submitted_at=submitted_at,
            template=spec.template,
            limit=spec.limit,
            protected=spec.conditions.protected,
            preemptible=not spec.conditions.protected,
        )
        yield Past(asked, (submitted_at - first).total_seconds(), seconds[id])
