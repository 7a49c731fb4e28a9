"""The ledger's values: intervals in which devices were taken, and the entries they are posted as.

Everything is an integer number of device-seconds. Moments are cut to whole seconds first, so that the parts of an
interval always add up to the whole.
"""

from dataclasses import dataclass
from datetime import datetime

from headway.domain.ids import AttemptId, JobId

OCCUPANCY = "occupancy"
RESIDENT = "resident"


@dataclass(frozen=True, slots=True)
class Interval:
    """Devices taken by one attempt from `start` to `end` (None: still taken); `grant`: the addition they stood on."""

    job: JobId
    attempt: AttemptId
    project: str
    device_type: str
    devices: int
    basis: str
    start: datetime
    end: datetime | None
    grant: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One posted part of an interval that lies within one month. `key` is unique: `<attempt>/<month>`."""

    key: str
    project: str
    job: JobId
    attempt: AttemptId
    device_type: str
    basis: str
    month: str
    start: datetime
    end: datetime
    devices: int
    device_seconds: int
    grant: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One job in a statement; `open`: some of it still runs and is counted up to the statement's moment."""

    job: JobId
    device_type: str
    basis: str
    device_seconds: int
    intervals: int
    open: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """Time a job spent in the queue in this month: listed, never charged."""

    job: JobId
    wait_seconds: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A project's month: lines, waiting beside them at zero, totals by device type and basis."""

    project: str
    month: str
    timezone: str
    as_of: datetime
    lines: tuple[Line, ...]
    waiting: tuple[Waiting, ...]
    totals: dict[str, int]
    device_seconds: int
