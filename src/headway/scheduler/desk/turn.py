"""One walk through the queue: who starts now, who is promised a start, for whom lent devices are taken back.

Decides for one line at a time, in the order of the queue. What was given or promised earlier in the same turn is never
taken back.
"""

from collections import defaultdict
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from headway.domain.ids import JobId
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.closures import Closures
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lending import Lending
from headway.scheduler.desk.lines import Ask, Line, Place, Shape
from headway.scheduler.desk.promises import Promises
from headway.scheduler.desk.room import Room

Key = tuple[int, bool, float, JobId, int]
DEPTH = 400
"""Lines of each shape looked at for starts in a turn that needs no complete plan, and one more for each that starts."""
CANDIDATES = 16
"""Lines of each shape looked at for promises in a turn that needs no complete plan."""
NOBODY: Iterator[Place] = iter(())
STARTED, PROMISED, PASSED = "started", "promised", "passed"


class Began(NamedTuple):
    """A job that started: its nodes are indices into its pool."""

    ask: Ask
    claim: Claim
    borrowed: bool


class Turn:
    """The walk, and what came of it."""

    def __init__(self, desk: Desk, depth: int = DEPTH) -> None:
        self.desk = desk
        self._depth = depth
        self.began: list[Began] = []
        closures = Closures(desk)
        self.promises = Promises(desk, closures)
        self.room = Room(desk, closures, self.promises)
        self.lending = Lending(desk, closures)
        self._fifo = desk.policy.fifo
        self._shifts = {} if self._fifo else desk.fair.shifts
        self._promised: dict[int, int] = {}
        self._further: dict[Shape, Iterator[Place]] = {}

    def run(self, *, promise_all: bool = False) -> "Turn":
        """Walk the queue until nobody more can start; with `promise_all` until all promises are made too."""
        hopeful, passed = self._sorted_out(promise_all=promise_all)
        if not hopeful and not promise_all:
            return self
        heap = [self.key(number) for number in (*hopeful, *passed)]
        heapify(heap)
        lines = self.desk.lines
        while heap and (hopeful or (promise_all and self.promises.left)):
            key = heappop(heap)
            number = key[-1]
            line = lines.lines[number]
            if (number not in hopeful or self._is_full(line)) and not self.promises.wanted(line):
                hopeful.discard(number)
            elif self._has_moved(number, line, key):
                heappush(heap, self.key(number))
            elif (outcome := self._serve(number, line)) == STARTED:
                self._go_on(key, line, hopeful, heap)
            else:
                hopeful.discard(number)
                if outcome == PROMISED and self._promised[number] < lines.length(number):
                    heappush(heap, self.key(number))
        return self

    def _go_on(self, key: Key, line: Line, hopeful: set[int], heap: list[Key]) -> None:
        """After a start: the next of the line, one line more of the shape, and whoever has room now."""
        number = key[-1]
        if number in self.desk.lines.live:
            heappush(heap, self.key(number))
        else:
            hopeful.discard(number)
        following = next(self._further.get(line.shape, NOBODY), None) if self._further else None
        if following is not None:
            hopeful.add(following[-1])
            heappush(heap, self.key(following[-1]))
        if line.holder:
            self._look_again(key, hopeful, heap)

    def _look_again(self, key: Key, hopeful: set[int], heap: list[Key]) -> None:
        """A job that started gave up what was held for it: those behind it may have room now."""
        self.room.forget()
        waiting = {number for *_, number in heap}
        behind = {number for number in self._sorted_out(promise_all=False)[0] if self.key(number) > key}
        hopeful |= behind
        for number in behind - waiting:
            heappush(heap, self.key(number))

    def _has_moved(self, number: int, line: Line, key: Key) -> bool:
        """Whether a line stands elsewhere by now: its project has more than before, or its first job a promise."""
        if number in self._promised:
            return self.key(number) != key
        return not self._fifo and self.is_borrowing(line) != key[1]

    def _sorted_out(self, *, promise_all: bool) -> tuple[set[int], list[int]]:
        """The lines that may move, and the first of those that cannot: the next to be promised a start."""
        lines, hopeful = self.desk.lines, set[int]()
        passed: list[int] = []
        for shape, places in lines.shapes.items():
            if not places:
                continue
            if self._has_room(shape):
                hopeful.update([place[-1] for place in (places if promise_all else places[: self._depth])])
                if not promise_all and len(places) > self._depth:
                    self._further[shape] = iter(places[self._depth :])
                continue
            if self.lending.possible or self.desk.holds:
                asked = places if promise_all or self.desk.holds else places[: self._depth]
                hopeful.update([number for *_, number in asked if self._may_move(lines.lines[number])])
            passed += [place[-1] for place in (places if promise_all else places[:CANDIDATES])]
        return hopeful, [number for number in passed if number not in hopeful]

    def _has_room(self, shape: Shape) -> bool:
        pools, nodes, wanted = shape
        return any(self.desk.pools[pool].able(wanted) >= nodes for pool in pools)

    def _may_move(self, line: Line) -> bool:
        """Whether it is worth asking although no pool has room: it has a hold, or lent devices could be taken back."""
        return line.holder is not None or (self.lending.possible and self.lending.may_reclaim(line))

    def _is_full(self, line: Line) -> bool:
        return self.room.is_full(line) and not (self.lending.possible and self.lending.may_reclaim(line))

    def key(self, number: int) -> Key:
        """Where the first job of a line stands in the queue."""
        lines = self.desk.lines
        line = lines.lines[number]
        first = self._next(number) if number in self._promised else lines.live[number]
        counts_from, job, *_ = first
        if self._fifo:
            return line.rank, False, counts_from, job, number
        return line.rank, self.is_borrowing(line), counts_from + self._shifts.get(line.project, 0.0), job, number

    def _next(self, number: int) -> Ask:
        """The first of a line that has not been promised a start; the last if all have."""
        lines = self.desk.lines
        return lines.head(number, min(self._promised.get(number, 0), lines.length(number) - 1))

    def is_borrowing(self, line: Line) -> bool:
        """Whether a start of this line would be on borrowed quota wherever it may go."""
        used, own, devices = self.desk.accounts.used, self.desk.accounts.own, line.devices
        for account in line.accounts:  # noqa: SIM110 — asked for every line of every turn, and this is twice as quick
            if used[account] + devices <= own[account]:
                return False
        return True

    def _serve(self, number: int, line: Line) -> str:
        """Start the first job of a line if it can start; else promise it a start or take devices back for it."""
        desk = self.desk
        job = (self._next(number) if number in self._promised else desk.lines.live[number]).id
        hold = desk.release_hold(job) if line.holder else None
        refusals: dict[int, str] = {}
        for pool, account in zip(line.pools, line.accounts, strict=True):
            kept = self._as_held(line, hold, pool, account) if hold else None
            found = kept or self.room.find(line, pool, account)
            if isinstance(found, list):
                self._start(desk.lines.asks[job], line, pool, found, account, exactly=kept is not None)
                return STARTED
            refusals[pool] = found
        if hold:
            desk.hold(hold)
        elif not self.lending.take_back(job, line, refusals) and self.promises.make(job, line, refusals):
            self._promised[number] = self._promised.get(number, 0) + 1
            return PROMISED
        return PASSED

    def _start(self, ask: Ask, line: Line, pool: int, nodes: list[int], account: int, *, exactly: bool) -> None:
        borrowed = self.desk.accounts.borrows(account, line.devices)
        claim = self.desk.place(ask, pool, nodes)
        self.began.append(Began(ask, claim, borrowed))
        if not exactly and self.promises.made:
            self.promises.spend(pool, nodes, line.wanted, claim.end)

    def _as_held(self, line: Line, hold: Claim, pool: int, account: int) -> list[int] | None:
        """The held placement exactly, if it has the shape of the request and quota allows it."""
        if hold.pool != pool or not line.nodes == len(hold.spots) == len(dict(hold.spots)):
            return None
        free = self.desk.pools[pool].free
        exact = all(devices == line.wanted <= free[node] for node, devices in hold.spots)
        if not exact or not self.desk.accounts.may_have(account, line.owner, line.devices):
            return None
        return [node for node, _ in hold.spots]

    def queue(self) -> list[tuple[bool, Ask]]:
        """Everybody who waits in a line, in order, and whether a start would be on borrowed quota."""
        lines, fifo = self.desk.lines, self._fifo
        classes: dict[tuple[int, bool], list[tuple[float, JobId, Ask]]] = defaultdict(list)
        borrows: dict[tuple[tuple[int, ...], int], bool] = {}
        for number in lines.live:
            line = lines.lines[number]
            wants = (line.accounts, line.devices)
            if wants not in borrows:
                borrows[wants] = not fifo and self.is_borrowing(line)
            shift = self._shifts.get(line.project, 0.0)
            standing = classes[line.rank, borrows[wants]]
            for ask in lines.waiting(number):
                standing.append((ask.counts_from + shift, ask.id, ask))
        return [(key[1], ask) for key in sorted(classes) for _, _, ask in sorted(classes[key])]
