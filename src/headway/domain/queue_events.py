"""Facts about what the queue goes by: the quota table, grants, budgets, windows, and jobs taken for others."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaSet(Event):
    kind: ClassVar[str] = "quota-set"
    project: str
    device_type: str
    devices: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectClosed(Event):
    """Its quota is free from here on."""

    kind: ClassVar[str] = "project-closed"
    project: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaProposed(Event):
    kind: ClassVar[str] = "quota-proposed"
    version: int
    based_on: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaApproved(Event):
    kind: ClassVar[str] = "quota-approved"
    version: int
    author: str
    in_force_from: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaDropped(Event):
    """A proposed table was rejected by another role or withdrawn by its author: it never comes into force."""

    kind: ClassVar[str] = "quota-dropped"
    version: int
    author: str
    dropped_as: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRequested(Event):
    kind: ClassVar[str] = "grant-requested"
    grant: str
    project: str
    device_type: str
    devices: int
    begins: datetime
    ends: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantDecided(Event):
    kind: ClassVar[str] = "grant-decided"
    grant: str
    project: str
    approved: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantWithdrawn(Event):
    """Who had asked took the request back before anybody decided on it."""

    kind: ClassVar[str] = "grant-withdrawn"
    grant: str
    project: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantEnding(Event):
    """The holder is warned: it expires soon."""

    kind: ClassVar[str] = "grant-ending"
    grant: str
    project: str
    holder: str
    ends: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantExpired(Event):
    kind: ClassVar[str] = "grant-expired"
    grant: str
    project: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReached(Event):
    """A month's device-hours have passed a bound: `soft` is a warning, at `hard` jobs wait."""

    kind: ClassVar[str] = "budget-reached"
    branch: str
    device_type: str
    month: str
    bound: str
    budget: float
    spent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSet(Event):
    kind: ClassVar[str] = "window-set"
    window: str
    name: str
    begins: datetime
    ends: datetime
    project: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCancelled(Event):
    kind: ClassVar[str] = "window-cancelled"
    window: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionOrdered(Event):
    """The attempt is asked to save and end for `for_job` (None: an operator said so); the job goes back to the queue.

    `lost_device_seconds` is the work since its last verified checkpoint, should it not save in time.
    """

    kind: ClassVar[str] = "preemption-ordered"
    job: JobId
    attempt: AttemptId
    for_job: JobId | None
    devices: int
    lost_device_seconds: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationDelayed(Event):
    """The job was promised a start at `promised_at`, and waits on: `behind` was let past it and has outlived its word.

    It is not taken for it, since it is protected, has not run long enough yet, or the site takes nothing.
    """

    kind: ClassVar[str] = "reservation-delayed"
    job: JobId
    promised_at: datetime
    behind: JobId
    attempt: AttemptId
