"""Why a job waits, after a turn: the refusal nearest to a start, with its numbers.

Jobs of one line share a reason, but for those with something of their own.
"""

from typing import get_args

from headway.domain.ids import JobId
from headway.scheduler.desk.lines import Ask, Line
from headway.scheduler.desk.refusals import ARRAY, BEHIND, LENT, PROTECTED, QUOTA, SHORT, WINDOW
from headway.scheduler.desk.turn import Turn
from headway.scheduler.plan import (
    ArrayFull,
    BehindOthers,
    CapacityShort,
    NodesUnfit,
    QuotaReached,
    Reason,
    Reclaiming,
    WindowAhead,
)

_KINDS = get_args(Reason)


class Reasons:
    """Reasons by line, each made once."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._desk = turn.desk
        self._of_line: dict[int, Reason] = {}
        self._held: dict[int, int] = {}
        self._shorts: dict[tuple[int, int, int], Reason] = {}
        self._refusals: dict[tuple[int, str, int], Reason | None] = {}

    def of(self, ask: Ask, line: Line) -> Reason:
        """Why this job of the line waits."""
        taking = self._turn.lending.takings.get(ask.job.id) if self._turn.lending.takings else None
        if taking:
            return Reclaiming(self._desk.pools[taking.pool].device_type, line.devices, len(taking.victims))
        if line.holder:
            return self._of_holder(ask.job.id, line)
        known = self._of_line.get(ask.line)
        if known is None:
            known = self._of_line[ask.line] = self._dominant(line)
        return known

    def _of_holder(self, job: JobId, line: Line) -> Reason:
        hold = self._desk.release_hold(job)
        reason = self._dominant(line)
        if hold:
            self._desk.hold(hold)
            stopping = sum(claim.stopping for claim in self._desk.claims.values() if claim.pool == hold.pool)
            if stopping and isinstance(reason, CapacityShort):
                return Reclaiming(self._desk.pools[hold.pool].device_type, line.devices, stopping)
        return reason

    def _dominant(self, line: Line) -> Reason:
        """Of several ways to go the nearest to a start; of two alike, that of the more wanted pool."""
        if len(line.pools) == 1:
            return self._reason(line, line.pools[0], line.accounts[0])
        told = [self._reason(line, pool, account) for pool, account in zip(line.pools, line.accounts, strict=True)]
        if not told:
            first = self._desk.lines.head(self._desk.lines.number(line))
            wanted = ", ".join(first.job.request.device_types)
            return CapacityShort(wanted, line.devices, line.nodes, free=0, held=0)
        return min(told, key=_distance)

    def _reason(self, line: Line, pool: int, account: int) -> Reason:
        """Without asking again where nothing of the shape fits."""
        plain = line.array_cap is None and not line.protected and not line.excluded and not self._desk.windows
        short = self._shorts.get((pool, line.nodes, line.wanted)) if plain else None
        if short is not None:
            return self._over_quota(line, account) or short
        refused = self._turn.room.find(line, pool, account)
        if plain and refused == SHORT:
            self._shorts[pool, line.nodes, line.wanted] = self._short(line, pool)
        if isinstance(refused, list):  # It fits after all: the walk ended before it, or its gang was passed over.
            return self._short(line, pool)
        if refused == BEHIND:
            barred = self._turn.room.closures.barred(line, pool)
            promise = self._turn.promises.delayed(line, pool, account, barred)
            return BehindOthers(promise.job, None if promise.at is None else self._desk.moment(promise.at))
        return self._said(line, pool, account, refused)

    def _over_quota(self, line: Line, account: int) -> Reason | None:
        wants = (account, line.owner, line.devices)
        if line.holder:  # Asked while what is held for it is free.
            return self._desk.accounts.refusal(*wants)
        if wants not in self._refusals:
            self._refusals[wants] = self._desk.accounts.refusal(*wants)
        return self._refusals[wants]

    def _said(self, line: Line, pool: int, account: int, refused: str) -> Reason:
        accounts = self._desk.accounts
        reason: Reason | None = None
        if refused == QUOTA:
            reason = self._over_quota(line, account)
        elif refused == PROTECTED:
            reason = accounts.protected_refusal(account, line.devices)
        elif refused == LENT:
            reason = accounts.not_lent(account, line.devices, self._turn.room.free(pool))
        elif refused == ARRAY:
            array, cap = line.array or "", line.array_cap or 0
            reason = ArrayFull(array, cap, self._desk.arrays[array])
        elif refused == WINDOW:
            window = self._turn.room.closures.first(line, pool)
            reason = WindowAhead(window.name, window.begins, window.ends) if window else None
        return reason or self._short(line, pool)

    def _short(self, line: Line, number: int) -> Reason:
        known = self._shorts.get((number, line.nodes, line.wanted))
        if known is not None and line.holder is None:
            return known
        pool = self._desk.pools[number]
        if pool.could_fit(line.nodes, line.wanted, every=True) and not pool.could_fit(line.nodes, line.wanted):
            return NodesUnfit(pool.device_type, sum(not is_up for is_up in pool.up))
        if number not in self._held:
            held = [claim for claim in self._desk.holds.values() if claim.pool == number]
            self._held[number] = sum(devices for claim in held for _, devices in claim.spots)
        return CapacityShort(pool.device_type, line.devices, line.nodes, pool.free_devices, self._held[number])


def _distance(reason: Reason) -> tuple[int, int]:
    over = reason.used + reason.wanted - reason.quota if isinstance(reason, QuotaReached) else 0
    return _KINDS.index(type(reason)), over
