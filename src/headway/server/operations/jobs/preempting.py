"""Carry out preemptions: whole jobs are asked to save and end, what they free is held for whoever it was freed for.

A job that was taken waits again; its next attempt goes on from its last verified checkpoint. It is no failure. An
operator may order one by hand, after seeing its price.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import PREEMPTED, Attempt
from headway.domain.checkpoint import CheckpointState
from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.queue_events import PreemptionOrdered, ReservationDelayed
from headway.scheduler.overdue import Delay
from headway.scheduler.plan import Preemption
from headway.scheduler.snapshot import Hold
from headway.store import attempts, checkpoints, facts, holds, jobs, warned

TAKEABLE = (JobState.STARTING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Price:
    """What taking a job destroys, should it not save in its grace: work since `saved_at` (None: since its start)."""

    job: JobId
    project: str
    owner: str
    devices: int
    saved_at: datetime | None
    lost_device_seconds: int
    step: int | None


@dataclass(frozen=True, slots=True)
class Order:
    """Who orders a preemption, when, why, and for which job (None: an operator wants the devices free)."""

    by: str
    at: datetime
    why: str
    for_job: JobId | None = None


def carry_out(c: Connection, preemptions: Sequence[Preemption], now: datetime, keep: timedelta) -> bool:
    """Ask every victim to end, and hold what each job gets; `keep`: how long beyond the longest grace."""
    for preemption in preemptions:
        beneficiary = jobs.get(c, preemption.job)
        assert beneficiary is not None
        graces = [timedelta(0)]
        for victim in preemption.victims:
            job = jobs.get(c, victim.job)
            if job is not None and job.state in TAKEABLE:
                take(c, job, Order("server", now, preemption.why, preemption.job))
                graces.append(job.spec.recovery.grace)
        until = now + max(graces) + keep
        project = beneficiary.spec.project
        holds.put(c, Hold(preemption.job, preemption.device_type, preemption.placements, until, project))
    return bool(preemptions)


def tell_delays(c: Connection, delays: Sequence[Delay], now: datetime) -> None:
    """Record, once each, that a promised start is held up by a job that may not be taken."""
    for delay in delays:
        if warned.first(c, f"delay/{delay.job}/{delay.attempt}", now):
            said = ReservationDelayed(
                at=now,
                by="server",
                job=delay.job,
                promised_at=delay.promised_at,
                behind=delay.by,
                attempt=delay.attempt,
            )
            facts.append(c, said)


def take(c: Connection, job: Job, order: Order) -> Price:
    """Ask a job to save and end; it goes back to the queue. Raises `job-protected`, `job-holds-nothing`."""
    price, attempt = _priced(c, job, order.at)
    attempts.request_stop(c, attempt.id, PREEMPTED, job.spec.recovery.grace, order.at)
    attempts.move(c, attempt.id, AttemptState.STOPPING, at=order.at, stop_reason=PREEMPTED)
    jobs.move(c, job.id, JobState.STOPPING, at=order.at, reason=PREEMPTED)
    said = PreemptionOrdered(
        at=order.at,
        by=order.by,
        job=job.id,
        attempt=attempt.id,
        for_job=order.for_job,
        devices=price.devices,
        lost_device_seconds=price.lost_device_seconds,
        why=order.why,
    )
    facts.append(c, said)
    return price


def price_of(c: Connection, job: Job, now: datetime) -> Price:
    """What taking this job now would destroy. Raises `job-protected`, `job-holds-nothing`."""
    return _priced(c, job, now)[0]


def _priced(c: Connection, job: Job, now: datetime) -> tuple[Price, Attempt]:
    if job.spec.conditions.protected:
        raise PlatformError("job-protected", job=job.id)
    if job.state not in TAKEABLE:
        raise PlatformError("job-holds-nothing", job=job.id, state=job.state)
    attempt = attempts.of_job(c, job.id)[-1]
    verified = [p.saved_at for p in checkpoints.of_job(c, job.id) if p.state is CheckpointState.VERIFIED]
    saved_at = max((at for at in verified if at > attempt.placed_at), default=None)
    since = saved_at or attempt.started_at or attempt.placed_at
    lost = int(max(timedelta(0), now - since).total_seconds()) * attempt.devices
    price = Price(job.id, job.spec.project, job.owner, attempt.devices, saved_at, lost, job.step)
    return price, attempt
