"""What each branch of the quota tree holds of each device type, against what it may.

Decides whether a project may have more, and whether that is within its guarantee or borrowed. Held devices count as
used. A project never holds up another one here, but for what is not lent.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from headway.domain.quota import Entry, Grant, QuotaTree
from headway.scheduler.plan import (
    BorrowCeiling,
    BudgetSpent,
    NotLent,
    PersonCeiling,
    ProtectedNeedsGuarantee,
    QuotaReached,
    Reason,
)

INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Rule:
    """What one branch may have of one device type. `ceiling` None: any number. `above`: the accounts it adds up to."""

    branch: str
    device_type: str
    is_project: bool
    guaranteed: int
    ceiling: int | None
    per_person: int | None
    lend: int | None
    weight: float
    budget: float | None
    spent: float
    above: tuple[int, ...]


class Accounts:
    """Devices used, by account: a branch and a device type. Accounts are opened as they are asked for.

    By account, for quick answers: beyond `own` devices in use are borrowed, beyond `most` are too many; `chains`: it
    and those it adds up to, lowest first.
    """

    def __init__(self, tree: QuotaTree, grants: Sequence[Grant], spent: Mapping[tuple[str, str], float]) -> None:
        self._tree = tree
        self._grants = grants
        self._spent = spent
        self._at: datetime | None = None
        self._numbers: dict[tuple[str, str], int] = {}
        self.rules: list[Rule] = []
        self.used: list[int] = []
        self.own: list[float] = []
        self.most: list[float] = []
        self.chains: list[tuple[int, ...]] = []
        self.people: dict[tuple[int, str], int] = {}
        self._lenders: dict[str, list[int]] = defaultdict(list)
        self._counting: dict[str, bool] = {}

    def copy(self) -> "Accounts":
        """Accounts that change apart from these; rules are shared."""
        twin = object.__new__(Accounts)
        twin.__dict__.update(self.__dict__)
        twin.used, twin.people, twin.rules = self.used[:], self.people.copy(), self.rules[:]
        twin.own, twin.most, twin.chains = self.own[:], self.most[:], self.chains[:]
        twin._numbers, twin._lenders = self._numbers.copy(), defaultdict(list, self._lenders)
        return twin

    def at(self, now: datetime) -> None:
        """Grants hold as of this moment."""
        if not self._grants or now == self._at:
            self._at = now
            return
        self._at = now
        for number, rule in enumerate(self.rules):
            self.rules[number] = granted = self._rule(rule.branch, rule.device_type, rule.above)
            self.own[number], self.most[number] = _bounds(granted)

    def account(self, project: str, device_type: str) -> int:
        """The number of a project's account; opens it and those above it."""
        number = self._numbers.get((project, device_type))
        if number is not None:
            return number
        path = [branch.name for branch in self._tree.path(project)] or [project]
        above: tuple[int, ...] = ()
        for name in reversed(path):
            number = self._numbers.get((name, device_type))
            if number is None:
                number = self._open(name, device_type, above)
            above = (*above, number)
        return above[-1]

    def add(self, account: int, person: str, devices: int) -> None:
        """Count devices as used, or (negative) no longer."""
        for number in self.chains[account]:
            self.used[number] += devices
        if self.rules[account].per_person is not None:
            self.people[account, person] = self.people.get((account, person), 0) + devices

    def borrows(self, account: int, devices: int) -> bool:
        """Whether that many more would be beyond the guarantee (where the project may go beyond at all)."""
        return self.used[account] + devices > self.own[account]

    def counts_people(self, project: str) -> bool:
        """Whether persons have ceilings in the project."""
        known = self._counting.get(project)
        if known is None:
            branch = self._tree.branches.get(project)
            entries = branch.entries.values() if branch else ()
            known = self._counting[project] = any(entry.per_person is not None for entry in entries)
        return known

    def room(self, account: int) -> int | None:
        """How many more the project's own ceiling leaves; None: any number."""
        ceiling = self.rules[account].ceiling
        return None if ceiling is None else ceiling - self.used[account]

    def may_have(self, account: int, person: str, devices: int) -> bool:
        """Whether ceilings and budgets allow that many more; `refusal` says why not."""
        used, most = self.used, self.most
        for number in self.chains[account]:
            if used[number] + devices > most[number]:
                return False
        per_person = self.rules[account].per_person
        return per_person is None or self.people.get((account, person), 0) + devices <= per_person

    def crowded(self, account: int, person: str, devices: int) -> tuple[int, int] | None:
        """The branch above whose ceiling others have used up, and how many devices it lacks.

        None where the project is beyond its own guarantee, or something else than a ceiling above refuses it.
        """
        rule = self.rules[account]
        held = self.people.get((account, person), 0)
        if self.used[account] + devices > rule.guaranteed or self._over(account, devices, is_project=True):
            return None
        if rule.per_person is not None and held + devices > rule.per_person:
            return None
        crowds = [number for number in rule.above if self._over(number, devices, is_project=False)]
        if not crowds or any(self._is_spent(number) for number in rule.above):
            return None
        lacks = {number: self.used[number] + devices - (self.rules[number].ceiling or 0) for number in crowds}
        narrowest = max(crowds, key=lambda number: len(self.rules[number].above))
        return narrowest, max(lacks.values())

    def _is_spent(self, account: int) -> bool:
        rule = self.rules[account]
        return rule.budget is not None and rule.spent >= rule.budget

    def refusal(self, account: int, person: str, devices: int) -> Reason | None:
        """Why the project may not have that many more: the lowest branch that says no."""
        rule = self.rules[account]
        for number in self.chains[account]:
            refused = self._over(number, devices, is_project=number == account)
            if refused:
                return refused
        held = self.people.get((account, person), 0)
        if rule.per_person is not None and held + devices > rule.per_person:
            return PersonCeiling(person, rule.branch, rule.device_type, rule.per_person, held, devices)
        return None

    def protected_refusal(self, account: int, devices: int) -> Reason | None:
        """Why a protected job may not start: it never runs on borrowed quota."""
        if not self.borrows(account, devices):
            return None
        rule = self.rules[account]
        return ProtectedNeedsGuarantee(rule.branch, rule.device_type, rule.guaranteed, self.used[account], devices)

    def not_lent(self, account: int, devices: int, free: int) -> Reason | None:
        """Why a borrower may not have that many of the `free` devices of the type: others do not lend them."""
        device_type = self.rules[account].device_type
        lenders = self._lenders.get(device_type)
        if not lenders or not self.borrows(account, devices):
            return None
        kept = sum(self._unlent(number) for number in lenders if number != account)
        return NotLent(device_type, devices, free, kept) if free - devices < kept else None

    def anybody_borrows(self) -> bool:
        """Whether a project holds more than its guarantee while another is promised some."""
        rules = [(rule, used) for rule, used in zip(self.rules, self.used, strict=True) if rule.is_project]
        return any(used > rule.guaranteed != rule.ceiling for rule, used in rules) and any(
            used < rule.guaranteed for rule, used in rules
        )

    @property
    def lends(self) -> bool:
        """Whether anybody bounds what it lends."""
        return bool(self._lenders)

    def _unlent(self, account: int) -> int:
        rule = self.rules[account]
        return max(0, rule.guaranteed - self.used[account] - (rule.lend or 0))

    def _over(self, account: int, devices: int, *, is_project: bool) -> Reason | None:
        rule, used = self.rules[account], self.used[account]
        if rule.ceiling is not None and used + devices > rule.ceiling:
            if is_project and rule.ceiling == rule.guaranteed:
                return QuotaReached(rule.branch, rule.device_type, rule.guaranteed, used, devices)
            return BorrowCeiling(rule.branch, rule.device_type, rule.guaranteed, rule.ceiling, used, devices)
        if rule.budget is not None and rule.spent >= rule.budget:
            return BudgetSpent(rule.branch, rule.device_type, rule.budget, round(rule.spent, 1))
        return None

    def _open(self, branch: str, device_type: str, above: tuple[int, ...]) -> int:
        number = self._numbers[branch, device_type] = len(self.rules)
        rule = self._rule(branch, device_type, above)
        self.rules.append(rule)
        self.used.append(0)
        own, most = _bounds(rule)
        self.own.append(own)
        self.most.append(most)
        self.chains.append((number, *reversed(above)))
        if rule.lend is not None:
            self._lenders[device_type] = [*self._lenders.get(device_type, ()), number]
        return number

    def _rule(self, branch: str, device_type: str, above: tuple[int, ...]) -> Rule:
        known = self._tree.branches.get(branch)
        is_project = known is None or known.is_project
        entry = self._tree.entry(branch, device_type)
        if entry is None:
            entry = Entry() if is_project else Entry(borrow_ceiling=None)
        granted = sum(
            grant.devices
            for grant in self._grants
            if grant.device_type == device_type
            and self._at
            and grant.holds_at(self._at)
            and self._is_below(grant, branch)
        )
        guaranteed = entry.guaranteed + granted
        ceiling = None if entry.ceiling is None else entry.ceiling + granted
        spent = self._spent.get((branch, device_type), 0.0)
        return Rule(
            branch=branch,
            device_type=device_type,
            is_project=is_project,
            guaranteed=guaranteed,
            ceiling=ceiling,
            per_person=entry.per_person if is_project else None,
            lend=entry.lend_ceiling if is_project else None,
            weight=entry.weight,
            budget=entry.budget.hard,
            spent=spent,
            above=above,
        )

    def _is_below(self, grant: Grant, branch: str) -> bool:
        return grant.project == branch or any(step.name == branch for step in self._tree.path(grant.project))


def _bounds(rule: Rule) -> tuple[float, float]:
    own = INFINITE if rule.ceiling == rule.guaranteed else rule.guaranteed
    is_spent = rule.budget is not None and rule.spent >= rule.budget
    return own, -INFINITE if is_spent else INFINITE if rule.ceiling is None else rule.ceiling
