"""The quota table as a whole: proposed by one, approved or rejected by another role, in force from a date; closing.

A table is refused as a whole: the one before stays. Each change is a row and a fact.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.domain.lifecycle import JobState
from headway.domain.queue_events import ProjectClosed, QuotaApproved, QuotaDropped, QuotaProposed, QuotaSet
from headway.domain.quota import Project, Quota, QuotaTree, check_grants, check_people, check_tree, check_usage
from headway.domain.quota_table import differences, print_tree
from headway.domain.quota_version import Dropped, QuotaVersion
from headway.server.operations.jobs.stopping import stop
from headway.server.operations.people.directory import Change, require_device_type, require_project
from headway.server.operations.queue import granting
from headway.store import facts, grants, jobs, nodes, quota_versions, quotas

CLOSED = "project-closed"


def propose(c: Connection, change: Change, tree: QuotaTree, reason: str) -> QuotaVersion:
    """Keep a table that makes sense as the next version. Raises as `check` does, `quota-empty`, `quota-unchanged`."""
    newest = quota_versions.newest(c)
    before = newest.tree if newest else QuotaTree()
    if not tree.branches:
        raise PlatformError("quota-empty")
    check(c, tree, change.at)
    diff = differences(before, tree)
    if not diff:
        raise PlatformError("quota-unchanged", version=newest.number if newest else 0)
    proposed = QuotaVersion(
        number=0,
        author=change.by,
        reason=reason,
        content=print_tree(tree),
        diff=diff,
        based_on=newest.number if newest else 0,
        proposed_at=change.at,
    )
    kept = quota_versions.add(c, proposed)
    said = QuotaProposed(at=change.at, by=change.by, version=kept.number, based_on=kept.based_on, reason=reason)
    facts.append(c, said)
    return kept


def approve(
    c: Connection, change: Change, number: int, in_force_from: datetime | None, roles: tuple[set[str], set[str]]
) -> QuotaVersion:
    """Let a proposed table be in force from a moment on (None: now). `roles`: the approver's and the author's.

    Raises `quota-decided`, `quota-own-approval`, `quota-outdated`, `quota-too-early`, and what `check` raises.
    """
    version = _open(c, number)
    _check_other(version, change.by, roles)
    since = _since(c, version, in_force_from or change.at, change.at)
    check(c, version.tree, change.at)
    approved = replace(version, approved_by=change.by, approved_at=change.at, in_force_from=since)
    quota_versions.approve(c, approved)
    said = QuotaApproved(at=change.at, by=change.by, version=number, author=version.author, in_force_from=since)
    facts.append(c, said)
    return approved


def reject(c: Connection, change: Change, number: int, reason: str, roles: tuple[set[str], set[str]]) -> QuotaVersion:
    """Turn a proposed table down, by somebody who might have approved it. Raises as `approve` does."""
    version = _open(c, number)
    _check_other(version, change.by, roles)
    return _drop(c, change, version, Dropped.REJECTED, reason)


def withdraw(c: Connection, change: Change, number: int, reason: str) -> QuotaVersion:
    """Take one's own proposed table back. Raises `quota-not-author`, `quota-decided`, `not-found`."""
    version = _open(c, number)
    if version.author != change.by:
        raise PlatformError("quota-not-author", version=number, author=version.author, user=change.by)
    return _drop(c, change, version, Dropped.WITHDRAWN, reason)


def set_number(c: Connection, change: Change, quota: Quota) -> QuotaVersion:
    """Change one number of the table at once; where sites want two people for that, they propose a table instead.

    Raises `quota-below-use` for less than the project has now, `quota-above-parent` for more than its department has,
    and `quota-scheduled` while an approved table waits for its date: the change would bring it forward.
    """
    check_name("device_type", quota.device_type)
    require_project(c, quota.project)
    require_device_type(c, quota.device_type)
    if quota.devices < 0:
        raise PlatformError("invalid-field", field="devices", value=quota.devices, rule="≥ 0")
    newest = quota_versions.newest(c)
    if newest is not None and newest.in_force_from is not None and newest.in_force_from > change.at:
        raise PlatformError("quota-scheduled", version=newest.number, in_force_from=_iso(newest.in_force_from))
    version = quotas.set_quota(c, quota, at=change.at, by=change.by)
    used = beyond_grants(c, change.at).get((quota.project, quota.device_type), 0)
    check_tree(version.tree, {kind for branch in version.tree.branches.values() for kind in branch.entries})
    check_usage(version.tree, {(quota.project, quota.device_type): used})
    said = QuotaSet(
        at=change.at, by=change.by, project=quota.project, device_type=quota.device_type, devices=quota.devices
    )
    facts.append(c, said)
    return version


