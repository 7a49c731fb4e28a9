"""Every fact Headway records, each frozen, with when it was true and who said so.

Facts are the spine: the ledger, the verdict, the audit and the timeline read the same list. A fact is never changed or
removed; what was wrong is corrected by a later fact.
"""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import ClassVar, get_args

from headway.domain.alert_events import (
    AlertAcknowledged,
    AlertEnded,
    AlertFired,
    AlertRuleMuted,
    AlertRuleRemoved,
    AlertRuleSet,
    ChannelSet,
)
from headway.domain.asset_events import (
    DatasetRegistered,
    ReplicaReady,
    ServiceDeployed,
    ServiceStopped,
    TemplateAdded,
    TrafficShifted,
    VersionRegistered,
)
from headway.domain.attempt import Outcome
from headway.domain.cadence_events import (
    CadenceAdvised,
    CheckpointCopied,
    CheckpointDeleted,
    CheckpointPinned,
    CheckpointUnpinned,
    SpaceShort,
)
from headway.domain.drill_events import DrillOrdered, DrillScored
from headway.domain.event import Event
from headway.domain.hold_events import JobHeld, JobReleased
from headway.domain.ids import AttemptId, JobId
from headway.domain.node_events import (
    NodeChanged,
    NodeCredentialIssued,
    NodeCredentialRevoked,
    NodeFaultSeen,
    NodeInventoried,
    ReferenceSet,
    RetestEnded,
    RetestRequested,
)
from headway.domain.people_events import (
    DepartmentCreated,
    PasswordChanged,
    ProjectCreated,
    RoleGranted,
    RoleWithdrawn,
    TokenIssued,
    TokenRevoked,
    UserCreated,
)
from headway.domain.queue_events import (
    BudgetReached,
    GrantDecided,
    GrantEnding,
    GrantExpired,
    GrantRequested,
    GrantWithdrawn,
    PreemptionOrdered,
    ProjectClosed,
    QuotaApproved,
    QuotaDropped,
    QuotaProposed,
    QuotaSet,
    ReservationDelayed,
    WindowCancelled,
    WindowSet,
)
from headway.domain.recovery_events import RecoveryDecided, RecoveryMeasured
from headway.domain.resources import Placement
from headway.domain.stall_events import Moving, RankSlow, Stalled, StallExplained


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSubmitted(Event):
    """`origin`: the job from whose checkpoint it goes on."""

    kind: ClassVar[str] = "job-submitted"
    job: JobId
    project: str
    name: str
    devices: int
    origin: JobId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRequested(Event):
    kind: ClassVar[str] = "stop-requested"
    job: JobId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPlaced(Event):
    """Devices are taken from here on; where a job begins again in place, that is when its attempt before ended.

    `basis` says how they are billed: `occupancy` or `resident` time. `borrowed`: they are beyond
    the project's guarantee; `grant`: the approved addition they stand on.
    """

    kind: ClassVar[str] = "attempt-placed"
    job: JobId
    attempt: AttemptId
    project: str
    device_type: str
    placements: tuple[Placement, ...]
    basis: str
    borrowed: bool = False
    grant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLaunched(Event):
    kind: ClassVar[str] = "attempt-launched"
    job: JobId
    attempt: AttemptId
    resume_from: str | None
    resume_step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFailed(Event):
    kind: ClassVar[str] = "launch-failed"
    job: JobId
    attempt: AttemptId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptWaited(Event):
    """A batch system kept the attempt in its own queue: it had no devices before `until`."""

    kind: ClassVar[str] = "attempt-waited"
    job: JobId
    attempt: AttemptId
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted(Event):
    kind: ClassVar[str] = "attempt-started"
    job: JobId
    attempt: AttemptId


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressSeen(Event):
    """The newest step of an attempt, recorded at most every few seconds; every step is in the readings."""

    kind: ClassVar[str] = "progress-seen"
    job: JobId
    attempt: AttemptId
    step: int
    total: int | None
    loss: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEntered(Event):
    kind: ClassVar[str] = "phase-entered"
    job: JobId
    attempt: AttemptId
    rank: int
    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSaved(Event):
    kind: ClassVar[str] = "checkpoint-saved"
    job: JobId
    attempt: AttemptId
    step: int
    path: str
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointVerified(Event):
    kind: ClassVar[str] = "checkpoint-verified"
    job: JobId
    step: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRejected(Event):
    kind: ClassVar[str] = "checkpoint-rejected"
    job: JobId
    step: int | None
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Event):
    """A rank loaded a checkpoint; `path` None: it started from step 0."""

    kind: ClassVar[str] = "restored"
    job: JobId
    attempt: AttemptId
    rank: int
    step: int
    path: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankExited(Event):
    kind: ClassVar[str] = "rank-exited"
    job: JobId
    attempt: AttemptId
    rank: int
    node: str
    code: int | None
    signal: int | None
    stopped_by_us: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsDropped(Event):
    kind: ClassVar[str] = "logs-dropped"
    job: JobId
    attempt: AttemptId
    rank: int
    offset: int
    bytes: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilesRemoved(Event):
    """The folders an attempt ran in are gone, so many bytes with them; everything in them had been told long before."""

    kind: ClassVar[str] = "run-files-removed"
    job: JobId
    attempt: AttemptId
    engine: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLost(Event):
    kind: ClassVar[str] = "agent-lost"
    job: JobId
    attempt: AttemptId
    node: str
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndExplained(Event):
    """What the batch system ended a part for, where the agent has told the end itself."""

    kind: ClassVar[str] = "end-explained"
    job: JobId
    attempt: AttemptId
    node: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded(Event):
    """Devices are free from here on."""

    kind: ClassVar[str] = "attempt-ended"
    job: JobId
    attempt: AttemptId
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictReached(Event):
    kind: ClassVar[str] = "verdict-reached"
    job: JobId
    attempt: AttemptId
    fault: str
    owner: str
    rank: int | None
    node: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnded(Event):
    kind: ClassVar[str] = "job-ended"
    job: JobId
    state: str
    reason: str | None


