"""Facts about who is there: departments, projects, users, their roles and tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartmentCreated(Event):
    kind: ClassVar[str] = "department-created"
    department: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCreated(Event):
    kind: ClassVar[str] = "project-created"
    project: str
    department: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCreated(Event):
    kind: ClassVar[str] = "user-created"
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGranted(Event):
    kind: ClassVar[str] = "role-granted"
    user: str
    role: str
    project: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleWithdrawn(Event):
    kind: ClassVar[str] = "role-withdrawn"
    user: str
    role: str
    project: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssued(Event):
    kind: ClassVar[str] = "token-issued"
    user: str
    token: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevoked(Event):
    kind: ClassVar[str] = "token-revoked"
    user: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordChanged(Event):
    kind: ClassVar[str] = "password-changed"
    user: str
