"""What a cycle decides: which jobs start where, and why each other one waits.

`Reason` is a closed union; the screen, `headway why`, alerts and tests read the same value. Every queued job appears in
a plan exactly once.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, NamedTuple

from headway.domain.ids import JobId
from headway.domain.job import Priority
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


@dataclass(frozen=True, slots=True)
class BorrowCeiling:
    """A branch of the tree holds `used` devices, may hold `ceiling` with what it borrows, and the job wants more."""

    code: ClassVar[str] = "borrow-ceiling"
    branch: str
    device_type: str
    guaranteed: int
    ceiling: int
    used: int
    wanted: int


@dataclass(frozen=True, slots=True)
class NotLent:
    """`free` devices are free, but `kept` of them belong to others who do not lend them."""

    code: ClassVar[str] = "not-lent"
    device_type: str
    wanted: int
    free: int
    kept: int


@dataclass(frozen=True, slots=True)
class ProtectedNeedsGuarantee:
    """A protected job never runs on borrowed quota, and the guarantee has no room for it."""

    code: ClassVar[str] = "protected"
    project: str
    device_type: str
    guaranteed: int
    used: int
    wanted: int


@dataclass(frozen=True, slots=True)
class PersonCeiling:
    """One person holds `used` of the `ceiling` devices a person may have in this branch."""

    code: ClassVar[str] = "person-ceiling"
    person: str
    branch: str
    device_type: str
    ceiling: int
    used: int
    wanted: int


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """The branch has used up this month's device-hours."""

    code: ClassVar[str] = "budget"
    branch: str
    device_type: str
    budget: float
    spent: float


@dataclass(frozen=True, slots=True)
class DependencyPending:
    """It starts after `job` has ended (`must` is `ended`) or succeeded (`succeeded`)."""

    code: ClassVar[str] = "dependency"
    job: JobId
    must: str


@dataclass(frozen=True, slots=True)
class DependencyFailed:
    """It was to start after `job` succeeded, which failed: it never starts by itself."""

    code: ClassVar[str] = "dependency-failed"
    job: JobId


@dataclass(frozen=True, slots=True)
class ArrayFull:
    """`running` jobs of its array run, no more than `cap` may."""

    code: ClassVar[str] = "array"
    array: str
    cap: int
    running: int


@dataclass(frozen=True, slots=True)
class WindowAhead:
    """It may still run when a maintenance window or somebody's advance reservation begins."""

    code: ClassVar[str] = "window"
    window: str
    begins: datetime
    ends: datetime


@dataclass(frozen=True, slots=True)
class ApprovalPending:
    """Somebody has to approve `what` first."""

    code: ClassVar[str] = "approval"
    what: str


@dataclass(frozen=True, slots=True)
class NotBefore:
    """It asked to start no earlier than this."""

    code: ClassVar[str] = "not-before"
    at: datetime


@dataclass(frozen=True, slots=True)
class Reclaiming:
    """Devices on borrowed quota are being taken back for it: `victims` jobs have been asked to end."""

    code: ClassVar[str] = "reclaiming"
    device_type: str
    wanted: int
    victims: int


Reason = (
    BehindOthers
    | Reclaiming
    | CapacityShort
    | NotLent
    | QuotaReached
    | BorrowCeiling
    | ProtectedNeedsGuarantee
    | PersonCeiling
    | BudgetSpent
    | NodesUnfit
    | WindowAhead
    | ArrayFull
    | NotBefore
    | DependencyPending
    | ApprovalPending
    | DependencyFailed
)
"""From the nearest to a start to the farthest: a job that could go several ways is told the nearest."""


@dataclass(slots=True)  # Never changed, but not frozen: a plan makes one for each job, and a frozen one costs far more.
class Place:
    """Why a job stands where it stands: it counts as submitted later than it was.

    Later by `length_shift` for its predicted length and by `share_shift` for its project's use (`share`: use over fair
    share; negative where it used less). `within_guarantee` stands before borrowed.
    """

    resuming: bool
    priority: Priority
    within_guarantee: bool
    submitted_at: datetime
    predicted: timedelta | None
    length_shift: timedelta
    share: float
    share_shift: timedelta


@dataclass(frozen=True, slots=True)
class Victim:
    """A running job to be taken whole; `lost` is the work since its last verified checkpoint, in device-time."""

    job: JobId
    project: str
    devices: int
    lost: timedelta


@dataclass(frozen=True, slots=True)
class Preemption:
    """Victims whose devices, with what is free, make room for `job` on exactly `placements`; hold them for it.

    `why`: `reclaim` (its project's guarantee, lent out) or `overdue` (they outlived the run time their backfill was
    granted for, and stand on a promised start).
    """

    job: JobId
    device_type: str
    placements: tuple[Placement, ...]
    victims: tuple[Victim, ...]
    why: str = "reclaim"

    @property
    def price(self) -> timedelta:
        """The work destroyed, in device-time."""
        return sum((victim.lost for victim in self.victims), timedelta(0))


@dataclass(frozen=True, slots=True)
class Promised:
    """The start promised to one of the first blocked jobs (None: at an unknown time) and the nodes kept for it."""

    job: JobId
    device_type: str
    engine: str
    at: datetime | None
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """Devices for one job, all of one type on one engine: the whole gang or nothing."""

    job: JobId
    engine: str
    device_type: str
    placements: tuple[Placement, ...]
    borrowed: bool = False


AHEAD = 100
"""How many of those before it a job is told by id."""


class Waits(NamedTuple):
    """Why a job does not start now.

    `position` is 1-based among all that wait; `ahead` are those before it that may use the same pool, first in line
    first, at most `AHEAD` of the `ahead_count`; `reserved_at` is the start promised to it, if it has one and that can
    be known.
    """

    job: JobId
    position: int
    reason: Reason
    ahead: tuple[JobId, ...] = ()
    reserved_at: datetime | None = None
    place: Place | None = None
    ahead_count: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of one cycle on one snapshot."""

    version: int
    starts: tuple[Start, ...]
    waits: tuple[Waits, ...]
    preemptions: tuple[Preemption, ...] = ()
    promised: tuple[Promised, ...] = ()


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a job is expected to start: half the time by `p50`, nine times in ten by `p90`.

    Both None: `unknown` says why. `no-history`: something ahead has no known run time; `quota`, `node-health`,
    `capacity`: it cannot start with the quota, the nodes that are up, or the nodes there are; `too-far`: beyond what
    was stepped through, and then `not_before` is a time it will not start before. `passable`: for how long from
    `as_of` shorter jobs that come later may be put before it, which the draws do not know of.
    """

    job: JobId
    as_of: datetime
    p50: datetime | None = None
    p90: datetime | None = None
    unknown: str | None = None
    not_before: datetime | None = None
    passable: timedelta = timedelta(0)
