"""What is free in each pool, as a cycle hands devices out.

Decides which devices a job may have: free ones on nodes that are up, and those held for it. It never says whether it
should have them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headway.domain.ids import JobId
from headway.domain.resources import Node, NodeState, Request
from headway.scheduler.claims import Claim

Free = Mapping[str, list[int]]


class Pool(NamedTuple):
    """Devices of one type under one engine."""

    device_type: str
    engine: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many nodes of each size a pool has: those that are up, and all."""

    up: Counter[int] = field(default_factory=Counter)
    every: Counter[int] = field(default_factory=Counter)

    @property
    def unfit(self) -> int:
        return self.every.total() - self.up.total()


def could_fit(request: Request, sizes: Counter[int]) -> bool:
    """Whether the gang would fit on these nodes if nothing else ran."""
    return sum(count for size, count in sizes.items() if size >= request.devices_per_node) >= request.nodes


class Stock:
    """Free devices, claims on the rest, and holds."""

    def __init__(self, nodes: Sequence[Node], claims: Iterable[Claim], holds: Iterable[Claim]) -> None:
        self.nodes: dict[str, Node] = {node.name: node for node in nodes}
        self.holds: dict[JobId, Claim] = {claim.job: claim for claim in holds}
        self.claims: dict[Pool, list[Claim]] = defaultdict(list)
        self.sizes: dict[Pool, Sizes] = defaultdict(Sizes)
        self._free: dict[Pool, dict[str, list[int]]] = defaultdict(dict)
        self._accepted: dict[tuple[str, ...], tuple[Pool, ...]] = {}
        for node in nodes:
            self._add(node)
        for claim in claims:
            self.take(claim)

    def accepted(self, request: Request) -> tuple[Pool, ...]:
        """The pools a request may use, most wanted first."""
        wanted = request.device_types
        if wanted not in self._accepted:
            pools = sorted(pool for pool in self.sizes if request.accepts(pool.device_type))
            pools.sort(key=lambda pool: wanted.index(pool.device_type) if wanted else 0)
            self._accepted[wanted] = tuple(pools)
        return self._accepted[wanted]

    def take(self, claim: Claim) -> None:
        """A claim's devices are free no longer."""
        for placement in claim.placements:
            pool, free = self._at(placement.node)
            if placement.node in free:
                free[placement.node] = [device for device in free[placement.node] if device not in placement.devices]
            if pool and claim not in self.claims[pool][-1:]:
                self.claims[pool].append(claim)

    def release_hold(self, job: JobId) -> Claim | None:
        """A job that starts needs its hold no more, wherever it starts."""
        hold = self.holds.pop(job, None)
        for placement in hold.placements if hold else ():
            pool, free = self._at(placement.node)
            if placement.node in free:
                free[placement.node] = sorted({*free[placement.node], *placement.devices})
            if pool:
                self.claims[pool] = [claim for claim in self.claims[pool] if claim is not hold]
        return hold

    def free_for(self, job: JobId, pool: Pool) -> Free:
        """Free devices by node for one job, those held for it included. Not to be changed."""
        free = self._free[pool]
        hold = self.holds.get(job)
        if hold is None:
            return free
        both = dict(free)
        for placement in hold.placements:
            if placement.node in both:
                both[placement.node] = sorted({*both[placement.node], *placement.devices})
        return both

    def held(self, pool: Pool, *, except_for: JobId) -> int:
        """How many devices of the pool are kept for other jobs."""
        others = (hold for job, hold in self.holds.items() if job != except_for)
        return sum(devices for hold in others for _, devices in self.on_up_nodes(hold, pool))

    def on_up_nodes(self, claim: Claim, pool: Pool) -> Iterator[tuple[str, int]]:
        """How many devices of the pool a claim has on each node that is up."""
        free = self._free[pool]
        return ((p.node, len(p.devices)) for p in claim.placements if p.node in free)

    def _add(self, node: Node) -> None:
        pool = Pool(node.device_type, node.engine)
        self.sizes[pool].every[node.devices] += 1
        if node.state is NodeState.UP:
            self.sizes[pool].up[node.devices] += 1
            self._free[pool][node.name] = list(range(node.devices))

    def _at(self, node: str) -> tuple[Pool | None, dict[str, list[int]]]:
        known = self.nodes.get(node)
        pool = Pool(known.device_type, known.engine) if known else None
        return pool, self._free[pool] if pool else {}
