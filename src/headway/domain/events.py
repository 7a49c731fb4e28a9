"""Every fact Headway records, each frozen, with when it was true and who said so.

Facts are the spine: the ledger, the verdict, the audit and the timeline read the same list. A fact is never changed or
removed; what was wrong is corrected by a later fact.
"""

from dataclasses import fields
from typing import get_args

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
from headway.domain.attempt_events import (
    AgentLost,
    AttemptEnded,
    AttemptLaunched,
    AttemptPlaced,
    AttemptStarted,
    AttemptWaited,
    EndExplained,
    LaunchFailed,
    LogsDropped,
    RankExited,
    RunFilesRemoved,
    VerdictReached,
)
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
from headway.domain.job_events import (
    JobEnded,
    JobSubmitted,
    StopRequested,
)
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
from headway.domain.progress_events import (
    CheckpointRejected,
    CheckpointSaved,
    CheckpointVerified,
    PhaseEntered,
    ProgressSeen,
    Restored,
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
from headway.domain.stall_events import Moving, RankSlow, Stalled, StallExplained

__all__ = [
    "KINDS",
    "AgentLost",
    "AttemptEnded",
    "AttemptLaunched",
    "AttemptPlaced",
    "AttemptStarted",
    "AttemptWaited",
    "CheckpointRejected",
    "CheckpointSaved",
    "CheckpointVerified",
    "EndExplained",
    "Event",
    "Fact",
    "JobEnded",
    "JobSubmitted",
    "LaunchFailed",
    "LogsDropped",
    "PhaseEntered",
    "ProgressSeen",
    "RankExited",
    "Restored",
    "RunFilesRemoved",
    "StopRequested",
    "VerdictReached",
    "field_names",
]

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
