"""Drill: bind the orders on copies to the attempts that are to be broken, score what is over, and end the copies."""

import asyncio
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.drill import Drill, Score
from headway.domain.drill_events import DrillScored
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState, JobState
from headway.server.operations.jobs.drill import aim
from headway.server.operations.jobs.drill_scores import score_of
from headway.server.operations.jobs.stopping import stop
from headway.server.platform import Platform
from headway.store import attempts, drills, facts, jobs

OVER = "drill-over"


async def drill(platform: Platform) -> None:
    """One look at every drill that is not scored."""
    if await asyncio.to_thread(_turn, platform):
        platform.wake("observe", "schedule")


def _turn(platform: Platform) -> bool:
    with platform.database.read() as c:
        found = [(each, jobs.get(c, each.job)) for each in drills.still_open(c)]
        ready = [(each, job) for each, job in found if job is not None and _has_news(c, each, job)]
    if not ready:
        return False
    now = platform.clock.now()
    with platform.database.write() as c:
        for each, job in ready:
            _advance(c, each, job, now)
    return True


def _has_news(c: Connection, each: Drill, job: Job) -> bool:
    return _may_bind(each, job) or score_of(c, each, job) is not None


def _may_bind(each: Drill, job: Job) -> bool:
    return each.attempt is None and job.state is JobState.RUNNING


def _advance(c: Connection, each: Drill, job: Job, now: datetime) -> None:
    """Decided anew within the transaction: much may have happened since it was read."""
    present = jobs.get(c, job.id)
    assert present is not None
    if _may_bind(each, present):
        running = [a for a in attempts.of_job(c, job.id) if a.state == AttemptState.RUNNING]
        if running:
            aim(c, each, running[-1].id, now)
        return
    score = score_of(c, each, present)
    if score is not None:
        _conclude(c, each, present, score, now)


def _conclude(c: Connection, each: Drill, job: Job, score: Score, now: datetime) -> None:
    drills.over(c, each.id, score, now)
    facts.append(c, DrillScored(at=now, by="server", job=job.id, drill=each.id, score=score))
    if each.shadow_of is not None and not job.state.is_terminal:
        stop(c, job, at=now, by="server", reason=OVER)
