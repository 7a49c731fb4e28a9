"""Forecast: when each waiting job is expected to start, looked at again as running jobs move.

What it costs bounds how often it is done, so that a long queue never starves the other loops; a long one is looked at
by a process of its own. What changes meanwhile is seen the next time, at most 30 s after.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from headway.server.apart import foretell
from headway.server.operations.queue.foretelling import LEARNT_FROM, learnt, told
from headway.server.operations.queue.looking import look
from headway.server.platform import Platform
from headway.store import plans, predictions

REST = 9  # times as long as the work took
OLDEST = timedelta(seconds=30)


@dataclass(slots=True)
class LookAhead:
    """The loop's own memory: when it looked last, and until when it rests."""

    looked_at: datetime | None = None
    rests_until: datetime | None = None

    async def __call__(self, platform: Platform) -> None:
        if not self._rests(platform.clock.now()):
            await asyncio.to_thread(self._look, platform)

    def _rests(self, now: datetime) -> bool:
        """A clock that was set back ends the rest too."""
        return self.looked_at is not None and self.rests_until is not None and self.looked_at <= now < self.rests_until

    def _look(self, platform: Platform) -> None:
        begun = platform.clock.now()
        with platform.database.read() as c:
            taken = look(platform.settings, platform.memory, c, begun)
            past = predictions.started(c, begun - LEARNT_FROM) if taken.queued else []
        if taken.queued:
            drawn = foretell(taken)
            ranges = told(drawn.values(), taken, learnt(past))
            with platform.database.write() as c:
                plans.put_forecasts(c, ranges)
                predictions.keep(c, ranges, drawn)
        self.looked_at = platform.clock.now()
        took = self.looked_at - begun
        self.rests_until = self.looked_at + min(REST * took, max(OLDEST - took, timedelta(0)))
