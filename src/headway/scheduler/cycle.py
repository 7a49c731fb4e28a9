"""One cycle of the queue: `schedule(snapshot) -> Plan`.

Decides which jobs start where and why each other one waits. It must never look outside the snapshot: equal snapshots
give equal plans.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from headway.domain.ids import JobId
from headway.domain.resources import NodeState, Placement
from headway.scheduler.claims import held_claims
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Ask
from headway.scheduler.desk.reclaim import lost
from headway.scheduler.desk.turn import Began, Key, Turn
from headway.scheduler.order import ahead_of_each
from headway.scheduler.plan import Place, Plan, Preemption, Promised, Start, Victim, Waits
from headway.scheduler.reasons import Reasons
from headway.scheduler.snapshot import Snapshot

NOTHING = timedelta(0)


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
    promised = {made.job: made.at for promises in turn.promises.values() for made in promises}
    order = list(turn.queue())
    lines = desk.lines.lines
    aheads = ahead_of_each([(key[3], lines[key[4]].pools) for key, _ in order])
    for position, ((key, ask), (ahead, count)) in enumerate(zip(order, aheads, strict=True), start=1):
        at = promised.get(ask.job.id)
        yield Waits(
            job=ask.job.id,
            position=position,
            reason=reasons.of(ask),
            ahead=ahead,
            reserved_at=None if at is None else desk.moment(at),
            place=places.of(key, ask),
            ahead_count=count,
        )
    gated = sorted(desk.gated.values(), key=lambda job: (job.submitted_at, job.id))
    for position, job in enumerate(gated, start=len(order) + 1):
        reason = desk.asking.gate(job, desk)
        assert reason is not None
        yield Waits(job.id, position, reason)


class _Places:
    """Places in the queue; durations that many jobs share are made once."""

    def __init__(self, turn: Turn) -> None:
        fair = turn.desk.fair
        self._shifts = {} if turn.desk.policy.fifo else fair.shifts
        self._ratios = fair.ratios
        self._spans: dict[float | None, timedelta | None] = {None: None}

    def of(self, key: Key, ask: Ask) -> Place:
        """Why the job stands where it stands."""
        job = ask.job
        return Place(
            job.resuming,
            job.priority,
            not key[1],
            job.submitted_at,
            self._span(ask.predicted),
            self._span(ask.shift) or NOTHING,
            self._ratios.get(job.project, 1.0),
            self._span(self._shifts.get(job.project, 0.0)) or NOTHING,
        )

    def _span(self, seconds: float | None) -> timedelta | None:
        if seconds not in self._spans:
            assert seconds is not None
            self._spans[seconds] = timedelta(seconds=seconds)
        return self._spans[seconds]


def _promised(turn: Turn) -> Iterator[Promised]:
    desk = turn.desk
    for number, promises in sorted(turn.promises.items()):
        pool = desk.pools[number]
        for made in promises:
            at = None if made.at is None else desk.moment(made.at)
            nodes = tuple(desk.names[number][node] for node in sorted(made.spare))
            yield Promised(made.job, pool.device_type, pool.engine, at, nodes)


def _preemptions(turn: Turn, snapshot: Snapshot, devices: "_Devices") -> Iterator[Preemption]:
    desk = turn.desk
    running = {job.id: job for job in snapshot.running}
    for job, taking in turn.takings.items():
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
    """Which devices of each node are free, as bits: the desk only counts them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._free = {node.name: (1 << node.devices) - 1 for node in snapshot.nodes if node.state is NodeState.UP}
        self._held: dict[JobId, Sequence[Placement]] = {}
        for job in snapshot.running:
            self._take(job.placements)
        for held in held_claims(snapshot):
            self._take(held.placements)
            self._held[held.job] = held.placements

    def start(self, began: Began, desk: Desk) -> Start:
        """The start with its devices named: those held for it if they fit exactly, else the lowest free ones."""
        claim, held = began.claim, self._held.pop(began.ask.job.id, ())
        self.give_back(held)
        pool, names = desk.pools[claim.pool], desk.names[claim.pool]
        shape = {names[node]: devices for node, devices in claim.spots}
        if held and {p.node: len(p.devices) for p in held} == shape:
            placements = tuple(held)
            self._take(held)
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
        self._take((placement,))
        return placement

    def give_back(self, placements: Sequence[Placement]) -> None:
        """These devices are free."""
        for placement in placements:
            if placement.node in self._free:
                self._free[placement.node] |= _bits(placement.devices)

    def _take(self, placements: Sequence[Placement]) -> None:
        for placement in placements:
            if placement.node in self._free:
                self._free[placement.node] &= ~_bits(placement.devices)


def _bits(devices: Sequence[int]) -> int:
    return sum(1 << device for device in devices)
