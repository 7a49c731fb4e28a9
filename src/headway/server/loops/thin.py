"""Thin: let go of the checkpoints of running jobs that nobody needs, and say when a disk takes few more."""

import asyncio
from collections.abc import Callable
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

Decided = tuple[Job, Attempt, Decision]


class Thin:
    """Lets go what the platform may, of every running job whose policy says more than how many stay."""

    def __init__(self) -> None:
        self._warnings = Warnings()

    async def __call__(self, platform: Platform) -> None:
        """Decide for every running job that the platform thins."""
        await asyncio.to_thread(self._thin, platform)

    def _thin(self, platform: Platform) -> None:
        decided = _decided(platform, lambda job: is_thinned(job.spec.checkpoint))
        platform.discards = {
            each.id: orders_of(decision, platform.checkpoints / job.id) for job, each, decision in decided
        }
        self._warnings.tell(platform, decided)


class Foresee:
    """Says when the disk takes few more saves of those running jobs whose checkpoints the platform leaves alone."""

    def __init__(self) -> None:
        self._warnings = Warnings()

    async def __call__(self, platform: Platform) -> None:
        """Look at the disk of every such job."""
        await asyncio.to_thread(self._foresee, platform)

    def _foresee(self, platform: Platform) -> None:
        self._warnings.tell(platform, _decided(platform, lambda job: not is_thinned(job.spec.checkpoint)))


class Warnings:
    """Remembers which attempts were said to be short of space, so as to say it once."""

    def __init__(self) -> None:
        self._short: set[AttemptId] = set()

    def tell(self, platform: Platform, decided: list[Decided]) -> None:
        """Warn of those that are short and were not before."""
        for job, each, decision in decided:
            if decision.short and each.id not in self._short:
                _warn(platform, job, decision, platform.clock.now())
        self._short = {each.id for _, each, decision in decided if decision.short}


def _decided(platform: Platform, is_due: Callable[[Job], bool]) -> list[Decided]:
    with platform.database.read() as c:
        running = [each for each in attempts.live(c) if each.state is AttemptState.RUNNING]
        pairs = [(job, each) for each in running if (job := jobs.get(c, each.job)) is not None and is_due(job)]
        return [(job, each, decide(platform, c, job, each)) for job, each in pairs]


def _warn(platform: Platform, job: Job, decision: Decision, now: datetime) -> None:
    space = decision.space
    assert space is not None
    full = space.full_in.total_seconds() if space.full_in else None
    with platform.database.write() as c:
        facts.append(c, SpaceShort(at=now, by="server", job=job.id, saves_left=space.saves_left, full_in_s=full))
