"""The quota tree: departments, projects, and what each project is promised by device type."""

from dataclasses import dataclass
from datetime import datetime


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
