"""Forecast: when each waiting job is expected to start, looked at again as running jobs move.

What it costs bounds how often it is done, so that a long queue never starves the other loops.
"""

import asyncio
from dataclasses import dataclass
from time import monotonic

from headway.scheduler.forecast import forecast
from headway.server.platform import Platform
from headway.store import plans, snapshot

REST = 9.0  # seconds of rest for each second of work


@dataclass(slots=True)
class LookAhead:
    """The loop's own memory: when it may look again (monotonic seconds)."""

    not_before: float = 0.0

    async def __call__(self, platform: Platform) -> None:
        if monotonic() >= self.not_before:
            await asyncio.to_thread(self._look, platform)

    def _look(self, platform: Platform) -> None:
        begun = monotonic()
        with platform.database.read() as c:
            taken = snapshot.take(c, platform.clock.now())
            runtimes = snapshot.runtimes(c) if taken.queued else None
        if runtimes is not None:
            seen = forecast(taken, runtimes)
            with platform.database.write() as c:
                plans.put_forecasts(c, list(seen.values()))
        self.not_before = monotonic() + REST * (monotonic() - begun)
