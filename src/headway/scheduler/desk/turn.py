"""One walk through the queue: who starts now, who is promised a start, for whom lent devices are taken back.

Decides for one line at a time, in the order of the queue. What was given or promised earlier in the same turn is never
taken back.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from headway.domain.ids import JobId
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.closures import NONE, Closures
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Ask, Line, Shape
from headway.scheduler.desk.pool import Limits
from headway.scheduler.desk.reclaim import Taking, making_room, on_borrowed, taking
from headway.scheduler.desk.reserve import Outlook, Promise, earliest, promise_sometime

Key = tuple[int, bool, float, JobId, int]
Refused = Promise | str
"""Why one pool is no way to go: the promise it would delay, or one of the words below."""
FOREVER = 1e18
DEPTH = 400
"""Lines of each shape looked at for starts in a turn that needs no complete plan, and one more for each that starts."""
NOBODY: Iterator[int] = iter(())
CANDIDATES = 16
"""Lines of each shape looked at for promises in a turn that needs no complete plan."""
QUOTA, ARRAY, WINDOW, LENT, PROTECTED, SHORT = "quota", "array", "window", "lent", "protected", "short"


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
        self.promises: dict[int, list[Promise]] = defaultdict(list)
        self.takings: dict[JobId, Taking] = {}
        self._made: list[Promise] = []
        self._kept: dict[int, set[int]] = defaultdict(set)
        self.closures = Closures(desk)
        self._most = 1 if desk.policy.fifo else desk.policy.reservations
        self._borrowed: set[JobId] | None = None
        self._promised: dict[int, int] = {}
        self._full: dict[tuple[int, int, int], float] = {}
        self._lenders: dict[int, bool] = {}
        self._further: dict[Shape, Iterator[int]] = {}
        self._reclaimable = desk.policy.reclaim and not desk.policy.fifo and desk.accounts.anybody_borrows()

    def run(self, *, promise_all: bool = False) -> "Turn":
        """Walk the queue until nobody more can start; with `promise_all` until all promises are made too."""
        hopeful, passed = self._sorted_out(promise_all=promise_all)
        if not hopeful and not promise_all:
            return self
        heap = [self.key(number) for number in (*hopeful, *passed)]
        heapify(heap)
        while heap and (hopeful or (promise_all and self._promises_left())):
            key = heappop(heap)
            number = key[-1]
            line = self.desk.lines.lines[number]
            if (number not in hopeful or self._is_full(line)) and not self._wants_promise(line):
                hopeful.discard(number)
                continue
            before = self._promised.get(number, 0)
            if self._has_moved(number, line, key):
                heappush(heap, self.key(number))
            elif self._serve(number):
                if number in self.desk.lines.live:
                    heappush(heap, self.key(number))
                else:
                    hopeful.discard(number)
                if (following := next(self._further.get(line.shape, NOBODY), None)) is not None:
                    hopeful.add(following)
                    heappush(heap, self.key(following))
                if line.holder:
                    self._look_again(key, hopeful, heap)
            else:
                hopeful.discard(number)
                promised = self._promised.get(number, 0)
                if promised > before and promised < self.desk.lines.length(number):
                    heappush(heap, self.key(number))
        return self

    def _look_again(self, key: Key, hopeful: set[int], heap: list[Key]) -> None:
        """A job that started gave up what was held for it: those behind it may have room now."""
        self._full.clear()
        waiting = {number for *_, number in heap}
        behind = {number for number in self._sorted_out(promise_all=False)[0] if self.key(number) > key}
        hopeful |= behind
        for number in behind - waiting:
            heappush(heap, self.key(number))

    def _has_moved(self, number: int, line: Line, key: Key) -> bool:
        """Whether a line stands elsewhere by now: its project has more than before, or its first job a promise."""
        if number in self._promised:
            return self.key(number) != key
        return not self.desk.policy.fifo and self.is_borrowing(line) != key[1]

    def _sorted_out(self, *, promise_all: bool) -> tuple[set[int], list[int]]:
        """The lines that may move, and the first of those that cannot: the next to be promised a start."""
        lines, hopeful = self.desk.lines, set[int]()
        passed: list[int] = []
        for shape, places in lines.shapes.items():
            if not places:
                continue
            if self._has_room(shape):
                hopeful.update([number for *_, number in (places if promise_all else places[: self._depth])])
                if not promise_all and len(places) > self._depth:
                    self._further[shape] = iter([number for *_, number in places[self._depth :]])
                continue
            if self._reclaimable or self.desk.holds:
                asked = places if promise_all or self.desk.holds else places[: self._depth]
                moving = [number for *_, number in asked if self._may_move(lines.lines[number])]
                hopeful.update(moving)
            passed += [number for *_, number in places[: len(places) if promise_all else CANDIDATES]]
        return hopeful, [number for number in passed if number not in hopeful]

    def _has_room(self, shape: Shape) -> bool:
        pools, nodes, wanted = shape
        return any(self.desk.pools[pool].able(wanted) >= nodes for pool in pools)

    def key(self, number: int) -> Key:
        """Where the first job of a line stands in the queue."""
        desk = self.desk
        line, first = desk.lines.lines[number], desk.lines.live[number]
        if number in self._promised:
            first = self._next(number)
        if desk.policy.fifo:
            return line.rank, False, first.counts_from, first.id, number
        counts_from = first.counts_from + desk.fair.shifts.get(line.project, 0.0)
        return line.rank, self.is_borrowing(line), counts_from, first.id, number

    def _next(self, number: int) -> Ask:
        """The first of a line that has not been promised a start; the last if all have."""
        lines = self.desk.lines
        return lines.head(number, min(self._promised.get(number, 0), lines.length(number) - 1))

    def is_borrowing(self, line: Line) -> bool:
        """Whether a start of this line would be on borrowed quota wherever it may go."""
        used, own, devices = self.desk.accounts.used, self.desk.accounts.own, line.devices
        return all([used[account] + devices > own[account] for account in line.accounts])

    def refused(self, line: Line, pool: int, account: int) -> Refused | list[int]:
        """The nodes for the first job of a line, or why it may not start in this pool now."""
        desk, devices = self.desk, line.devices
        if line.array_cap is not None and desk.arrays[line.array or ""] >= line.array_cap:
            return ARRAY
        if not desk.accounts.may_have(account, line.owner, devices):
            return QUOTA
        if line.protected and desk.accounts.protected_refusal(account, devices):
            return PROTECTED
        barred = NONE
        if line.excluded or desk.windows:
            if self.closures.bars_all(line, pool):
                return WINDOW
            barred = self.closures.barred(line, pool)
        nodes = desk.pools[pool].fit(line.nodes, line.wanted, barred or None)
        if nodes is None:
            if barred:
                return WINDOW if self.closures.is_why(line, pool) else SHORT
            self._full[pool, line.nodes, line.wanted] = -1.0
            return SHORT
        if desk.accounts.lends and desk.accounts.not_lent(account, devices, self.free(pool)):
            return LENT
        return self._behind(line, pool, account, nodes, barred)

    def free(self, pool: int) -> int:
        """Free devices of the pool's type, in all pools of it."""
        device_type = self.desk.pools[pool].device_type
        return sum(other.free_devices for other in self.desk.pools if other.device_type == device_type)

    def _serve(self, number: int) -> bool:
        """Start the first job of a line if it can start; else promise it a start or take devices back for it."""
        desk, line = self.desk, self.desk.lines.lines[number]
        job = (self._next(number) if number in self._promised else desk.lines.live[number]).id
        hold = desk.release_hold(job) if line.holder else None
        refusals: dict[int, Refused] = {}
        for pool, account in zip(line.pools, line.accounts, strict=True):
            kept = self._as_held(line, hold, pool, account)
            found = kept or self.refused(line, pool, account)
            if isinstance(found, list):
                self._start(desk.lines.asks[job], pool, found, account, exactly=kept is not None)
                return True
            refusals[pool] = found
        if hold:
            desk.hold(hold)
        elif not self._take_back(job, line, refusals) and self._promise(job, line, refusals):
            self._promised[number] = self._promised.get(number, 0) + 1
        return False

    def _start(self, ask: Ask, pool: int, nodes: list[int], account: int, *, exactly: bool) -> None:
        line = self.desk.lines.lines[ask.line]
        borrowed = self.desk.accounts.borrows(account, line.devices)
        claim = self.desk.place(ask, pool, nodes)
        self.began.append(Began(ask, claim, borrowed))
        if not exactly and not self._kept[pool].isdisjoint(nodes):
            for promise in self.promises[pool]:
                if promise.outlasted_by(claim.end):
                    promise.spend(nodes, line.wanted)

    def _as_held(self, line: Line, hold: Claim | None, pool: int, account: int) -> list[int] | None:
        """The held placement exactly, if it has the shape of the request and quota allows it."""
        if hold is None or hold.pool != pool or not line.nodes == len(hold.spots) == len(dict(hold.spots)):
            return None
        free = self.desk.pools[pool].free
        exact = all(devices == line.wanted <= free[node] for node, devices in hold.spots)
        if not exact or not self.desk.accounts.may_have(account, line.owner, line.devices):
            return None
        return [node for node, _ in hold.spots]

    def _behind(self, line: Line, pool: int, account: int, nodes: list[int], barred: Limits) -> Refused | list[int]:
        """Other nodes if these would delay a promise, or the promise that leaves none."""
        if not self._made:
            return nodes
        end = None if line.length is None else self.desk.now + line.length
        outlasted = [made for made in self._made if end is None or made.at is None or end > made.at]
        here = [made for made in outlasted if made.pool == pool]
        if not here and line.wanted == self.desk.pools[pool].sizes[nodes[0]]:
            return self._on_kept(line, pool, nodes, barred)
        if here and not self._kept[pool].isdisjoint(nodes):
            spared = self._sparing(line, pool, nodes, here, barred)
            if not isinstance(spared, list):
                return spared
            nodes = spared
        if self._overdraws(line, account, outlasted):
            return next((made for made in outlasted if made.account == account), nodes)
        return nodes

    def _sparing(
        self, line: Line, pool: int, nodes: list[int], here: Sequence[Promise], barred: Limits
    ) -> Promise | list[int]:
        """Nodes that these promises can spare, or the first promise that leaves none."""
        wanted, limits = line.wanted, dict(barred)
        if not any(made.spare.get(node, wanted) < wanted for made in here for node in nodes):
            return nodes
        for made in here:
            for node, spare in made.spare.items():
                limits[node] = min(spare, limits.get(node, spare))
            found = self.desk.pools[pool].fit(line.nodes, wanted, limits)
            if found is None:
                if not barred:
                    self._full.setdefault((pool, line.nodes, wanted), _or_ever(line.length))
                return made
            nodes = found
        return nodes

    def _on_kept(self, line: Line, pool: int, nodes: list[int], barred: Limits) -> list[int]:
        """A gang that ends in time takes nodes that are kept for promises first, and leaves others to longer ones."""
        free, wanted = self.desk.pools[pool].free, line.wanted
        first = [node for node in self._kept[pool] if free[node] == wanted and node not in barred]
        return (sorted(first) + [node for node in nodes if node not in first])[: line.nodes] if first else nodes

    def _overdraws(self, line: Line, account: int, promises: Sequence[Promise]) -> bool:
        """Whether the job would spend quota that these promises to its own project need."""
        room = self.desk.accounts.room(account)
        if room is None:
            return False
        return line.devices > room - sum(made.line.devices for made in promises if made.account == account)

    def _promise(self, job: JobId, line: Line, refusals: Mapping[int, Refused]) -> bool:
        """Promise a start in the pool where it can be soonest, if it waits for capacity there."""
        if not self._wants_promise(line) or line.array_cap is not None:
            return False
        if SHORT not in refusals.values():
            return False
        timed: list[tuple[float, int, dict[int, int]]] = []
        untimed: list[int] = []
        for pool, account in zip(line.pools, line.accounts, strict=True):
            if refusals[pool] == SHORT and self._may_promise(line, pool, account):
                found = earliest(line, self.outlook(line, pool))
                if found:
                    timed.append((found[0], pool, found[1]))
                else:
                    untimed.append(pool)
        if timed:
            at, pool, spare = min(timed, key=lambda found: found[0])
            return self._keep_promise(job, line, pool, at, spare)
        if untimed:
            spare = promise_sometime(line, self.outlook(line, untimed[0]))
            return self._keep_promise(job, line, untimed[0], None, spare)
        return False

    def _may_promise(self, line: Line, pool: int, account: int) -> bool:
        made = self.promises[pool]
        if len(made) >= self._most:
            return False
        return not self._overdraws(line, account, self._made) and self.desk.pools[pool].could_fit(
            line.nodes, line.wanted
        )

    def _is_full(self, line: Line) -> bool:
        """Whether a shorter job of this shape found no room in this turn, wherever it looked."""
        if line.holder is not None or not line.pools:
            return False
        length = _or_ever(line.length)
        for pool in line.pools:
            if self._full.get((pool, line.nodes, line.wanted), FOREVER) > length:
                return False
        return not (self._reclaimable and self._may_reclaim(line))

    def _wants_promise(self, line: Line) -> bool:
        return any([len(self.promises[pool]) < self._most for pool in line.pools])

    def _keep_promise(self, job: JobId, line: Line, pool: int, at: float | None, spare: dict[int, int]) -> bool:
        if spare:
            account = line.accounts[line.pools.index(pool)]
            promise = Promise(job, line, pool, account, at, spare)
            self.promises[pool].append(promise)
            self._made.append(promise)
            self._kept[pool].update(spare)
        return bool(spare)

    def outlook(self, line: Line, pool: int) -> Outlook:
        """What is known of a pool's future, for one line."""
        desk = self.desk
        return Outlook(
            desk.pools[pool],
            desk.now,
            desk.endings[pool],
            self.promises[pool],
            self.closures.excluded(line, pool),
            self.closures.spans(line, pool),
        )

    def _take_back(self, job: JobId, line: Line, refusals: Mapping[int, Refused]) -> bool:
        """Take lent devices back for a job within its guarantee that waits for capacity."""
        if not self._may_reclaim(line):
            return False
        if self._borrowed is None:
            self._borrowed = on_borrowed(self.desk)
        for pool, account in zip(line.pools, line.accounts, strict=True):
            found = None
            if refusals[pool] == SHORT and not self.desk.accounts.borrows(account, line.devices):
                found = taking(self.desk, line, pool, self._borrowed, self.closures.barred(line, pool))
            elif refusals[pool] == QUOTA:
                barred = self.closures.barred(line, pool)
                found = making_room(self.desk, line, pool, account, self._borrowed, barred)
            if found:
                self._clear(job, line, account, found)
                return True
        return False

    def _clear(self, job: JobId, line: Line, account: int, found: Taking) -> None:
        """Victims are asked to end; what is free of the freed room already is held."""
        desk = self.desk
        self.takings[job] = found
        for victim in found.victims:
            desk.claims[victim.job] = victim._replace(stopping=True)
        free = desk.pools[found.pool].free
        spots = tuple((node, min(free[node], line.wanted)) for node in found.nodes if free[node])
        desk.hold(Claim(job, account, line.owner, found.pool, spots, line.devices, desk.now, None))

    def _may_move(self, line: Line) -> bool:
        """Whether it is worth asking although no pool has room: it has a hold, or lent devices could be taken back."""
        return line.holder is not None or (self._reclaimable and self._may_reclaim(line))

    def _may_reclaim(self, line: Line) -> bool:
        if not self.desk.policy.reclaim or self.desk.policy.fifo or line.array_cap is not None:
            return False
        rules = self.desk.accounts.rules
        return any(
            rules[account].guaranteed and not self.desk.accounts.borrows(account, line.devices) and self._lent(account)
            for account in line.accounts
        )

    def _lent(self, account: int) -> bool:
        """Whether anybody else is beyond its guarantee of this device type."""
        if account not in self._lenders:
            rules, used = self.desk.accounts.rules, self.desk.accounts.used
            device_type = rules[account].device_type
            self._lenders[account] = any(
                rule.is_project and rule.device_type == device_type and used[n] > rule.guaranteed != rule.ceiling
                for n, rule in enumerate(rules)
                if n != account
            )
        return self._lenders[account]

    def _promises_left(self) -> bool:
        return any(len(self.promises[pool]) < self._most for pool in range(len(self.desk.pools)))

    def queue(self) -> list[tuple[bool, Ask]]:
        """Everybody who waits in a line, in order, and whether a start would be on borrowed quota."""
        lines, fifo = self.desk.lines, self.desk.policy.fifo
        shifts = {} if fifo else self.desk.fair.shifts
        classes: dict[tuple[int, bool], list[tuple[float, JobId, Ask]]] = defaultdict(list)
        borrows: dict[tuple[tuple[int, ...], int], bool] = {}
        for number in lines.live:
            line = lines.lines[number]
            wants = (line.accounts, line.devices)
            if wants not in borrows:
                borrows[wants] = not fifo and self.is_borrowing(line)
            shift = shifts.get(line.project, 0.0)
            standing = classes[line.rank, borrows[wants]]
            for ask in lines.waiting(number):
                standing.append((ask.counts_from + shift, ask.id, ask))
        return [(key[1], ask) for key in sorted(classes) for _, _, ask in sorted(classes[key])]


def _or_ever(length: float | None) -> float:
    return FOREVER / 2 if length is None else length
