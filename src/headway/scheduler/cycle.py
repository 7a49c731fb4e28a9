"""One cycle of the queue: `schedule(snapshot) -> Plan`.

Decides which jobs start where and why each other one waits. It must never look outside the snapshot: equal snapshots
give equal plans.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cached_property, lru_cache

from headway.domain.ids import JobId
from headway.domain.resources import NodeState, Placement
from headway.scheduler.claims import held_claims
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Ask, Line
from headway.scheduler.desk.reclaim import lost
from headway.scheduler.desk.turn import Began, Turn
from headway.scheduler.order import Ahead
from headway.scheduler.plan import Place, Plan, Preemption, Promised, Start, Victim, Waits
from headway.scheduler.reasons import Reasons
from headway.scheduler.snapshot import Snapshot

NOTHING = timedelta(0)
PLAIN = (1.0, NOTHING)
"""Share and shift of a project that used nothing yet."""


def schedule(snapshot: Snapshot) -> Plan:
    """Give every queued job a start or a reason to wait.

    A gang starts whole or not at all; no project exceeds its ceilings; a later job passes an earlier one only where
    that delays no promised start; lent devices are taken back for whoever is within its guarantee.
    """
    desk = Desk(snapshot)  # 1. Lay out: what is free, who has the rest, who asks.
    desk.advance(0.0)
    turn = Turn(desk).run(promise_all=True)  # 2. Walk the queue in order: quota, fit, backfill, promise, reclaim.
    devices = _Devices(snapshot)
    starts = tuple(devices.start(began, desk) for began in turn.began)  # 3. Name the devices.
    preemptions = tuple(_preemptions(turn, snapshot, devices))
    waits = tuple(_waits(turn))  # 4. Explain: where the others stand, and why.
    return Plan(snapshot.version, starts, waits, preemptions, tuple(_promised(turn)))


def _waits(turn: Turn) -> Iterator[Waits]:
    desk, reasons, places = turn.desk, Reasons(turn), _Places(turn)
    promised = {made.job: made.at for made in turn.promises.made}
    reserved = {job: None if at is None else desk.moment(at) for job, at in promised.items()}
    order = turn.queue()
    ahead = Ahead(desk.lines.lines[number].pools for number in desk.lines.live)
    lines = desk.lines.lines
    for position, (borrowing, ask) in enumerate(order, start=1):
        job, line = ask.id, lines[ask.line]
        first, count = ahead.of(job, line.pools)
        place = places.of(ask, line, borrowing=borrowing)
        yield Waits(job, position, reasons.of(ask, line), first, reserved.get(job), place, count)
    gated = sorted(desk.gated.values(), key=lambda job: (job.submitted_at, job.id))
    for position, queued in enumerate(gated, start=len(order) + 1):
        reason = desk.asking.gate(queued, desk)
        assert reason is not None
        yield Waits(queued.id, position, reason)


class _Places:
    """Places in the queue; durations that many jobs share are made once."""

    def __init__(self, turn: Turn) -> None:
        fair = turn.desk.fair
        shifts = {} if turn.desk.policy.fifo else fair.shifts
        self._shares = {job: (ratio, _span(shifts.get(job, 0.0))) for job, ratio in fair.ratios.items()}

    def of(self, ask: Ask, line: Line, *, borrowing: bool) -> Place:
        """Why the job stands where it stands."""
        job, length = ask.job, ask.predicted
        share, shift = self._shares.get(line.project, PLAIN)
        predicted = None if length is None else _span(length)
        later = _span(ask.shift)
        return Place(job.resuming, job.priority, not borrowing, job.submitted_at, predicted, later, share, shift)


@lru_cache(maxsize=4096)
def _span(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def _promised(turn: Turn) -> Iterator[Promised]:
    desk = turn.desk
    for number, promises in sorted(turn.promises.of_pool.items()):
        pool = desk.pools[number]
        for made in promises:
            at = None if made.at is None else desk.moment(made.at)
            nodes = tuple(desk.names[number][node] for node in sorted(made.spare))
            yield Promised(made.job, pool.device_type, pool.engine, at, nodes)


def _preemptions(turn: Turn, snapshot: Snapshot, devices: "_Devices") -> Iterator[Preemption]:
    desk = turn.desk
    running = {job.id: job for job in snapshot.running}
    for job, taking in turn.lending.takings.items():
        wanted = desk.lines.lines[desk.lines.asks[job].line].wanted
        victims = tuple(
            Victim(v.job, running[v.job].project, v.devices, timedelta(seconds=lost(v, desk.now)))
            for v in taking.victims
        )
        nodes = [desk.names[taking.pool][node] for node in taking.nodes]
        for victim in taking.victims:
            devices.give_back(running[victim.job].placements)
        placements = tuple(devices.pick(node, wanted) for node in sorted(nodes))
        yield Preemption(job, desk.pools[taking.pool].device_type, placements, victims)


class _Devices:
    """Which devices of each node are free, as bits: the desk only counts them. Laid out when first asked."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _held(self) -> dict[JobId, Sequence[Placement]]:
        return {held.job: held.placements for held in held_claims(self._snapshot)}

    @cached_property
    def _free(self) -> dict[str, int]:
        nodes = self._snapshot.nodes
        free = {node.name: (1 << node.devices) - 1 for node in nodes if node.state is NodeState.UP}
        for placements in (*(job.placements for job in self._snapshot.running), *self._held.values()):
            _take(free, placements)
        return free

    def start(self, began: Began, desk: Desk) -> Start:
        """The start with its devices named: those held for it if they fit exactly, else the lowest free ones."""
        claim, held = began.claim, self._held.get(began.ask.job.id, ())
        self.give_back(held)
        pool, names = desk.pools[claim.pool], desk.names[claim.pool]
        shape = {names[node]: devices for node, devices in claim.spots}
        if held and {p.node: len(p.devices) for p in held} == shape:
            placements = tuple(held)
            _take(self._free, held)
        else:
            placements = tuple(self.pick(node, shape[node]) for node in sorted(shape))
        return Start(began.ask.job.id, pool.engine, pool.device_type, placements, began.borrowed)

    def pick(self, node: str, wanted: int) -> Placement:
        """The lowest free devices of a node, free no longer."""
        free, device = self._free[node], 0
        taken: list[int] = []
        while len(taken) < wanted:
            if free >> device & 1:
                taken.append(device)
            device += 1
        placement = Placement(node, tuple(taken))
        _take(self._free, (placement,))
        return placement

    def give_back(self, placements: Sequence[Placement]) -> None:
        """These devices are free."""
        for placement in placements:
            if placement.node in self._free:
                self._free[placement.node] |= _bits(placement.devices)


def _take(free: dict[str, int], placements: Sequence[Placement]) -> None:
    for placement in placements:
        if placement.node in free:
            free[placement.node] &= ~_bits(placement.devices)


def _bits(devices: Sequence[int]) -> int:
    return sum(1 << device for device in devices)
