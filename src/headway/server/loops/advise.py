"""Advise: tell every running job whose interval is advised how often to save, as saves and failures teach."""

import asyncio
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.cadence_events import CadenceAdvised
from headway.domain.lifecycle import AttemptState
from headway.registry.cadence import Advice
from headway.server.operations.jobs.cadence import Standing, Tried, advice_for, past_of, standing
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs

RUNS = (AttemptState.LAUNCHED, AttemptState.RUNNING)
LEARNED_FOR = timedelta(minutes=5)
"""So long the pool's record is not read again: months of it hardly change in minutes."""


class Advise:
    """Remembers the pool's record and when it was read."""

    def __init__(self) -> None:
        self._past: list[Tried] = []
        self._read_at: datetime | None = None

    async def __call__(self, platform: Platform) -> None:
        """One look at every running job: those in time are told their minutes, those advised what is advised now."""
        await asyncio.to_thread(self._advise, platform)

    def _advise(self, platform: Platform) -> None:
        now = platform.clock.now()
        with platform.database.read() as c:
            timed = [here for attempt in attempts.live(c) if (here := _timed(c, attempt)) is not None]
            past = self._learned(c, now) if any(here.job.spec.checkpoint.advised for here in timed) else []
        advised = [(here, advice_for(here, past, now)) for here in timed if here.job.spec.checkpoint.advised]
        for here, advice in advised:
            if here.present is None or abs(advice.interval - here.present) >= timedelta(seconds=1):
                _record(platform, here, advice, now)
        intervals = {here.attempt.id: here.present for here in timed}
        intervals |= {here.attempt.id: advice.interval for here, advice in advised}
        platform.save_every = {attempt: every for attempt, every in intervals.items() if every is not None}

    def _learned(self, c: Connection, now: datetime) -> list[Tried]:
        if self._read_at is None or abs(now - self._read_at) >= LEARNED_FOR:
            self._past, self._read_at = past_of(c, now), now
        return self._past


def _timed(c: Connection, attempt: Attempt) -> Standing | None:
    job = jobs.get(c, attempt.job)
    if job is None or attempt.state not in RUNS:
        return None
    policy = job.spec.checkpoint
    return standing(c, job, attempt) if policy.advised or policy.every is not None else None


def _record(platform: Platform, here: Standing, advice: Advice, now: datetime) -> None:
    advised = CadenceAdvised(
        at=now,
        by="server",
        job=here.job.id,
        attempt=here.attempt.id,
        every_s=advice.interval.total_seconds(),
        before_s=here.present.total_seconds() if here.present else None,
        blocking_s=advice.cost.blocking.total_seconds(),
        mtbf_s=advice.mtbf.total_seconds(),
    )
    with platform.database.write() as c:
        facts.append(c, advised)
