"""Departments, projects, what each project is promised by the table in force, and what it has."""

from collections import Counter
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from headway.domain.errors import PlatformError
from headway.domain.lifecycle import AttemptState
from headway.domain.quota import Branch, Department, Entry, Project, Quota, QuotaTree
from headway.domain.quota_table import differences, print_tree
from headway.domain.quota_version import QuotaVersion
from headway.store import quota_versions, schema, world
from headway.store.shape import Shape, found
from headway.store.upsert import InsertNew

_DEPARTMENT = Shape(Department, schema.departments)
_PROJECT = Shape(Project, schema.projects)
_NEW_DEPARTMENT = InsertNew(schema.departments)
_NEW_PROJECT = InsertNew(schema.projects)
_DEPARTMENTS = _DEPARTMENT.select().order_by(schema.departments.c.name)
_PROJECTS = _PROJECT.select().order_by(schema.projects.c.name)
_ONE_PROJECT = _PROJECT.select().where(schema.projects.c.name == bindparam("name"))
_TAKEN = (
    select(schema.jobs.c.project, schema.jobs.c.owner, schema.attempts.c.device_type, schema.attempts.c.placements)
    .join(schema.jobs, schema.jobs.c.id == schema.attempts.c.job)
    .where(schema.attempts.c.state != AttemptState.ENDED)
)
_CLOSE = update(schema.projects).where(schema.projects.c.name == bindparam("of")).values(closed_at=bindparam("at"))


def add_department(c: Connection, department: Department) -> None:
    """Keep a new department. Raises `already-exists`."""
    _NEW_DEPARTMENT.or_refuse(c, _DEPARTMENT.row(department), "department", department.name)


def departments(c: Connection) -> list[Department]:
    """Every department, by name."""
    return _DEPARTMENT.all(c, _DEPARTMENTS)


def add_project(c: Connection, project: Project) -> None:
    """Keep a new project of a known department. Raises `already-exists`, `not-found`."""
    if project.department not in {department.name for department in departments(c)}:
        raise PlatformError("not-found", what="department", value=project.department)
    _NEW_PROJECT.or_refuse(c, _PROJECT.row(project), "project", project.name)


def projects(c: Connection) -> list[Project]:
    """Every project, by name."""
    return _PROJECT.all(c, _PROJECTS)


def project(c: Connection, name: str) -> Project | None:
    """The project of this name."""
    return _PROJECT.one(c, _ONE_PROJECT, {"name": name})


def close(c: Connection, project: str, at: datetime) -> None:
    """Note that a project is closed: the table in force promises it nothing any more."""
    c.execute(_CLOSE, {"of": project, "at": at})
    world.bump(c)


def set_quota(c: Connection, quota: Quota, *, at: datetime, by: str) -> QuotaVersion:
    """Promise a known project devices of one type: a new version of the table, at once in force. Raises `not-found`."""
    owner = found(project(c, quota.project), "project", quota.project)
    newest = quota_versions.newest(c)
    before = newest.tree if newest else QuotaTree()
    after = _with(before, owner, quota)
    version = QuotaVersion(
        number=0,
        author=by,
        reason=f"{quota.project} {quota.device_type} = {quota.devices}",
        content=print_tree(after),
        diff=differences(before, after),
        based_on=newest.number if newest else 0,
        proposed_at=at,
        approved_by=by,
        approved_at=at,
        in_force_from=at,
    )
    return quota_versions.add(c, version)


def quotas(c: Connection, now: datetime, project: str | None = None) -> list[Quota]:
    """What the table in force guarantees every project, or one, by project and device type."""
    promised = (
        Quota(branch.name, device_type, entry.guaranteed)
        for branch in quota_versions.tree(c, now).branches.values()
        if branch.is_project and project in (None, branch.name)
        for device_type, entry in branch.entries.items()
    )
    return sorted(promised, key=lambda quota: (quota.project, quota.device_type))


def used(c: Connection) -> dict[tuple[str, str], int]:
    """How many devices each project's live attempts have, by (project, device type)."""
    taken: Counter[tuple[str, str]] = Counter()
    for (project, device_type, _), devices in used_by_person(c).items():
        taken[project, device_type] += devices
    return dict(taken)


def used_by_person(c: Connection) -> dict[tuple[str, str, str], int]:
    """The same by (project, device type, person)."""
    taken: Counter[tuple[str, str, str]] = Counter()
    for project, owner, device_type, placements in c.execute(_TAKEN):
        taken[project, device_type, owner] += sum(len(placement.devices) for placement in placements)
    return dict(taken)


def _with(tree: QuotaTree, project: Project, quota: Quota) -> QuotaTree:
    """The tree with one number changed; a project it does not have yet comes under its department."""
    branches = dict(tree.branches)
    above = branches.setdefault(project.department, Branch(project.department))
    known = branches.get(project.name, Branch(project.name, None if above.is_project else above.name, is_project=True))
    entry = replace(known.entries.get(quota.device_type, Entry()), guaranteed=quota.devices)
    branches[project.name] = replace(known, entries={**known.entries, quota.device_type: entry})
    return QuotaTree(branches)
