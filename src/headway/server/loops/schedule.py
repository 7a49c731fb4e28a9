"""Schedule: take a snapshot, plan, and apply the plan if nothing it was computed from has changed."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from headway.scheduler.cycle import schedule
from headway.scheduler.moments import next_moment
from headway.scheduler.overdue import overdue, overtaken
from headway.server.operations.jobs.preempting import carry_out, tell_delays
from headway.server.operations.queue.looking import look
from headway.server.platform import Platform
from headway.store import world
from headway.store.apply import apply


@dataclass(slots=True)
class Schedule:
    """The loop's own memory: which version it planned last, when, and when time alone makes another plan of it."""

    planned: int = -1
    planned_at: datetime | None = None
    due_at: datetime | None = None

    async def __call__(self, platform: Platform) -> None:
        started = await asyncio.to_thread(self._plan, platform)
        if started:
            platform.wake("dispatch", "schedule")

    def _plan(self, platform: Platform) -> bool:
        now = platform.clock.now()
        with platform.database.read() as c:
            if world.version(c) == self.planned and not self._is_stale(platform, now):
                return False
            taken = look(platform.settings, platform.memory, c, now)
        plan = schedule(taken)
        late, overtook = overdue(taken, plan), overtaken(plan, taken.queued)
        with platform.database.write() as c:
            apply(c, plan, now=now, issue_token=platform.tokens.digest_of, overtook=overtook)
            took = carry_out(c, (*plan.preemptions, *late.preemptions), now, platform.settings.hold)
            tell_delays(c, late.delays, now)
        self.planned, self.planned_at, self.due_at = plan.version, now, next_moment(taken)
        if took:
            platform.wake("observe")
        return bool(plan.starts) or took

    def _is_stale(self, platform: Platform, now: datetime) -> bool:
        """Moments come without anything being written; reserved times come near, and runs last longer than believed."""
        every = timedelta(seconds=platform.settings.plan_every_s)
        is_due = self.due_at is not None and now >= self.due_at
        return self.planned_at is None or is_due or now - self.planned_at >= every
