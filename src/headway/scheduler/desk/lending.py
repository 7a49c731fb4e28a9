"""Lent devices within one turn: for whom they are taken back, and from whom.

Decides only for jobs within their project's guarantee that wait for capacity, or for a ceiling that others have used
up; `reclaim` chooses the victims. What was taken for one job is not taken again for another.
"""

from collections.abc import Mapping

from headway.domain.ids import JobId
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.closures import Closures
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Line
from headway.scheduler.desk.reclaim import Taking, making_room, on_borrowed, taking
from headway.scheduler.desk.refusals import QUOTA, SHORT


class Lending:
    """`possible`: whether anybody could get anything back at all. `takings`: by the job they are for."""

    def __init__(self, desk: Desk, closures: Closures) -> None:
        self._desk = desk
        self._closures = closures
        self.possible = desk.policy.reclaim and not desk.policy.fifo and desk.accounts.anybody_borrows()
        self.takings: dict[JobId, Taking] = {}
        self._borrowed: set[JobId] | None = None
        self._lenders: dict[int, bool] = {}

    def may_reclaim(self, line: Line) -> bool:
        """Whether the line is within a guarantee of which others hold some."""
        if not self._desk.policy.reclaim or self._desk.policy.fifo or line.array_cap is not None:
            return False
        accounts, devices = self._desk.accounts, line.devices
        for account in line.accounts:
            if accounts.rules[account].guaranteed and not accounts.borrows(account, devices) and self._lent(account):
                return True
        return False

    def take_back(self, job: JobId, line: Line, refusals: Mapping[int, str]) -> bool:
        """Take lent devices back for a job within its guarantee that waits for capacity."""
        if not self.may_reclaim(line):
            return False
        if self._borrowed is None:
            self._borrowed = on_borrowed(self._desk)
        for pool, account in zip(line.pools, line.accounts, strict=True):
            found = None
            if refusals[pool] == SHORT and not self._desk.accounts.borrows(account, line.devices):
                found = taking(self._desk, line, pool, self._borrowed, self._closures.barred(line, pool))
            elif refusals[pool] == QUOTA:
                barred = self._closures.barred(line, pool)
                found = making_room(self._desk, line, pool, account, self._borrowed, barred)
            if found:
                self._clear(job, line, account, found)
                return True
        return False

    def _lent(self, account: int) -> bool:
        """Whether anybody else is beyond its guarantee of this device type."""
        if account not in self._lenders:
            rules, used = self._desk.accounts.rules, self._desk.accounts.used
            device_type = rules[account].device_type
            self._lenders[account] = any(
                rule.is_project and rule.device_type == device_type and used[n] > rule.guaranteed != rule.ceiling
                for n, rule in enumerate(rules)
                if n != account
            )
        return self._lenders[account]

    def _clear(self, job: JobId, line: Line, account: int, found: Taking) -> None:
        """Victims are asked to end; what is free of the freed room already is held."""
        desk = self._desk
        self.takings[job] = found
        for victim in found.victims:
            desk.claims[victim.job] = victim._replace(stopping=True)
        free = desk.pools[found.pool].free
        spots = tuple((node, min(free[node], line.wanted)) for node in found.nodes if free[node])
        desk.hold(Claim(job, account, line.owner, found.pool, spots, line.devices, desk.now, None))
