"""What a cycle decides: which jobs start where, and why each other one waits.

`Reason` is a closed union; the screen, `headway why`, alerts and tests read the same value. Every queued job appears in
a plan exactly once.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from headway.domain.ids import JobId
from headway.domain.resources import Placement


@dataclass(frozen=True, slots=True)
class QuotaReached:
    """The project holds `used` of `quota` devices and the job wants `wanted`."""

    code: ClassVar[str] = "quota"
    project: str
    device_type: str
    quota: int
    used: int
    wanted: int


@dataclass(frozen=True, slots=True)
class CapacityShort:
    """`wanted` devices on `nodes` nodes are needed, `free` are free in the whole pool; `held` are kept for others."""

    code: ClassVar[str] = "capacity"
    device_type: str
    wanted: int
    nodes: int
    free: int
    held: int


@dataclass(frozen=True, slots=True)
class BehindOthers:
    """It would fit now, but would delay the start promised to `job`."""

    code: ClassVar[str] = "order"
    job: JobId
    promised_at: datetime | None


@dataclass(frozen=True, slots=True)
class NodesUnfit:
    """Enough devices exist, but `nodes` nodes are down or cordoned."""

    code: ClassVar[str] = "node-health"
    device_type: str
    nodes: int


Reason = QuotaReached | CapacityShort | BehindOthers | NodesUnfit


@dataclass(frozen=True, slots=True)
class Start:
    """Devices for one job, all of one type on one engine: the whole gang or nothing."""

    job: JobId
    engine: str
    device_type: str
    placements: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class Waits:
    """Why a job does not start now.

    `position` is 1-based among all that wait; `ahead` are those before it that may use the same pool, first in line
    first; `reserved_at` is the start promised to the first of a pool that waits for capacity, if it can be known.
    """

    job: JobId
    position: int
    reason: Reason
    ahead: tuple[JobId, ...] = ()
    reserved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of one cycle on one snapshot."""

    version: int
    starts: tuple[Start, ...]
    waits: tuple[Waits, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a job is expected to start: half the time by `p50`, nine times in ten by `p90`.

    Both None: `unknown` says why. `no-history`: something ahead has no known run time; `quota`, `node-health`,
    `capacity`: it cannot start with the quota, the nodes that are up, or the nodes there are; `too-far`: beyond what
    was stepped through.
    """

    job: JobId
    as_of: datetime
    p50: datetime | None = None
    p90: datetime | None = None
    unknown: str | None = None
