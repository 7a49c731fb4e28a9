"""Promised starts, and what a later job may take without delaying one.

The first jobs of a pool that wait for capacity are promised the earliest start that the believed ends allow. Decides
what the promise needs, so that backfill leaves it alone. A promise lives for one cycle and starts nothing itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

from headway.domain.ids import JobId
from headway.scheduler.desk.endings import Ending
from headway.scheduler.desk.lines import Line
from headway.scheduler.desk.pool import Limits, Pool

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Promise:
    """`job` starts in `pool` at `at` (None: unknown); `spare` is what it then leaves on the nodes it needs."""

    job: JobId
    line: Line
    pool: int
    account: int
    at: float | None
    spare: dict[int, int]

    def outlasted_by(self, end: float | None) -> bool:
        """Whether a job that ends at `end` may still have its devices when the promise falls due."""
        return self.at is None or end is None or end > self.at

    def spend(self, nodes: Sequence[int], devices: int) -> None:
        """A job that outlasts the promise took these."""
        for node in nodes:
            if node in self.spare:
                self.spare[node] -= devices

    @property
    def ending(self) -> Ending | None:
        """When its devices come free again."""
        if self.at is None or self.line.bound is None:
            return None
        return self.at + self.line.bound, self.job, tuple((node, self.line.wanted) for node in self.spare)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known of one pool's future: ends in order, promises made before, nodes the job may not have, and spans it
    must not touch."""

    pool: Pool
    now: float
    endings: Iterable[Ending]
    made: Sequence[Promise]
    barred: Limits
    closed: Sequence[Span]


def earliest(line: Line, outlook: Outlook, *, firm: bool) -> tuple[float, dict[int, int]] | None:
    """When enough nodes have enough free devices if nothing else starts, and what the gang then leaves on those that it
    needs; None: nobody knows.

    `firm`: it needs those that are free the soonest, and starts as soon as jobs that end early let it. Otherwise it
    needs those that come free the last, so that the others are of use until then.
    """
    free, wanted, nodes, barred = _left(outlook), line.wanted, line.nodes, outlook.barred
    able = sorted(node for node in outlook.pool.with_free(wanted) if free[node] >= wanted and node not in barred)
    for at, spots in _moments(outlook):
        for node, devices in spots:
            before = free[node]
            free[node] = after = before + devices
            if before < wanted <= after and node not in barred:
                able.append(node)
        if len(able) >= nodes and not _touches(at, line.length, outlook.closed):
            needed = able[:nodes] if firm else able[-nodes:]
            return at, {node: free[node] - wanted for node in needed}
    return None


def promise_sometime(line: Line, outlook: Outlook) -> dict[int, int]:
    """Needs the nodes that are most free now, so that they empty rather than fill while nobody knows the end."""
    whole = [size if is_up else 0 for size, is_up in zip(outlook.pool.sizes, outlook.pool.up, strict=True)]
    for promise in outlook.made:
        for node in promise.spare:
            whole[node] -= promise.line.wanted
    needed: dict[int, int] = {}
    for node in outlook.pool.by_free():
        if whole[node] >= line.wanted and node not in outlook.barred:
            needed[node] = whole[node] - line.wanted
            if len(needed) == line.nodes:
                return needed
    return {}


def _left(outlook: Outlook) -> list[int]:
    """Free devices now, less what earlier promises need."""
    free = outlook.pool.free[:]
    for promise in outlook.made:
        for node in promise.spare:
            free[node] -= promise.line.wanted
    return free


def _moments(outlook: Outlook) -> Iterator[tuple[float, list[tuple[int, int]]]]:
    """Ends in order of time, those at one moment together; ends that have passed count as now."""
    more = [ending for promise in outlook.made if (ending := promise.ending)]
    more += [(end, JobId(""), ()) for _, end in outlook.closed if end > outlook.now]
    at, spots = outlook.now, list[tuple[int, int]]()
    for end, _, freed in merge(outlook.endings, sorted(more, key=_when), key=_when) if more else outlook.endings:
        if end > at:
            yield at, spots
            at, spots = end, []
        spots.extend(freed)
    yield at, spots


def _when(ending: Ending) -> float:
    return ending[0]


def _touches(at: float, length: float | None, closed: Sequence[Span]) -> bool:
    return any(at < ends and (length is None or at + length > begins) for begins, ends in closed)
