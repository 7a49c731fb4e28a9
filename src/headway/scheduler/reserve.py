"""Promised starts, and what a later job may take without delaying one.

The first job of a pool that waits for capacity is promised the earliest start that the known ends allow. Decides what
the promise needs, so that backfill leaves it alone. A promise lives for one cycle and never starts anything itself.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from headway.domain.resources import Placement
from headway.scheduler.snapshot import QueuedJob
from headway.scheduler.stock import Free, Pool, Stock, could_fit


@dataclass(frozen=True, slots=True)
class Promise:
    """`job` starts in `pool` at `at` (None: unknown); `spare` is what it then leaves to others, in devices by node."""

    job: QueuedJob
    pool: Pool
    at: datetime | None
    spare: dict[str, int]

    def outlasted_by(self, ends: datetime | None) -> bool:
        """Whether a job that ends at `ends` may still have its devices when the promise falls due."""
        return self.at is None or ends is None or ends > self.at

    def draws_on(self, project: str, pool: Pool) -> bool:
        """Whether it needs the project's quota of this pool's device type."""
        return self.job.project == project and self.pool.device_type == pool.device_type

    def leaves(self, free: Free) -> Free:
        """The free devices that a job which outlasts the promise may use."""
        return {node: devices[: max(0, self.spare.get(node, 0))] for node, devices in free.items()}

    def spend(self, placements: Sequence[Placement]) -> None:
        """A job that outlasts the promise took these."""
        for placement in placements:
            self.spare[placement.node] -= len(placement.devices)


def promise(job: QueuedJob, pools: Sequence[Pool], stock: Stock) -> Promise | None:
    """The earliest start among these pools, at an unknown time if need be; None if nodes that are up are too few."""
    able = [pool for pool in pools if could_fit(job.request, stock.sizes[pool].up)]
    timed = [(at, pool) for pool in able if (at := _earliest(job, pool, stock)) is not None]
    if timed:
        at, pool = min(timed, key=lambda pair: pair[0])
        return _promise_at(job, pool, at, stock)
    return _promise_sometime(job, able[0], stock) if able else None


def _earliest(job: QueuedJob, pool: Pool, stock: Stock) -> datetime | None:
    """When enough nodes have enough free devices, if running jobs end as predicted and nothing else starts."""
    wanted = job.request.devices_per_node
    counts = _counts(stock.free_for(job.id, pool))
    able = sum(count >= wanted for count in counts.values())
    for at, freed in sorted(_releases(pool, stock).items()):
        for node, devices in freed.items():
            able += counts[node] < wanted <= counts[node] + devices
            counts[node] += devices
        if able >= job.request.nodes:
            return at
    return None


def _promise_at(job: QueuedJob, pool: Pool, at: datetime, stock: Stock) -> Promise:
    """Needs the nodes that are least free now, which leaves most to backfill."""
    now = _counts(stock.free_for(job.id, pool))
    then = dict(now)
    for moment, freed in _releases(pool, stock).items():
        for node, devices in freed.items() if moment <= at else ():
            then[node] += devices
    return _needing(job, pool, at, then, sorted(then, key=lambda node: (now[node], node)))


def _promise_sometime(job: QueuedJob, pool: Pool, stock: Stock) -> Promise:
    """Needs the nodes that are most free now, so that they empty rather than fill while nobody knows the end."""
    now = _counts(stock.free_for(job.id, pool))
    whole = {node: stock.nodes[node].devices for node in now}
    return _needing(job, pool, None, whole, sorted(whole, key=lambda node: (-now[node], node)))


def _needing(
    job: QueuedJob, pool: Pool, at: datetime | None, then: Mapping[str, int], preferred: Sequence[str]
) -> Promise:
    wanted = job.request.devices_per_node
    needed = [node for node in preferred if then[node] >= wanted][: job.request.nodes]
    return Promise(job, pool, at, {**then, **{node: then[node] - wanted for node in needed}})


def _counts(free: Free) -> dict[str, int]:
    return {node: len(devices) for node, devices in free.items()}


def _releases(pool: Pool, stock: Stock) -> Mapping[datetime, Mapping[str, int]]:
    """Devices that come free, by moment and node, on nodes that are up."""
    releases: dict[datetime, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for claim in stock.claims[pool]:
        if claim.ends is not None:
            for node, devices in stock.on_up_nodes(claim, pool):
                releases[claim.ends][node] += devices
    return releases
