"""The quota tree as one versioned whole, and the grants that raise it for a while.

Departments may nest; projects are the leaves. Each has one entry per device type. `check` refuses a tree or grants that
contradict themselves; nothing here reads a file or knows who may change what.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite

from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.domain.parse import MOST


@dataclass(frozen=True, slots=True)
class Department:
    """A branch of the quota tree."""

    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Project:
    """What quota, jobs and statements belong to."""

    name: str
    department: str
    created_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """How many devices of one type a project may hold at once."""

    project: str
    device_type: str
    devices: int


@dataclass(frozen=True, slots=True)
class Budget:
    """Device-hours a month: past `soft` people are warned, past `hard` jobs wait. None: no such bound."""

    soft: float | None = None
    hard: float | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What one branch is promised of one device type, in devices.

    `borrow_ceiling`: how many beyond `guaranteed` it may hold while others leave them idle (None: any number);
    `lend_ceiling`: how many of its own idle ones others may hold (None: all); `weight`: its part of what is shared out;
    `per_person`: how many one person may hold within it (None: any number).
    """

    guaranteed: int = 0
    borrow_ceiling: int | None = 0
    lend_ceiling: int | None = None
    weight: float = 1.0
    per_person: int | None = None
    budget: Budget = Budget()

    @property
    def ceiling(self) -> int | None:
        """The most it may ever hold; None: any number."""
        return None if self.borrow_ceiling is None else self.guaranteed + self.borrow_ceiling


