"""The steps of one cycle, over what is free, used and promised so far.

Decides for one job and one pool at a time: a start, or the reason against it. What was given or promised earlier in the
same cycle is never taken back.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from headway.domain.ids import JobId
from headway.scheduler.claims import Claim, end_of, held_claims, running_claims
from headway.scheduler.fit import as_held, fit
from headway.scheduler.plan import BehindOthers, CapacityShort, NodesUnfit, QuotaReached, Reason, Start
from headway.scheduler.reserve import Promise, promise
from headway.scheduler.share import Shares
from headway.scheduler.snapshot import QueuedJob, Snapshot
from headway.scheduler.stock import Pool, Stock, could_fit


class Steps:
    """Free devices, used quota and promised starts, changing as the queue is walked."""

    def __init__(self, snapshot: Snapshot) -> None:
        holds = tuple(held_claims(snapshot))
        claims = (*running_claims(snapshot), *holds)
        self.stock = Stock(snapshot.nodes, claims, holds)
        self._shares = Shares(snapshot.quotas, claims)
        self._now = snapshot.now
        self._promises: dict[Pool, Promise] = {}

    def pools_for(self, job: QueuedJob) -> Sequence[Pool]:
        """Where to try: first where devices are held for the job, then the pools it accepts, most wanted first."""
        accepted = self.stock.accepted(job.request)
        hold = self.stock.holds.get(job.id)
        if hold is None:
            return accepted
        return sorted(accepted, key=lambda pool: not any(self.stock.on_up_nodes(hold, pool)))

    def check_quota(self, job: QueuedJob, pool: Pool) -> QuotaReached | None:
        """The refusal, if the job would exceed its project's quota. Holds of other jobs count as used."""
        return self._shares.reached(job, pool.device_type, self._own(job, pool))

    def find_room(self, job: QueuedJob, pool: Pool) -> Start | Reason:
        """The held placement exactly, else wherever the gang fits; unless that delays a promised start."""
        free = self.stock.free_for(job.id, pool)
        hold = self.stock.holds.get(job.id)
        held = as_held(job.request, hold, free) if hold else None
        if held:
            return Start(job.id, pool.engine, pool.device_type, held)
        room = fit(job.request, free, self.stock.nodes)
        if room is None:
            return self._no_room(job, pool)
        outlasted = self._outlasted(end_of(self._now, job.limit))
        for made in outlasted:
            room = fit(job.request, made.leaves(free), self.stock.nodes) if made.pool == pool else room
            if room is None or (made.draws_on(job.project, pool) and self._overdraws(job, pool, outlasted)):
                return BehindOthers(made.job.id, made.at)
        return Start(job.id, pool.engine, pool.device_type, room)

    def take(self, job: QueuedJob, start: Start) -> None:
        """Give a job what it starts on; its hold is over."""
        hold = self.stock.release_hold(job.id)
        if hold:
            self._shares.drop(hold)
        claim = Claim(job.id, job.project, start.device_type, start.placements, end_of(self._now, job.limit))
        self.stock.take(claim)
        self._shares.add(claim)
        for made in self._outlasted(claim.ends):
            if made.pool == (start.device_type, start.engine) and not (hold and hold.placements == start.placements):
                made.spend(start.placements)

    def reserve(self, job: QueuedJob, refusals: Mapping[Pool, Reason]) -> None:
        """Promise a start to a job that waits for the capacity of a pool in which nobody has a promise yet."""
        short = (pool for pool, reason in refusals.items() if isinstance(reason, CapacityShort))
        unpromised = (pool for pool in short if pool not in self._promises)
        made = promise(job, [p for p in unpromised if not self._overdraws(job, p, self._promises.values())], self.stock)
        if made:
            self._promises[made.pool] = made

    def promised_starts(self) -> Mapping[JobId, datetime | None]:
        """The promised starts; None: at an unknown time."""
        return {made.job.id: made.at for made in self._promises.values()}

    def _no_room(self, job: QueuedJob, pool: Pool) -> Reason:
        sizes = self.stock.sizes[pool]
        if could_fit(job.request, sizes.every) and not could_fit(job.request, sizes.up):
            return NodesUnfit(pool.device_type, sizes.unfit)
        free = sum(map(len, self.stock.free_for(job.id, pool).values()))
        held = self.stock.held(pool, except_for=job.id)
        return CapacityShort(pool.device_type, job.request.devices, job.request.nodes, free, held)

    def _own(self, job: QueuedJob, pool: Pool) -> int:
        hold = self.stock.holds.get(job.id)
        return hold.devices if hold and hold.device_type == pool.device_type else 0

    def _outlasted(self, ends: datetime | None) -> list[Promise]:
        return [made for made in self._promises.values() if made.outlasted_by(ends)]

    def _overdraws(self, job: QueuedJob, pool: Pool, promises: Iterable[Promise]) -> bool:
        """Whether the job would spend quota that these promises to its own project need."""
        promised = sum(made.job.request.devices for made in promises if made.draws_on(job.project, pool))
        left = self._shares.room(job.project, pool.device_type) + self._own(job, pool) - promised
        return job.request.devices > left
