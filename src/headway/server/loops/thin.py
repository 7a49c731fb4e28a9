"""Thin: let go of the checkpoints of running jobs that nobody needs, and say when the disk takes few more."""

import asyncio
from datetime import datetime

from headway.domain.attempt import Attempt
from headway.domain.cadence_events import SpaceShort
from headway.domain.ids import AttemptId
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState
from headway.registry.retention import Decision
from headway.server.operations.jobs.keeping import decide, is_thinned, orders_of
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs


class Thin:
    """Remembers which attempts were said to be short of space, so as to say it once."""

    def __init__(self) -> None:
        self._short: set[AttemptId] = set()

    async def __call__(self, platform: Platform) -> None:
        """Decide for every running job that the platform thins."""
        await asyncio.to_thread(self._thin, platform)

    def _thin(self, platform: Platform) -> None:
        with platform.database.read() as c:
            pairs = [(job, each) for each in attempts.live(c) if (job := jobs.get(c, each.job)) is not None]
            thinned = [(job, each) for job, each in pairs if _is_due(job, each)]
            decided = [(job, each, decide(platform, c, job, each)) for job, each in thinned]
        platform.discards = {
            each.id: orders_of(decision, platform.checkpoints / job.id) for job, each, decision in decided
        }
        for job, each, decision in decided:
            if decision.short and each.id not in self._short:
                _warn(platform, job, decision, platform.clock.now())
        self._short = {each.id for _, each, decision in decided if decision.short}


def _is_due(job: Job, attempt: Attempt) -> bool:
    return attempt.state is AttemptState.RUNNING and is_thinned(job.spec.checkpoint)


def _warn(platform: Platform, job: Job, decision: Decision, now: datetime) -> None:
    space = decision.space
    assert space is not None
    full = space.full_in.total_seconds() if space.full_in else None
    with platform.database.write() as c:
        facts.append(c, SpaceShort(at=now, by="server", job=job.id, saves_left=space.saves_left, full_in_s=full))
