"""The quota table for everybody to read: what each branch is promised, holds and lends; its versions; closing."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.quota import Budget, Project, QuotaTree
from headway.domain.quota_table import differences, from_table, read_tree
from headway.domain.quota_version import QuotaVersion
from headway.server.access import OPERATORS, Verb
from headway.server.api.asking import AskerHere, OnceHere
from headway.server.api.bodies import ApproveQuota, NewQuotaVersion
from headway.server.operations import quota as operations
from headway.store import accounts, attempts, grants, jobs, quota_versions

router = APIRouter(tags=["quota"])
Counts = Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class EntryView:
    """What a branch is promised of a device type, what approved grants add, and what it holds now.

    `borrowed` is held beyond guarantee and grants; `idle` is promised and not held, for others to borrow.
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
    """The table in force; `coming` are approved tables whose date has not come, `proposed` those nobody approved."""

    version: int
    in_force_from: datetime | None
    content: str
    entries: list[EntryView]
    lent: list[HeldView]
    coming: list[int]
    proposed: list[int]


@router.get("/quota")
def show_table(asker: AskerHere) -> TableView:
    """The quota table: every member may read all of it, and who holds what of it since when."""
    asker.check(Verb.READ, "quota")
    now = asker.platform.clock.now()
    with asker.platform.database.read() as c:
        version = quota_versions.current(c, now)
        live = attempts.live(c)
        owners = {attempt.job: found for attempt in live if (found := jobs.get(c, attempt.job)) is not None}
        later = [v for v in quota_versions.all(c) if version is None or v.number > version.number]
        newest = quota_versions.newest(c)
        return TableView(
            version=version.number if version else 0,
            in_force_from=version.in_force_from if version else None,
            content=version.content if version else "",
            entries=_entries(c, quota_versions.tree(c, now), live, now),
            lent=[
                HeldView(job.spec.project, job.owner, job.id, a.id, a.device_type, a.devices, a.placed_at)
                for a in live
                if a.borrowed and (job := owners.get(a.job)) is not None
            ],
            coming=[v.number for v in later if v.approved_at is not None],
            proposed=[v.number for v in later if v.approved_at is None and (not newest or v.based_on == newest.number)],
        )


@router.get("/quota/versions")
def list_versions(asker: AskerHere) -> list[QuotaVersion]:
    """Every table that was ever proposed, newest first, with its author, reason and difference."""
    asker.check(Verb.READ, "quota")
    with asker.platform.database.read() as c:
        return quota_versions.all(c)[::-1]


@router.get("/quota/versions/{number}")
def show_version(number: int, asker: AskerHere) -> QuotaVersion:
    """One table."""
    asker.check(Verb.READ, "quota")
    with asker.platform.database.read() as c:
        return _version(c, number)


@router.get("/quota/versions/{number}/diff")
def show_difference(number: int, asker: AskerHere, against: int | None = None) -> list[str]:
    """What one table changes, against the one it was based on or another."""
    asker.check(Verb.READ, "quota")
    with asker.platform.database.read() as c:
        version = _version(c, number)
        base = _version(c, against).tree if against is not None else None
    return list(version.diff if base is None else differences(base, version.tree))


@router.post("/quota/versions", status_code=201)
def propose(body: NewQuotaVersion, asker: AskerHere, once: OnceHere) -> QuotaVersion:
    """Propose a whole table, as TOML text or as a table; nothing changes before another role approves it."""
    asker.check(Verb.CREATE, "quota")
    if (body.content is None) == (body.table is None):
        raise PlatformError("invalid-field", field="content", value="", rule="content | table")
    tree = read_tree(body.content) if body.content is not None else from_table(body.table or {})
    return once(body, QuotaVersion, lambda c: operations.propose(c, asker.change(), tree, body.reason))


@router.post("/quota/versions/{number}/approve")
def approve(number: int, body: ApproveQuota, asker: AskerHere) -> QuotaVersion:
    """Let a proposed table be in force from a date on."""
    asker.check(Verb.CHANGE, "quota")
    with asker.platform.database.write() as c:
        author = _version(c, number).author
        mine = {role.value for role, scope in asker.held if scope is None and role in OPERATORS}
        roles = mine, {role for role, scope in accounts.roles(c, author) if scope is None}
        approved = operations.approve(c, asker.change(), number, body.in_force_from, roles)
    asker.platform.wake("schedule")
    return approved


@router.post("/projects/{project}/close")
def close(project: str, asker: AskerHere) -> Project:
    """Close a project: its quota is free at once, and its jobs are stopped."""
    asker.check(Verb.STOP, "project", project)
    with asker.platform.database.write() as c:
        closed = operations.close(c, asker.change(), project)
    asker.platform.wake("schedule", "observe")
    return closed


def _version(c: Connection, number: int) -> QuotaVersion:
    version = quota_versions.get(c, number)
    if version is None:
        raise PlatformError("not-found", what="quota version", value=str(number))
    return version


def _sums(c: Connection, tree: QuotaTree, live: list[Attempt], now: datetime) -> tuple[Counts, Counts]:
    """Devices held and devices granted by branch and device type; a department has those of what is below it."""
    used, granted = Counts(), Counts()
    for attempt in live:
        job = jobs.get(c, attempt.job)
        for name in _path(tree, job.spec.project if job else ""):
            used[name, attempt.device_type] += attempt.devices
    for request in grants.approved(c):
        for name in _path(tree, request.project) if request.grant.holds_at(now) else ():
            granted[name, request.device_type] += request.devices
    return used, granted


def _path(tree: QuotaTree, project: str) -> list[str]:
    return [branch.name for branch in tree.path(project)]


def _entries(c: Connection, tree: QuotaTree, live: list[Attempt], now: datetime) -> list[EntryView]:
    used, granted = _sums(c, tree, live, now)
    found = []
    for branch in sorted(tree.branches.values(), key=lambda b: (b.is_project, b.name)):
        for kind, entry in sorted(branch.entries.items()):
            key = (branch.name, kind)
            own = entry.guaranteed + granted[key]
            view = EntryView(
                branch=branch.name,
                is_project=branch.is_project,
                parent=branch.parent,
                device_type=kind,
                guaranteed=entry.guaranteed,
                granted=granted[key],
                borrow_ceiling=entry.borrow_ceiling,
                lend_ceiling=entry.lend_ceiling,
                weight=entry.weight,
                per_person=entry.per_person,
                budget=entry.budget,
                used=used[key],
                borrowed=max(0, used[key] - own),
                idle=max(0, own - used[key]),
            )
            found.append(view)
    return found
