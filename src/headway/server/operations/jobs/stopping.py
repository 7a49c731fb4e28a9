"""Ask a job to stop. A queued job is stopped at once; a running one is asked through its agents and its engine."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.attempt import PREEMPTED
from headway.domain.errors import PlatformError
from headway.domain.events import JobEnded, StopRequested
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState, JobState
from headway.store import attempts, facts, holds, jobs


def stop(c: Connection, job: Job, *, at: datetime, by: str, reason: str = "user", said: str | None = None) -> Job:
    """Record the wish; repeating it changes nothing. Raises `illegal-move` for a job that has ended.

    `reason` is one of the platform's own words, on which it acts; `said` is what a person gave as theirs, and is told.
    """
    if job.state == JobState.STOPPING:
        if job.reason != PREEMPTED:
            return job
        # It is being taken for another job, and is not to come back.
        facts.append(c, StopRequested(at=at, by=by, job=job.id, reason=said or reason))
        jobs.set_reason(c, job.id, reason)
        return replace(job, reason=reason)
    if job.state.is_terminal:
        raise PlatformError("illegal-move", what="job", before=job.state, after=JobState.STOPPING)
    facts.append(c, StopRequested(at=at, by=by, job=job.id, reason=said or reason))
    if not job.state.holds_devices:
        return end(c, job, JobState.STOPPED, at=at, by=by, reason=reason)
    for attempt in attempts.of_job(c, job.id):
        if attempt.state != AttemptState.ENDED:
            attempts.request_stop(c, attempt.id, reason, job.spec.recovery.grace, at)
            if attempt.state != AttemptState.STOPPING:
                attempts.move(c, attempt.id, AttemptState.STOPPING, at=at, stop_reason=reason)
    return jobs.move(c, job.id, JobState.STOPPING, at=at, reason=reason)


def overdue(c: Connection, now: datetime) -> list[Job]:
    """Jobs that have had their devices for longer than their limit allows: backfill and forecasts trust limits."""
    held = [(attempt, jobs.get(c, attempt.job)) for attempt in attempts.live(c)]
    return [
        job
        for attempt, job in held
        if job and job.spec.limit and job.state != JobState.STOPPING and now - attempt.placed_at >= job.spec.limit
    ]


def end(c: Connection, job: Job, state: JobState, *, at: datetime, by: str, reason: str | None) -> Job:
    """Move a job to its end, say so, and let go of what was held for it."""
    ended = jobs.move(c, job.id, state, at=at, reason=reason)
    facts.append(c, JobEnded(at=at, by=by, job=job.id, state=state, reason=reason))
    holds.drop(c, job.id)
    return ended
