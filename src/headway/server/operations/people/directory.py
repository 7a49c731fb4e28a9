"""The directory: departments, projects, users, roles and tokens. Each change is a row and a fact."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.events import Fact
from headway.domain.ids import check_name
from headway.domain.people_events import DepartmentCreated, ProjectCreated, RoleGranted, TokenIssued, UserCreated
from headway.domain.quota import Department, Project
from headway.server.access import Role
from headway.server.secrets import digest, make_id, make_token
from headway.store import accounts, facts, nodes, quotas

TOKEN_DAYS = 90


@dataclass(frozen=True, slots=True)
class Change:
    """Who changes something, and when."""

    by: str
    at: datetime


def create_department(c: Connection, change: Change, name: str) -> Department:
    check_name("department", name)
    if any(known.name == name for known in quotas.departments(c)):
        raise PlatformError("already-exists", field="department", value=name)
    department = Department(name, change.at)
    quotas.add_department(c, department)
    _say(c, DepartmentCreated(at=change.at, by=change.by, department=name))
    return department


def create_project(c: Connection, change: Change, name: str, department: str) -> Project:
    check_name("project", name)
    known = [row.name for row in quotas.departments(c)]
    if department not in known:
        raise PlatformError("not-found", what="department", value=department, near=", ".join(known))
    if quotas.project(c, name) is not None:
        raise PlatformError("already-exists", field="project", value=name)
    project = Project(name, department, change.at)
    quotas.add_project(c, project)
    _say(c, ProjectCreated(at=change.at, by=change.by, project=name, department=department))
    return project


def create_user(c: Connection, change: Change, name: str, hashed: str | None, unix_name: str | None) -> None:
    """`hashed`: the password's hash, made before the transaction."""
    check_name("user", name)
    if accounts.user(c, name) is not None:
        raise PlatformError("already-exists", field="user", value=name)
    accounts.add_user(c, accounts.User(name, hashed, unix_name, change.at))
    _say(c, UserCreated(at=change.at, by=change.by, user=name))


def grant_role(c: Connection, change: Change, user: str, role: Role, project: str | None) -> None:
    require_user(c, user)
    if project is not None:
        require_project(c, project)
    accounts.grant_role(c, user, role, project)
    _say(c, RoleGranted(at=change.at, by=change.by, user=user, role=role, project=project))


def issue_token(c: Connection, change: Change, user: str, days: int = TOKEN_DAYS) -> str:
    """A fresh token, told once; only its digest is kept."""
    require_user(c, user)
    token, name = make_token(), make_id("t")
    expires_at = change.at + timedelta(days=days)
    accounts.add_token(c, name, user, digest(token), change.at, expires_at)
    _say(c, TokenIssued(at=change.at, by=change.by, user=user, token=name, expires_at=expires_at))
    return token


def require_project(c: Connection, name: str) -> Project:
    project = quotas.project(c, name)
    if project is None:
        known = ", ".join(row.name for row in quotas.projects(c))
        raise PlatformError("not-found", what="project", value=name, near=known)
    return project


def require_device_type(c: Connection, name: str) -> None:
    """Raises `not-found` for a type no node has. Nodes that are gone count; where none was seen any may come."""
    known = sorted({node.device_type for node in nodes.all(c)})
    if known and name not in known:
        raise PlatformError("not-found", what="device type", value=name, near=", ".join(known))


def require_user(c: Connection, name: str) -> None:
    if accounts.user(c, name) is None:
        known = ", ".join(user.name for user in accounts.users(c)[:10])
        raise PlatformError("not-found", what="user", value=name, near=known)


def _say(c: Connection, fact: Fact) -> None:
    facts.append(c, fact)
