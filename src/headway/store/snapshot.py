"""Builds the scheduler's view: everything a plan depends on, at one moment and of one version."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select

from headway.domain.attempt import Outcome
from headway.domain.ids import JobId
from headway.domain.job import JobSpec
from headway.domain.lifecycle import AttemptState, JobState
from headway.scheduler.snapshot import QueuedJob, RunningJob, Runtimes, Snapshot
from headway.store import holds, nodes, quotas, schema, world
from headway.store.foreign import foreign

RUNS_A_TEMPLATE = 200
FURTHEST = timedelta(days=36525)

_a, _j = schema.attempts, schema.jobs
_RUNNING = (
    select(
        _a.c.id.label("attempt"),
        _a.c.job,
        _a.c.device_type,
        _a.c.placements,
        _a.c.placed_at,
        _a.c.started_at,
        _a.c.resume_step,
        _a.c.step,
        _a.c.step_at,
        _j.c.total,
        _j.c.spec,
        _j.c.owner,
    )
    .join(_j, _j.c.id == _a.c.job)
    .where(_a.c.state != AttemptState.ENDED)
    .order_by(_a.c.placed_at, _a.c.id)
)
_QUEUED = (
    select(_j.c.id, _j.c.spec, _j.c.owner, _j.c.submitted_at, _j.c.attempts)
    .where(_j.c.state == JobState.QUEUED)
    .order_by(_j.c.submitted_at, _j.c.id)
)
_RANKED = (
    select(
        _j.c.template,
        _a.c.started_at,
        _a.c.ended_at,
        func.row_number().over(partition_by=_j.c.template, order_by=_a.c.ended_at.desc()).label("age"),
    )
    .join(_j, _j.c.id == _a.c.job)
    .where(_a.c.outcome == Outcome.SUCCEEDED, _a.c.started_at.is_not(None), _a.c.ended_at.is_not(None))
    .subquery()
)
_RUNS = select(_RANKED.c.template, _RANKED.c.started_at, _RANKED.c.ended_at).where(_RANKED.c.age <= RUNS_A_TEMPLATE)


def take(c: Connection, now: datetime) -> Snapshot:
    """Everything a plan made now depends on. The version is read first: what changes later makes the plan stale."""
    version = world.version(c)
    live = tuple(_running(row, now) for row in c.execute(_RUNNING))
    return Snapshot(
        version=version,
        now=now,
        nodes=tuple(nodes.all(c)),
        running=(*live, *foreign(c, now, live)),
        queued=tuple(_queued(*row) for row in c.execute(_QUEUED)),
        quotas={(quota.project, quota.device_type): quota.devices for quota in quotas.quotas(c)},
        holds=tuple(holds.all(c, now)),
    )


def runtimes(c: Connection) -> Runtimes:
    """How long succeeded attempts ran, by template: the last 200 of each, in seconds, sorted."""
    seconds: dict[str, list[float]] = {}
    for template, started_at, ended_at in c.execute(_RUNS):
        seconds.setdefault(template, []).append((ended_at - started_at).total_seconds())
    return Runtimes({template: tuple(sorted(runs)) for template, runs in seconds.items()})


def _queued(id: JobId, spec: JobSpec, owner: str, submitted_at: datetime, attempts: int) -> QueuedJob:
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
        resuming=attempts > 0,
    )


def _running(row: Any, now: datetime) -> RunningJob:
    return RunningJob(
        id=row.job,
        attempt=row.attempt,
        name=row.spec.name,
        project=row.spec.project,
        owner=row.owner,
        priority=row.spec.priority,
        device_type=row.device_type,
        placements=row.placements,
        placed_at=row.placed_at,
        template=row.spec.template,
        limit=row.spec.limit,
        expected_end=_expected_end(row, now),
    )


def _expected_end(row: Any, now: datetime) -> datetime | None:
    """From the rate since the start, which counts the time before the first step too; never in the past.

    A program may name any total: an end more than a century away is unknown, and must not stop everybody's plan.
    """
    if row.step is None or row.total is None or row.started_at is None:
        return None
    seen_at = row.step_at or now
    done = row.step - row.resume_step
    if done <= 0 or seen_at <= row.started_at:
        return None
    pace: timedelta = (seen_at - row.started_at) / done
    left = row.total - row.step
    return None if left * pace.total_seconds() > FURTHEST.total_seconds() else max(now, seen_at + left * pace)
