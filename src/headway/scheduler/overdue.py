"""Jobs that went first on the word that they would be over by then, and are not.

A job that came later may start on nodes that are kept for an earlier one, if it should end before the promised start.
Decides, once that time has passed, whether the earlier job would start now were those jobs gone: then they are taken
for it, whole, or, where they may not be, the delay is told. It never takes what was not let past, nor more than needed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headway.domain.attempt import Overtaken
from headway.domain.ids import AttemptId, JobId
from headway.domain.resources import Placement
from headway.scheduler.cycle import schedule
from headway.scheduler.plan import Plan, Preemption, Start, Victim, Waits
from headway.scheduler.snapshot import QueuedJob, RunningJob, Snapshot


@dataclass(frozen=True, slots=True)
class Delay:
    """`job` was promised a start at `promised_at`; `by`, which was let past it, runs on and may not be taken."""

    job: JobId
    promised_at: datetime
    by: JobId
    attempt: AttemptId


@dataclass(frozen=True, slots=True)
class Overdue:
    """What follows: whole jobs to be taken, and delays that are only told."""

    preemptions: tuple[Preemption, ...] = ()
    delays: tuple[Delay, ...] = ()


def overtaken(plan: Plan, queued: Iterable[QueuedJob]) -> Mapping[JobId, tuple[Overtaken, ...]]:
    """For each start, the promised jobs that came before it and whose nodes it was let onto; mostly none."""
    if not plan.starts or not plan.promised:
        return {}
    waits, asked = {wait.job: wait for wait in plan.waits}, {job.id: job for job in queued}
    found = {
        start.job: tuple(
            Overtaken(promise.job, promise.at)
            for promise in plan.promised
            if promise.at is not None
            and (promise.device_type, promise.engine) == (start.device_type, start.engine)
            and not {placement.node for placement in start.placements}.isdisjoint(promise.nodes)
            and _came_later(start, asked[start.job], waits[promise.job])
        )
        for start in plan.starts
    }
    return {job: overtook for job, overtook in found.items() if overtook}


def overdue(snapshot: Snapshot, plan: Plan) -> Overdue:
    """What is to be done about jobs that outlived the time they were let past others for.

    Nothing while the plan itself starts or takes anything: the next one looks at a settled world.
    """
    waiting = {wait.job for wait in plan.waits}
    late = {job.id: over for job in snapshot.running if (over := _late(job, waiting, snapshot.now))}
    if not late or plan.starts or plan.preemptions:
        return Overdue()
    stays = tuple(job for job in snapshot.running if job.id not in late)
    lately = [job for job in snapshot.running if job.id in late]
    preemptions, delays = list[Preemption](), list[Delay]()
    for start in schedule(replace(snapshot, running=stays)).starts:
        standing = [job for job in lately if _shares(job.placements, start.placements)]
        if not standing or any(start.job not in late[job.id] for job in standing):
            continue
        kept = [job for job in standing if not _may_take(job, snapshot)]
        delays += [Delay(start.job, late[job.id][start.job], job.id, job.attempt) for job in kept]
        if not kept:
            victims = tuple(_victim(job, snapshot.now) for job in standing)
            preemptions.append(Preemption(start.job, start.device_type, start.placements, victims, why="overdue"))
    return Overdue(tuple(preemptions), tuple(delays))


def _came_later(start: Start, job: QueuedJob, promised: Waits) -> bool:
    """It stands no better than the promised job by class or guarantee, and was submitted later."""
    place = promised.place
    if place is None or job.resuming:
        return False
    mine, theirs = (job.priority.order, start.borrowed), (place.priority.order, not place.within_guarantee)
    return mine >= theirs and job.submitted_at > place.submitted_at


def _late(job: RunningJob, waiting: set[JobId], now: datetime) -> dict[JobId, datetime]:
    """Whom it still holds up though their time has come."""
    if job.stopping:
        return {}
    return {over.job: over.until for over in job.overtook if over.until < now and over.job in waiting}


def _may_take(job: RunningJob, snapshot: Snapshot) -> bool:
    policy = snapshot.policy
    allowed = policy.reclaim and not policy.fifo and job.preemptible and not job.protected
    return allowed and job.placed_at + policy.min_run <= snapshot.now


def _victim(job: RunningJob, now: datetime) -> Victim:
    devices = sum(len(placement.devices) for placement in job.placements)
    since = max(job.placed_at, job.saved_at or job.placed_at)
    return Victim(job.id, job.project, devices, max(timedelta(0), now - since) * devices)


def _shares(mine: Iterable[Placement], theirs: Iterable[Placement]) -> bool:
    wanted = {(placement.node, device) for placement in theirs for device in placement.devices}
    return any((placement.node, device) in wanted for placement in mine for device in placement.devices)
