"""The quota table beside what is so now: what each branch is promised, holds, lends and has spent, and who borrows.

Reads and adds up; decides nothing. Who is on borrowed devices is counted as the scheduler counts it: from the oldest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.ids import JobId
from headway.domain.job import Job
from headway.domain.quota import Budget, Entry
from headway.metering.months import month_of
from headway.store import attempts, grants, jobs, nodes, quota_versions, snapshot, usage

Key = tuple[str, str]
"""A branch and a device type."""


@dataclass(frozen=True, slots=True)
class EntryView:
    """What a branch is promised of a device type, what approved grants add, and what it holds now.

    `borrowed` is held beyond guarantee and grants; `idle` is promised and not held; `lent` is how many of the idle ones
    others hold, who borrow from all lenders in proportion; `spent` are this month's device-hours, against `budget`.
    """

    branch: str
    is_project: bool
    parent: str | None
    device_type: str
    guaranteed: int
    granted: int
    borrow_ceiling: int | None
    lend_ceiling: int | None
    weight: float
    per_person: int | None
    budget: Budget
    used: int
    borrowed: int
    idle: int
    lent: int
    spent: float


@dataclass(frozen=True, slots=True)
class HeldView:
    """An attempt on borrowed devices: who holds how many since when."""

    project: str
    owner: str
    job: str
    attempt: str
    device_type: str
    devices: int
    since: datetime


@dataclass(frozen=True, slots=True)
class TableView:
    """The table in force; `coming` are approved tables whose date has not come, `proposed` those nobody decided on."""

    version: int
    in_force_from: datetime | None
    content: str
    entries: list[EntryView]
    lent: list[HeldView]
    coming: list[int]
    proposed: list[int]


def table_of(c: Connection, now: datetime, zone: ZoneInfo) -> TableView:
    """The whole table as it stands at this moment; `zone` is where months are cut."""
    version = quota_versions.current(c, now)
    later = [v for v in quota_versions.all(c) if version is None or v.number > version.number]
    newest = quota_versions.newest(c)
    holding = _Holding(c, now)
    month = month_of(now, zone)
    span = usage.Month(str(month), month.start(zone), now)
    spent = usage.spent(c, holding.tree, snapshot.running(c, now), span)
    return TableView(
        version=version.number if version else 0,
        in_force_from=version.in_force_from if version else None,
        content=version.content if version else "",
        entries=list(_entries(holding, spent)),
        lent=list(holding.on_borrowed()),
        coming=[v.number for v in later if v.approved_at is not None],
        proposed=[v.number for v in later if v.is_open and (not newest or v.based_on == newest.number)],
    )


class _Holding:
    """Who has what now, by branch and device type; a department has what is below it."""

    def __init__(self, c: Connection, now: datetime) -> None:
        self.tree = quota_versions.tree(c, now)
        self.live = sorted(attempts.live(c), key=lambda attempt: (attempt.placed_at, attempt.job))
        found = ((attempt.job, jobs.get(c, attempt.job)) for attempt in self.live)
        self.jobs: dict[JobId, Job] = {id: job for id, job in found if job is not None}
        self.devices = Counter[str]()
        for node in nodes.all(c):
            self.devices[node.device_type] += node.devices
        self.used, self.granted = Counter[Key](), Counter[Key]()
        for attempt in self.live:
            self._add(self.used, self.project_of(attempt), attempt.device_type, attempt.devices)
        for request in grants.approved(c):
            if request.grant.holds_at(now):
                self._add(self.granted, request.project, request.device_type, request.devices)

    def project_of(self, attempt: Attempt) -> str:
        """The project that pays for an attempt."""
        job = self.jobs.get(attempt.job)
        return job.spec.project if job else ""

    def own(self, branch: str, kind: str) -> int:
        """What is promised to a branch, grants included."""
        return (self.tree.entry(branch, kind) or Entry()).guaranteed + self.granted[branch, kind]

    def on_borrowed(self) -> Iterator[HeldView]:
        """What projects hold beyond what is promised to them, newest attempts first to count as borrowed."""
        counted = Counter[Key]()
        for a in self.live:
            project, kind = self.project_of(a), a.device_type
            counted[project, kind] += a.devices
            if counted[project, kind] > self.own(project, kind) and a.job in self.jobs:
                yield HeldView(project, self.jobs[a.job].owner, a.job, a.id, kind, a.devices, a.placed_at)

    def lent(self) -> Counter[Key]:
        """How many idle devices of each branch others hold: what is borrowed beyond what nobody was promised."""
        idle: dict[str, dict[str, int]] = defaultdict(dict)
        borrowed, promised = Counter[str](), Counter[str]()
        projects = {branch.name for branch in self.tree.branches.values() if branch.is_project}
        kinds = {(name, kind) for name in projects for kind in self.tree.branches[name].entries}
        for project, kind in sorted(kinds | set(self.used)):
            if project not in projects:
                continue
            own, used = self.own(project, kind), self.used[project, kind]
            borrowed[kind] += max(0, used - own)
            promised[kind] += own
            ceiling = (self.tree.entry(project, kind) or Entry()).lend_ceiling
            idle[kind][project] = min(max(0, own - used), own if ceiling is None else ceiling)
        lent = Counter[Key]()
        for kind, lenders in idle.items():
            wanted = borrowed[kind] - max(0, self.devices[kind] - promised[kind])
            for project, part in _parts(wanted, lenders).items():
                self._add(lent, project, kind, part)
        return lent

    def _add(self, sums: Counter[Key], project: str, kind: str, devices: int) -> None:
        for name in [branch.name for branch in self.tree.path(project)] or [project]:
            sums[name, kind] += devices


def _parts(whole: int, lenders: Mapping[str, int]) -> dict[str, int]:
    """`whole` split over lenders in proportion to what each has, by largest remainder; never more than it has."""
    total = sum(lenders.values())
    whole = min(max(0, whole), total)
    exact = {name: whole * idle / total for name, idle in lenders.items()} if total else {}
    parts = {name: int(part) for name, part in exact.items()}
    for name in sorted(exact, key=lambda name: (parts[name] - exact[name], name))[: whole - sum(parts.values())]:
        parts[name] += 1
    return parts


def _entries(holding: _Holding, spent: Mapping[Key, float]) -> Iterator[EntryView]:
    lent = holding.lent()
    for branch in sorted(holding.tree.branches.values(), key=lambda b: (b.is_project, b.name)):
        for kind, entry in sorted(branch.entries.items()):
            key = (branch.name, kind)
            own, used = holding.own(*key), holding.used[key]
            yield EntryView(
                branch=branch.name,
                is_project=branch.is_project,
                parent=branch.parent,
                device_type=kind,
                guaranteed=entry.guaranteed,
                granted=holding.granted[key],
                borrow_ceiling=entry.borrow_ceiling,
                lend_ceiling=entry.lend_ceiling,
                weight=entry.weight,
                per_person=entry.per_person,
                budget=entry.budget,
                used=used,
                borrowed=max(0, used - own),
                idle=max(0, own - used),
                lent=lent[key],
                spent=round(spent.get(key, 0.0), 1),
            )