@dataclass(frozen=True, slots=True)
class Branch:
    """A department or a project with its parent department (None: at the top) and its entries by device type."""

    name: str
    parent: str | None = None
    is_project: bool = False
    entries: Mapping[str, Entry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuotaTree:
    """The whole table: its branches by name. A branch without an entry for a device type is not bounded there itself;
    a project without one is promised nothing and may borrow nothing."""

    branches: Mapping[str, Branch] = field(default_factory=dict)

    def entry(self, branch: str, device_type: str) -> Entry | None:
        """What a branch has of a device type; None where nothing is said."""
        found = self.branches.get(branch)
        return found.entries.get(device_type) if found else None

    def path(self, project: str) -> Iterator[Branch]:
        """The project, then its departments up to the top."""
        seen: set[str] = set()
        name: str | None = project
        while name is not None and name not in seen and name in self.branches:
            seen.add(name)
            yield self.branches[name]
            name = self.branches[name].parent


@dataclass(frozen=True, slots=True)
class Grant:
    """An approved addition to a project's guarantee, from a moment to a moment."""

    project: str
    device_type: str
    devices: int
    begins: datetime
    ends: datetime
    reason: str = ""
    approver: str = ""

    def holds_at(self, now: datetime) -> bool:
        """Whether it raises the quota at this moment."""
        return self.begins <= now < self.ends


def flat(quotas: Mapping[tuple[str, str], int]) -> QuotaTree:
    """A tree of projects alone, each guaranteed its quota and borrowing nothing; `quotas` by (project, device type)."""
    entries: dict[str, dict[str, Entry]] = {}
    for (project, device_type), devices in quotas.items():
        entries.setdefault(project, {})[device_type] = Entry(guaranteed=devices)
    return QuotaTree({name: Branch(name, None, True, held) for name, held in entries.items()})


def check_tree(tree: QuotaTree, device_types: Collection[str]) -> None:
    """Refuse a tree that contradicts itself or names device types that do not exist.

    Raises `quota-unknown-parent`, `quota-cycle`, `quota-unknown-type`, `quota-number`, `quota-above-parent`.
    """
    for branch in tree.branches.values():
        check_name("branch", branch.name)
        _check_parent(tree, branch)
        for device_type, entry in branch.entries.items():
            if device_type not in device_types:
                known = ", ".join(sorted(device_types)) or None
                raise PlatformError("quota-unknown-type", branch=branch.name, device_type=device_type, known=known)
            _check_numbers(branch.name, device_type, entry)
    _check_sums(tree)


def check_usage(tree: QuotaTree, used: Mapping[tuple[str, str], int]) -> None:
    """Refuse a tree under which a branch may hold less than it has now, `used` by (project, device type).

    Raises `quota-below-use`. Taking away only a guarantee is no contradiction: what runs is then borrowed.
    """
    held: Counter[tuple[str, str]] = Counter()
    for (project, device_type), devices in used.items():
        for branch in list(tree.path(project)) or [Branch(project, is_project=True)]:
            if branch.is_project or device_type in branch.entries:
                held[branch.name, device_type] += max(0, devices)
    for (name, device_type), devices in sorted(held.items()):
        entry = tree.entry(name, device_type) or Entry()
        if entry.ceiling is not None and devices > entry.ceiling:
            raise PlatformError(
                "quota-below-use", branch=name, device_type=device_type, ceiling=entry.ceiling, used=devices
            )


def check_people(tree: QuotaTree, used: Mapping[tuple[str, str, str], int]) -> None:
    """Refuse a tree under which a person may have less than they have now, `used` by (project, device type, person).

    Raises `quota-below-person`.
    """
    for (project, device_type, person), devices in sorted(used.items()):
        entry = tree.entry(project, device_type) or Entry()
        if entry.per_person is not None and devices > entry.per_person:
            where = {"branch": project, "device_type": device_type, "person": person}
            raise PlatformError("quota-below-person", **where, ceiling=entry.per_person, used=devices)


def check_grants(grants: Iterable[Grant], tree: QuotaTree) -> None:
    """Refuse grants that overlap, end before they begin, grant nothing, or name a project that is not there.

    Raises `grant-period`, `grant-number`, `grant-unknown-project`, `grant-overlap`.
    """
    last: dict[tuple[str, str], Grant] = {}
    for grant in sorted(grants, key=lambda grant: (grant.project, grant.device_type, grant.begins)):
        where = {"project": grant.project, "device_type": grant.device_type}
        branch = tree.branches.get(grant.project)
        if branch is None or not branch.is_project:
            raise PlatformError("grant-unknown-project", **where)
        if grant.ends <= grant.begins:
            raise PlatformError("grant-period", **where, begins=_iso(grant.begins), ends=_iso(grant.ends))
        if not 0 < grant.devices <= MOST:
            raise PlatformError("grant-number", **where, value=grant.devices, most=MOST)
        before = last.get((grant.project, grant.device_type))
        if before and grant.begins < before.ends:
            raise PlatformError("grant-overlap", **where, begins=_iso(grant.begins), ends=_iso(before.ends))
        last[grant.project, grant.device_type] = grant


def _check_parent(tree: QuotaTree, branch: Branch) -> None:
    if branch.parent is not None:
        above = tree.branches.get(branch.parent)
        if above is None or above.is_project:
            raise PlatformError("quota-unknown-parent", branch=branch.name, parent=branch.parent)
    names = [step.name for step in tree.path(branch.name)]
    if tree.branches[names[-1]].parent is not None:
        raise PlatformError("quota-cycle", branch=branch.name, cycle=" → ".join([*names, names[0]]))


def _check_numbers(branch: str, device_type: str, entry: Entry) -> None:
    whole = {
        "guaranteed": entry.guaranteed,
        "borrow_ceiling": entry.borrow_ceiling,
        "lend_ceiling": entry.lend_ceiling,
        "per_person": entry.per_person,
    }
    numbers: dict[str, float | None] = {**whole, "budget.soft": entry.budget.soft, "budget.hard": entry.budget.hard}
    wrong = [name for name, value in whole.items() if value is not None and not 0 <= value <= MOST]
    wrong += [n for n, v in numbers.items() if n not in whole and v is not None and not (isfinite(v) and v >= 0)]
    numbers["weight"] = entry.weight
    if not (isfinite(entry.weight) and 0 < entry.weight <= MOST):
        wrong.append("weight")
    if entry.budget.soft is not None and entry.budget.hard is not None and entry.budget.soft > entry.budget.hard:
        wrong.append("budget.soft")
    if wrong:
        value = str(numbers[wrong[0]])
        raise PlatformError("quota-number", branch=branch, device_type=device_type, field=wrong[0], value=value)


def _check_sums(tree: QuotaTree) -> None:
    """What the branches below one are guaranteed, also through a department that says nothing of the device type."""
    promised: Counter[tuple[str, str]] = Counter()
    for branch in tree.branches.values():
        for device_type, entry in branch.entries.items():
            for higher in list(tree.path(branch.name))[1:]:
                promised[higher.name, device_type] += entry.guaranteed
                if device_type in higher.entries:
                    break
    for (name, device_type), devices in sorted(promised.items()):
        above = tree.entry(name, device_type)
        if above is not None and devices > above.guaranteed:
            raise PlatformError(
                "quota-above-parent", branch=name, device_type=device_type, promised=devices, has=above.guaranteed
            )


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