Fact = (
    DepartmentCreated
    | ProjectCreated
    | ProjectClosed
    | QuotaSet
    | QuotaProposed
    | QuotaApproved
    | QuotaDropped
    | GrantRequested
    | GrantDecided
    | GrantWithdrawn
    | GrantEnding
    | GrantExpired
    | BudgetReached
    | WindowSet
    | WindowCancelled
    | UserCreated
    | RoleGranted
    | TokenIssued
    | TokenRevoked
    | PasswordChanged
    | RoleWithdrawn
    | TemplateAdded
    | DatasetRegistered
    | JobSubmitted
    | StopRequested
    | DrillOrdered
    | DrillScored
    | PreemptionOrdered
    | ReservationDelayed
    | AttemptPlaced
    | AttemptLaunched
    | LaunchFailed
    | AttemptWaited
    | AttemptStarted
    | ProgressSeen
    | PhaseEntered
    | Stalled
    | StallExplained
    | Moving
    | RankSlow
    | CheckpointSaved
    | CadenceAdvised
    | CheckpointCopied
    | CheckpointDeleted
    | CheckpointPinned
    | CheckpointUnpinned
    | SpaceShort
    | CheckpointVerified
    | CheckpointRejected
    | Restored
    | RankExited
    | LogsDropped
    | RunFilesRemoved
    | AgentLost
    | EndExplained
    | AttemptEnded
    | VerdictReached
    | RecoveryDecided
    | JobHeld
    | JobReleased
    | RecoveryMeasured
    | JobEnded
    | VersionRegistered
    | ServiceDeployed
    | ReplicaReady
    | TrafficShifted
    | ServiceStopped
    | NodeChanged
    | RetestRequested
    | RetestEnded
    | ReferenceSet
    | AlertRuleSet
    | AlertRuleRemoved
    | AlertRuleMuted
    | AlertFired
    | AlertEnded
    | AlertAcknowledged
    | ChannelSet
    | NodeFaultSeen
    | NodeInventoried
    | NodeCredentialIssued
    | NodeCredentialRevoked
)

KINDS: dict[str, type[Fact]] = {fact.kind: fact for fact in get_args(Fact)}


def field_names(kind: str) -> tuple[str, ...]:
    """The fields of a fact besides `at` and `by`, in order."""
    return tuple(f.name for f in fields(KINDS[kind]) if f.name not in ("at", "by"))
