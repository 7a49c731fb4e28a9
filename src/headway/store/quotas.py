"""The quota tree: departments, projects, and what each project is promised."""

from collections import Counter
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from headway.domain.errors import PlatformError
from headway.domain.lifecycle import AttemptState
from headway.domain.quota import Department, Project, Quota
from headway.store import schema, world
from headway.store.shape import Shape, found
from headway.store.upsert import InsertNew, Upsert

_DEPARTMENT = Shape(Department, schema.departments)
_PROJECT = Shape(Project, schema.projects)
_QUOTA = Shape(Quota, schema.quotas)
_NEW_DEPARTMENT = InsertNew(schema.departments)
_NEW_PROJECT = InsertNew(schema.projects)
_SET_QUOTA = Upsert(schema.quotas)
_DEPARTMENTS = _DEPARTMENT.select().order_by(schema.departments.c.name)
_PROJECTS = _PROJECT.select().order_by(schema.projects.c.name)
_ONE_PROJECT = _PROJECT.select().where(schema.projects.c.name == bindparam("name"))
_TAKEN = (
    select(schema.jobs.c.project, schema.attempts.c.device_type, schema.attempts.c.placements)
    .join(schema.jobs, schema.jobs.c.id == schema.attempts.c.job)
    .where(schema.attempts.c.state != AttemptState.ENDED)
)
_QUOTAS = _QUOTA.select().order_by(schema.quotas.c.project, schema.quotas.c.device_type)


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


def set_quota(c: Connection, quota: Quota, *, at: datetime, by: str) -> None:
    """Promise a known project devices of one type, in place of an earlier promise. Raises `not-found`."""
    found(project(c, quota.project), "project", quota.project)
    _SET_QUOTA(c, _QUOTA.row(quota, set_at=at, set_by=by))
    world.bump(c)


def quotas(c: Connection, project: str | None = None) -> list[Quota]:
    """Every quota, or those of one project, by project and device type."""
    statement = _QUOTAS if project is None else _QUOTAS.where(schema.quotas.c.project == project)
    return _QUOTA.all(c, statement)


def used(c: Connection) -> dict[tuple[str, str], int]:
    """How many devices each project's live attempts have, by (project, device type)."""
    taken: Counter[tuple[str, str]] = Counter()
    for project, device_type, placements in c.execute(_TAKEN):
        taken[project, device_type] += sum(len(placement.devices) for placement in placements)
    return dict(taken)
