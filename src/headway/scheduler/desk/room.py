"""Whether the first job of a line may start in one pool now, and on which nodes.

Decides by ceilings, windows, fit, what others do not lend, and promises made earlier in the turn; it never looks at the
order of the queue.
"""

from collections.abc import Sequence

from headway.scheduler.desk.closures import NONE, Closures
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Line
from headway.scheduler.desk.pool import Limits
from headway.scheduler.desk.promises import Promises
from headway.scheduler.desk.refusals import ARRAY, BEHIND, LENT, PROTECTED, QUOTA, SHORT, WINDOW
from headway.scheduler.desk.reserve import Promise

FOREVER = 1e18
EVER = FOREVER / 2
"""How long a job runs of which nobody knows how long: longer than any other."""


class Room:
    """What one turn has found out about room so far."""

    def __init__(self, desk: Desk, closures: Closures, promises: Promises) -> None:
        self._desk = desk
        self.closures = closures
        self._promises = promises
        self._full: dict[tuple[int, int, int], float] = {}

    def find(self, line: Line, pool: int, account: int) -> str | list[int]:
        """The nodes for the first job of a line, or the word for why it may not start in this pool now."""
        desk, devices = self._desk, line.devices
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
        return self._beside(line, pool, account, nodes, barred) if self._promises.made else nodes

    def free(self, pool: int) -> int:
        """Free devices of the pool's type, in all pools of it."""
        device_type = self._desk.pools[pool].device_type
        return sum(other.free_devices for other in self._desk.pools if other.device_type == device_type)

    def is_full(self, line: Line) -> bool:
        """Whether a shorter job of this shape found no room in this turn, wherever it looked."""
        full = self._full
        if not full or line.holder is not None or not line.pools:
            return False
        length, nodes, wanted = line.bound, line.nodes, line.wanted
        if length is None:
            length = EVER
        for pool in line.pools:  # noqa: SIM110 — asked for every line of every turn, and this is twice as quick
            if full.get((pool, nodes, wanted), FOREVER) > length:
                return False
        return True

    def forget(self) -> None:
        """More is free than was."""
        self._full.clear()

    def _beside(self, line: Line, pool: int, account: int, nodes: list[int], barred: Limits) -> str | list[int]:
        """These nodes, or others if they would delay a promise."""
        promises = self._promises
        outlasted = promises.outlasted(line)
        found = promises.beside(line, pool, nodes, outlasted, barred)
        if found is None:
            if not barred:
                shape = (pool, line.nodes, line.wanted)
                self._full[shape] = min(self._full.get(shape, FOREVER), _or_ever(line.bound))
            return BEHIND
        return BEHIND if promises.overdrawn(line, account, outlasted) and _owes(outlasted, account) else found


def _owes(promises: Sequence[Promise], account: int) -> bool:
    return any(made.account == account for made in promises)


def _or_ever(length: float | None) -> float:
    return EVER if length is None else length