def check(c: Connection, tree: QuotaTree, now: datetime) -> None:
    """Refuse a table that contradicts itself, what there is, what runs, or what was granted."""
    present = quota_versions.newest(c)
    known = {node.device_type for node in nodes.all(c)}
    known |= {kind for branch in (present.tree.branches.values() if present else ()) for kind in branch.entries}
    _check_names(c, tree)
    check_tree(tree, known)
    check_usage(tree, beyond_grants(c, now))
    check_people(tree, quotas.used_by_person(c))
    check_grants((request.grant for request in grants.approved(c)), tree)


def close(c: Connection, change: Change, name: str) -> Project:
    """Close a project: its quota and grants are free at once, what waits is stopped, what runs is asked to stop."""
    project = require_project(c, name)
    if project.closed_at is not None:
        return project
    quotas.close(c, name, change.at)
    facts.append(c, ProjectClosed(at=change.at, by=change.by, project=name))
    granting.revoke(c, name, change.at)
    for job in jobs.in_states(c, *(state for state in JobState if not state.is_terminal)):
        if job.spec.project == name:
            stop(c, job, at=change.at, by=change.by, reason=CLOSED)
    return replace(project, closed_at=change.at)


def _open(c: Connection, number: int) -> QuotaVersion:
    """A version that nobody has decided on. Raises `not-found`, `quota-decided`."""
    version = quota_versions.get(c, number)
    if version is None:
        near = ", ".join(str(known.number) for known in quota_versions.all(c) if known.is_open)
        raise PlatformError("not-found", what="quota version", value=str(number), near=near)
    if not version.is_open:
        by, how = version.dropped_by or version.approved_by, version.dropped_as or "approved"
        raise PlatformError("quota-decided", version=number, by=by, how=how)
    return version


def _check_other(version: QuotaVersion, user: str, roles: tuple[set[str], set[str]]) -> None:
    """It takes somebody else, with a role that the author does not hold."""
    mine, authors = roles
    if version.author == user or not mine - authors:
        raise PlatformError("quota-own-approval", version=version.number, author=version.author, user=user)


def _drop(c: Connection, change: Change, version: QuotaVersion, how: Dropped, reason: str) -> QuotaVersion:
    dropped = replace(version, dropped_as=how, dropped_by=change.by, dropped_at=change.at, dropped_why=reason)
    quota_versions.drop(c, dropped)
    said = QuotaDropped(
        at=change.at, by=change.by, version=version.number, author=version.author, dropped_as=how, reason=reason
    )
    facts.append(c, said)
    return dropped


def _since(c: Connection, version: QuotaVersion, wished: datetime, now: datetime) -> datetime:
    """From when it holds: a table builds on the newest approved one, and cannot overtake it."""
    newest = quota_versions.newest(c)
    if version.based_on != (newest.number if newest else 0):
        raise PlatformError("quota-outdated", version=version.number, newest=newest.number if newest else 0)
    earliest = max(filter(None, [now, newest.in_force_from if newest else None]))
    if wished < earliest:
        raise PlatformError("quota-too-early", in_force_from=_iso(wished), earliest=_iso(earliest))
    return wished


def _check_names(c: Connection, tree: QuotaTree) -> None:
    """Departments and projects of the table are those of the directory, none of them closed."""
    departments = [department.name for department in quotas.departments(c)]
    projects = [project.name for project in quotas.projects(c) if project.closed_at is None]
    for branch in tree.branches.values():
        if branch.is_project:
            _require("project", branch.name, projects)
        else:
            _require("department", branch.name, departments)


def _require(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise PlatformError("not-found", what=what, value=name, near=", ".join(known))


def beyond_grants(c: Connection, now: datetime) -> dict[tuple[str, str], int]:
    """What runs now and does not stand on a grant, in projects that are open."""
    closed = {project.name for project in quotas.projects(c) if project.closed_at is not None}
    used = Counter({key: devices for key, devices in quotas.used(c).items() if key[0] not in closed})
    for request in grants.approved(c):
        if request.grant.holds_at(now):
            used[request.project, request.device_type] -= request.devices
    return dict(used)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
