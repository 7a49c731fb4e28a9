"""Applies a plan to the world it was made from: all of it, or nothing when that world has changed."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import Connection

from headway.domain.attempt import Attempt, Overtaken
from headway.domain.errors import PlatformError
from headway.domain.events import AttemptPlaced
from headway.domain.ids import AttemptId, JobId, attempt_id
from headway.domain.job import Job, JobKind
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.quota import Entry
from headway.metering.entries import OCCUPANCY, RESIDENT
from headway.scheduler.plan import Plan, Start
from headway.store import attempts, facts, grants, holds, jobs, plans, predictions, quota_versions, quotas, world

BY = "server"
NOBODY: "Overtook" = MappingProxyType({})


Overtook = Mapping[JobId, tuple[Overtaken, ...]]


def apply(
    c: Connection, plan: Plan, *, now: datetime, issue_token: Callable[[AttemptId], str], overtook: Overtook = NOBODY
) -> list[Attempt]:
    """Place an attempt for each start and keep the plan's waits; `issue_token` gives the digest of a new token.

    `overtook`: for starts that were let past a promised job, whom (`overdue.overtaken`).

    Raises `conflict` when anything the plan depends on has changed since its snapshot.
    """
    if world.version(c) != plan.version:
        raise PlatformError("conflict", what="the queue")
    placed = [place(c, start, now, issue_token, overtook.get(start.job, ())) for start in plan.starts]
    plans.put_waits(c, plan.waits, now)
    return placed


def place(
    c: Connection,
    start: Start,
    now: datetime,
    issue_token: Callable[[AttemptId], str],
    overtook: tuple[Overtaken, ...] = (),
    since: datetime | None = None,
) -> Attempt:
    """Place one attempt on exactly these devices; that they are free is for the caller to know.

    `since`: it has had them from that moment, when the attempt before it ended, which left them to it.
    """
    job = jobs.move(c, start.job, JobState.STARTING, at=now)
    number = jobs.count_attempt(c, start.job)
    attempt = Attempt(
        id=attempt_id(start.job, number),
        job=start.job,
        number=number,
        engine=start.engine,
        device_type=start.device_type,
        placements=start.placements,
        state=AttemptState.PLACED,
        placed_at=since or now,
        borrowed=start.borrowed,
        overtook=overtook,
    )
    grant = _grant(c, job, attempt, now)
    attempts.insert(c, attempt, issue_token(attempt.id))
    facts.append(c, _fact(job, attempt, grant))
    holds.drop(c, start.job)
    predictions.met(c, start.job, now)
    return attempt


def _fact(job: Job, attempt: Attempt, grant: str | None) -> AttemptPlaced:
    return AttemptPlaced(
        at=attempt.placed_at,
        by=BY,
        job=job.id,
        attempt=attempt.id,
        project=job.spec.project,
        device_type=attempt.device_type,
        placements=attempt.placements,
        basis=RESIDENT if job.spec.kind is JobKind.SERVICE else OCCUPANCY,
        borrowed=attempt.borrowed,
        grant=grant,
    )


def _grant(c: Connection, job: Job, attempt: Attempt, now: datetime) -> str | None:
    """The grant that an attempt stands on: its project has more with it than the table alone guarantees."""
    project, kind = job.spec.project, attempt.device_type
    held = (g for g in grants.approved(c) if (g.project, g.device_type) == (project, kind) and g.grant.holds_at(now))
    granted = next(held, None)
    if granted is None:
        return None
    entry = quota_versions.tree(c, now).entry(project, kind) or Entry()
    used = quotas.used(c).get((project, kind), 0)
    return granted.id if used + attempt.devices > entry.guaranteed else None
