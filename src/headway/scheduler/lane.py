"""One draw of a forecast: the desk stepped forward through virtual time, by the very turns that plan the real queue.

Ends may be taken in batches: the next few of many, and all that came by then, are looked at in one turn, and what then
starts on their devices starts when those came free, so that no device stands idle for the batch. Decides nothing about
the real queue.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import ceil

from headway.domain.ids import JobId
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.turn import DEPTH, Turn
from headway.scheduler.draws import Draws
from headway.scheduler.snapshot import QueuedJob

HOUR, DAY = 3600.0, 86400.0
INFINITE = float("inf")
NOTHING: Mapping[int, float] = {}
SHALLOW = 64
"""Lines of each shape looked at in a turn of a batched draw."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far to look: until `first` jobs have started and `seconds` are over, or all `goals` have started. An hour
    more than the day that is asked for, so that most jobs that may start within the day have a late bound too.

    `batch`: the part of all running jobs whose ends are looked at together (0: each by itself); it grows by `coarser`
    of itself for each hour ahead, up to a day.
    """

    first: int = 2000
    seconds: float = DAY + HOUR
    batch: float = 0.0
    coarser: float = 0.0
    steps: int = 20000
    goals: frozenset[JobId] = frozenset()

    def part(self, ahead: float) -> float:
        """The part of all ends that are looked at together, so many seconds ahead."""
        return self.batch * (1 + self.coarser * min(ahead, DAY) / HOUR)


@dataclass(frozen=True, slots=True)
class Batch:
    """Ends looked at together: when the first was, and when the devices of each node came free, by pool."""

    since: float
    freed: Mapping[int, Mapping[int, float]]

    def start(self, claim: Claim) -> float:
        """When a job that a turn starts after these ends has its devices."""
        latest = since = self.since
        freed = self.freed.get(claim.pool, NOTHING)
        for node, _ in claim.spots if freed else ():
            at = freed.get(node, since)
            if at > latest:
                latest = at
        return latest


@dataclass(slots=True)
class Lane:
    """When queued jobs started in this draw (seconds of the desk), and where it stopped. `waiting`: those that have not
    yet; what comes later counts for neither. `stuck`: nothing ends any more, and `last` is the turn that found so."""

    waiting: set[JobId]
    starts: dict[JobId, float] = field(default_factory=dict)
    stopped: float = 0.0
    stuck: bool = False
    last: Turn | None = None


def look_ahead(
    desk: Desk, draws: Draws, draw: int, reach: Reach, coming: Iterable[tuple[float, QueuedJob]] = ()
) -> Lane:
    """Run one draw on a desk of its own; `coming` are submissions still to come, in order."""
    lane, begun = Lane({*desk.lines.asks, *desk.gated}), desk.now
    ends = [
        (max(desk.now, claim.began + length), job)
        for job, claim in desk.claims.items()
        if (length := draws.of_running(job, draw)) is not None
    ]
    heapify(ends)
    wanted, later = min(reach.first, len(lane.waiting)), iter(coming)
    following = next(later, None)
    came, batch = dict[JobId, float](), Batch(desk.now, {})
    for _ in range(reach.steps):
        desk.advance(desk.now)
        turn = Turn(desk, SHALLOW if reach.batch else DEPTH).run()
        for began in turn.began:
            length = draws.of_queued(began.ask.id, began.ask.traits, draw)
            _start(began.ask.id, max(batch.start(began.claim), came.get(began.ask.id, begun)), lane, ends, length)
        _take(turn, desk, lane, ends, draws, draw)
        lane.stopped = desk.now
        reached = desk.now - begun >= reach.seconds and len(lane.starts) >= wanted
        if reached or not lane.waiting or (reach.goals and reach.goals <= lane.starts.keys()):
            return lane
        if turn.began and not reach.batch:
            continue  # The real queue is looked at again after every start.
        if (at := _next(desk, ends, None if reach.batch and ends else following)) is None:
            lane.stuck, lane.last = True, turn
            return lane
        if at - begun > reach.seconds and len(lane.starts) >= wanted:  # Nothing more can start within the reach.
            lane.stopped = max(desk.now, begun + reach.seconds)
            return lane
        batch = _pass(desk, ends, at, reach, begun)
        while following is not None and following[0] <= desk.now:
            came[following[1].id] = following[0]
            desk.submit(following[1])
            following = next(later, None)
    return lane


def _next(desk: Desk, ends: list[tuple[float, JobId]], following: tuple[float, QueuedJob] | None) -> float | None:
    moments = [hold.expires for hold in desk.holds.values() if hold.expires is not None]
    moments += [at for window in desk.windows if (at := desk.seconds(window.ends)) > desk.now]
    moments += [desk.seconds(j.not_before) for j in desk.gated.values() if j.not_before]
    moments = [at for at in moments if at > desk.now]
    if ends:
        moments.append(ends[0][0])
    if following:
        moments.append(following[0])
    return min(moments, default=None)


def _pass(desk: Desk, ends: list[tuple[float, JobId]], at: float, reach: Reach, begun: float) -> Batch:
    """Time passes to `at`, and where ends are taken in batches on to the last of the next, but not past the reach."""
    since, over, most = at, list[tuple[float, JobId]](), ceil(reach.part(desk.now - begun) * len(ends))
    until = begun + reach.seconds if at < begun + reach.seconds else INFINITE
    while ends and (ends[0][0] <= at or (len(over) < most and ends[0][0] <= until)):
        over.append(heappop(ends))
        at = max(at, over[-1][0])
    desk.elapse(max(at, desk.now))
    freed = defaultdict[int, dict[int, float]](dict)
    for end, job in over:
        claim = desk.claims.get(job)
        if claim:
            there = freed[claim.pool]
            for node, _ in claim.spots:
                there[node] = end
            desk.finish(job)
    return Batch(since, freed)


def _start(job: JobId, at: float, lane: Lane, ends: list[tuple[float, JobId]], length: float | None) -> None:
    if job in lane.waiting:
        lane.waiting.remove(job)
        lane.starts[job] = at
    if length is not None:
        heappush(ends, (at + length, job))


def _take(turn: Turn, desk: Desk, lane: Lane, ends: list[tuple[float, JobId]], draws: Draws, draw: int) -> None:
    """Lent devices come back at once; what was taken does not come again in this draw."""
    for job, taking in turn.lending.takings.items():
        ask = desk.lines.asks[job]
        for victim in taking.victims:
            desk.finish(victim.job)
        desk.release_hold(job)
        desk.place(ask, taking.pool, taking.nodes)
        _start(job, desk.now, lane, ends, draws.of_queued(job, ask.traits, draw))
