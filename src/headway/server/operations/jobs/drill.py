"""Order a drill: a running job, or a copy of it, is broken on purpose without warning, and the recovery is measured."""

import signal
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.drill import Drill, Kill
from headway.domain.drill_events import DrillOrdered
from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Conditions, Job, JobKind, Origin, Priority
from headway.domain.lifecycle import AttemptState, JobState
from headway.server.operations.jobs import frameworks
from headway.server.operations.jobs.choosing import newest_of
from headway.server.operations.jobs.drill_copies import keep
from headway.server.operations.jobs.submit import enqueue
from headway.server.platform import Platform
from headway.server.secrets import make_id
from headway.store import attempts, checkpoints, drills, facts

SIGNALS = {kill: signal.SIGSTOP if kill is Kill.STOP else signal.SIGKILL for kill in Kill}
LONGEST_NAME = 63
SHADOW = "-drill"
Begin = tuple[JobId, Origin]
"""The id of a copy of a job, and the checkpoint that was kept for it."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to break. `rank`: that rank, or the agent of its node, or the node; None: the last, for a mount the first,
    which saves where only one does. `at_step`: not before that step."""

    kill: Kill = Kill.RANK
    rank: int | None = None
    at_step: int | None = None


def drill(c: Connection, job: Job, order: Order, *, at: datetime, by: str) -> Drill:
    """Order one on the job itself.

    Raises `illegal-move` unless it runs, `drill-unsaved` where no save would meet it, and what `check_order` does.
    """
    check_order(job, order)
    running = [a for a in attempts.of_job(c, job.id) if a.state == AttemptState.RUNNING]
    if not running:
        raise PlatformError("illegal-move", what="job", before=job.state, after="drill")
    if order.at_step is not None and order.at_step <= (running[0].step or 0):
        rule = f"> {running[0].step}"
        raise PlatformError("invalid-field", field="at_step", value=order.at_step, rule=rule)
    if order.kill is Kill.MOUNT and not any(each.format is None for each in checkpoints.of_job(c, job.id)):
        raise PlatformError("drill-unsaved", job=job.id)
    ordered = _drill(job.id, job, order, at, by)
    drills.order(c, ordered)
    return aim(c, ordered, running[0].id, at)


def begin_shadow(platform: Platform, job: Job) -> Begin:
    """A copy's id and what it begins with, kept for it where the in-job SDK saved it; takes long.

    Raises `no-checkpoint`, `drill-shadow-path`.
    """
    folder = str(platform.checkpoints / job.id)
    for word in (*job.spec.command, *job.spec.env.values()):
        if folder in word:
            raise PlatformError("drill-shadow-path", job=job.id, value=word[:160])
    copy = JobId(make_id("j"))
    with platform.database.read() as c:
        theirs = frameworks.newest(c, job.id)
    try:
        own = newest_of(platform, job)
    except PlatformError:
        if theirs is None:
            raise
        own = None
    if own is not None and (theirs is None or own.step >= theirs.step):
        return copy, Origin(job.id, str(keep(own, platform.checkpoints / copy)), own.step)
    assert theirs is not None
    return copy, Origin(job.id, theirs.path, theirs.step, theirs.format)


def shadow(c: Connection, job: Job, begin: Begin, order: Order, *, at: datetime, by: str) -> tuple[Job, Drill]:
    """Queue a copy of a job that goes on from its checkpoint, to be broken in its stead: the job is only read."""
    check_order(job, order)
    copy, origin = begin
    conditions = Conditions(engines=job.spec.conditions.engines, excluded=job.spec.conditions.excluded)
    spec = replace(
        job.spec,
        name=job.spec.name[: LONGEST_NAME - len(SHADOW)] + SHADOW,
        priority=max(job.spec.priority, Priority.LOW, key=lambda priority: priority.order),
        conditions=conditions,
        origin=origin,
    )
    made = Job(id=copy, spec=spec, owner=by, state=JobState.QUEUED, submitted_at=at)
    enqueue(c, made, at, by)
    order = replace(order, at_step=max(order.at_step or 0, origin.step + 1))
    ordered = _drill(made.id, job, order, at, by, shadow_of=job.id)
    drills.order(c, ordered)
    return made, ordered


def aim(c: Connection, ordered: Drill, attempt: AttemptId, at: datetime) -> Drill:
    """Point an order at the attempt that is to be broken, and say so."""
    drills.bind(c, ordered.id, attempt)
    said = DrillOrdered(
        at=at,
        by=ordered.by,
        job=ordered.job,
        attempt=attempt,
        drill=ordered.id,
        rank=ordered.rank,
        kill=ordered.kill,
        at_step=ordered.at_step,
        shadow_of=ordered.shadow_of,
    )
    facts.append(c, said)
    return replace(ordered, attempt=attempt)


def check_order(job: Job, order: Order) -> None:
    """Raise `invalid-field` for a rank or a job it does not fit."""
    if job.spec.kind is JobKind.SERVICE:
        raise PlatformError("invalid-field", field="job", value=job.id, rule="rule-no-service")
    world = _world(job)
    if order.rank is not None and not 0 <= order.rank < world:
        raise PlatformError("invalid-field", field="rank", value=order.rank, rule=f"0 … {world - 1}")


def _world(job: Job) -> int:
    return job.spec.request.nodes * job.spec.request.ranks_per_node


def _rank(job: Job, order: Order) -> int:
    if order.rank is not None:
        return order.rank
    return 0 if order.kill is Kill.MOUNT else _world(job) - 1


def _drill(broken: JobId, job: Job, order: Order, at: datetime, by: str, shadow_of: JobId | None = None) -> Drill:
    return Drill(
        id=make_id("d"),
        job=broken,
        rank=_rank(job, order),
        at=at,
        by=by,
        kill=order.kill,
        signal=int(SIGNALS[order.kill]),
        at_step=order.at_step,
        shadow_of=shadow_of,
    )
