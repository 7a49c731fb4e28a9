"""The promised starts of one turn: who has one, which nodes are kept for it, and what a later job may have.

Decides whether a job that may still run when a promise falls due leaves it what it needs. A promise is never taken back
within its turn, and starts nothing itself.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from headway.domain.ids import JobId
from headway.scheduler.desk.closures import Closures
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Line
from headway.scheduler.desk.pool import Limits
from headway.scheduler.desk.refusals import SHORT
from headway.scheduler.desk.reserve import Outlook, Promise, earliest, promise_sometime


class Promises:
    """`of_pool`: in the order they were made. `kept`: by pool, the nodes that any of them needs."""

    def __init__(self, desk: Desk, closures: Closures) -> None:
        self._desk = desk
        self._closures = closures
        self._most = 1 if desk.policy.fifo else desk.policy.reservations
        self.of_pool: dict[int, list[Promise]] = defaultdict(list)
        self.made: list[Promise] = []
        self.kept: dict[int, set[int]] = defaultdict(set)
        self._short_of = set(range(len(desk.pools)))
        self._limits: dict[tuple[int, int], dict[int, int]] = {}

    @property
    def left(self) -> bool:
        """Whether any pool has promises left to make."""
        return bool(self._short_of)

    def wanted(self, line: Line) -> bool:
        """Whether a pool of the line has promises left to make."""
        return not self._short_of.isdisjoint(line.pools)

    def outlasted(self, line: Line) -> list[Promise]:
        """Those that fall due while the line's first job may still run, should it start now."""
        if line.bound is None:
            return self.made
        end = self._desk.now + line.bound
        return [made for made in self.made if made.at is None or end > made.at]

    def beside(
        self, line: Line, pool: int, nodes: list[int], outlasted: Sequence[Promise], barred: Limits
    ) -> list[int] | None:
        """These nodes, or others, such that every promise keeps what it needs; None: there are none."""
        here = [made for made in outlasted if made.pool == pool]
        if not here:
            whole = line.wanted == self._desk.pools[pool].sizes[nodes[0]]
            return self._on_kept(line, pool, nodes, barred) if whole else nodes
        wanted, limits = line.wanted, self._left(pool, here)
        if all([limits.get(node, wanted) >= wanted for node in nodes]):
            return nodes
        return self._desk.pools[pool].fit(line.nodes, wanted, limits | dict(barred) if barred else limits)

    def overdrawn(self, line: Line, account: int, promises: Sequence[Promise]) -> bool:
        """Whether the job would spend quota that these promises to its own project need."""
        room = self._desk.accounts.room(account)
        if room is None:
            return False
        return line.devices > room - sum(made.line.devices for made in promises if made.account == account)

    def delayed(self, line: Line, pool: int, account: int, barred: Limits) -> Promise:
        """The first promise that a start of the line there would delay, where there is one."""
        limits, outlasted = dict(barred), self.outlasted(line)
        for made in outlasted:
            if made.pool == pool:
                _narrow(limits, made)
                if self._desk.pools[pool].fit(line.nodes, line.wanted, limits) is None:
                    return made
        return next(made for made in outlasted if made.account == account)

    def spend(self, pool: int, nodes: Sequence[int], devices: int, end: float | None) -> None:
        """A job that is believed to run until `end` took these."""
        if self.kept[pool].isdisjoint(nodes):
            return
        self._limits.clear()
        for promise in self.of_pool[pool]:
            if promise.outlasted_by(end):
                promise.spend(nodes, devices)

    def make(self, job: JobId, line: Line, refusals: Mapping[int, str]) -> bool:
        """Promise a start in the pool where it can be soonest, of those where the line waits for capacity."""
        if not self.wanted(line) or line.array_cap is not None or SHORT not in refusals.values():
            return False
        timed: list[tuple[float, int, dict[int, int]]] = []
        untimed: list[int] = []
        for pool, account in zip(line.pools, line.accounts, strict=True):
            if refusals[pool] == SHORT and self._may_make(line, pool, account):
                found = earliest(line, self._outlook(line, pool), firm=self._is_firm(job))
                if found:
                    timed.append((found[0], pool, found[1]))
                else:
                    untimed.append(pool)
        if timed:
            at, pool, spare = min(timed, key=lambda found: found[0])
            return self._keep(job, line, pool, at, spare)
        if untimed:
            spare = promise_sometime(line, self._outlook(line, untimed[0]))
            return self._keep(job, line, untimed[0], None, spare)
        return False

    def _is_firm(self, job: JobId) -> bool:
        """Whether the job has waited for so long that every node that comes free is kept for it."""
        policy = self._desk.policy
        submitted = self._desk.seconds(self._desk.lines.asks[job].job.submitted_at)
        return policy.fifo or self._desk.now - submitted >= policy.firm_after.total_seconds()

    def _may_make(self, line: Line, pool: int, account: int) -> bool:
        if pool not in self._short_of:
            return False
        return not self.overdrawn(line, account, self.made) and self._desk.pools[pool].could_fit(
            line.nodes, line.wanted
        )

    def _keep(self, job: JobId, line: Line, pool: int, at: float | None, spare: dict[int, int]) -> bool:
        if spare:
            account = line.accounts[line.pools.index(pool)]
            promise = Promise(job, line, pool, account, at, spare)
            self.of_pool[pool].append(promise)
            self.made.append(promise)
            self.kept[pool].update(spare)
            if len(self.of_pool[pool]) >= self._most:
                self._short_of.discard(pool)
            self._limits.clear()
        return bool(spare)

    def _left(self, pool: int, here: Sequence[Promise]) -> dict[int, int]:
        """What these promises of the pool leave on the nodes they need. Which they are is told by how many they are:
        who outlasts one outlasts every earlier one."""
        known = self._limits.get((pool, len(here)))
        if known is None:
            known = self._limits[pool, len(here)] = {}
            for made in here:
                _narrow(known, made)
        return known

    def _on_kept(self, line: Line, pool: int, nodes: list[int], barred: Limits) -> list[int]:
        """A gang that ends in time takes nodes that are kept for promises first, and leaves others to longer ones."""
        free, wanted = self._desk.pools[pool].free, line.wanted
        first = [node for node in self.kept[pool] if free[node] == wanted and node not in barred]
        return (sorted(first) + [node for node in nodes if node not in first])[: line.nodes] if first else nodes

    def _outlook(self, line: Line, pool: int) -> Outlook:
        """What is known of a pool's future, for one line."""
        desk, closures = self._desk, self._closures
        return Outlook(
            desk.pools[pool],
            desk.now,
            desk.endings[pool],
            self.of_pool[pool],
            closures.excluded(line, pool),
            closures.spans(line, pool),
        )


def _narrow(limits: dict[int, int], made: Promise) -> None:
    for node, spare in made.spare.items():
        limits[node] = min(spare, limits.get(node, spare))
