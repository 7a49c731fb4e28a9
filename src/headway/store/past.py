"""Jobs as they were: what was asked, when, and how long it ran. For rehearsals, and for what is still to come."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select

from headway.domain.ids import JobId
from headway.domain.job import JobKind, JobSpec
from headway.domain.lifecycle import JobState
from headway.scheduler.replay import Past
from headway.scheduler.snapshot import QueuedJob
from headway.store import schema

LOOKED_BACK = timedelta(days=7)
LEAST = timedelta(days=1)
MOST = 2000
"""Submissions that are remembered; a busier site is foretold from a shorter past."""

_a, _j = schema.attempts, schema.jobs
_SUBMITTED = (
    select(_j.c.id, _j.c.spec, _j.c.owner, _j.c.submitted_at)
    .where(_j.c.submitted_at >= bindparam("since"), (_j.c.attempts > 0) | (_j.c.state == JobState.QUEUED))
    .order_by(_j.c.submitted_at.desc(), _j.c.id.desc())
    .limit(MOST)
)
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
        yield Past(asked(id, spec, owner, submitted_at), (submitted_at - first).total_seconds(), seconds[id])


def arrivals(c: Connection, now: datetime) -> tuple[QueuedJob, ...]:
    """What was submitted in the last days and really wanted devices, oldest first: it may come again.

    Nothing before a day of it is known: a few first submissions say nothing of the usual day. Services are no arrivals.
    """
    rows = c.execute(_SUBMITTED, {"since": now - LOOKED_BACK}).all()[::-1]
    found = tuple(
        asked(id, spec, owner, submitted_at)
        for id, spec, owner, submitted_at in rows
        if spec.kind is not JobKind.SERVICE
    )
    if len(rows) < MOST and (not found or now - found[0].submitted_at < LEAST):
        return ()
    return found


def asked(id: JobId, spec: JobSpec, owner: str, submitted_at: datetime) -> QueuedJob:
    """The job as it came into the queue, without what it waited for."""
    return QueuedJob(
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
