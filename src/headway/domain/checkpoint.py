"""A restorable training state: where it is, of which step, and whether it was verified."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headway.domain.ids import AttemptId, JobId


class CheckpointState(StrEnum):
    """What is known of a checkpoint's files."""

    SAVED = "saved"
    VERIFIED = "verified"
    REJECTED = "rejected"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One saved state of a job; `reason` says why it was rejected.

    `format`: the framework that wrote it in its own way; None: the in-job SDK.
    `pinned_by`: who wants it kept, whatever the policy or a full disk says; None: nobody.
    `seconds`: from its beginning until it was durable; `blocked`: how long of that training waited, None: not told.
    `storage`: the type of the file system it lies on; `restored`: seconds its newest restore took; None: not told.
    `copy`: where in a store it was copied to, None: nowhere; `copy_seconds`: from its beginning until that copy was
    whole; `copy_restored`: seconds the newest restore from the copy took, staging back and loading.
    """

    job: JobId
    attempt: AttemptId
    step: int
    path: str
    bytes: int
    seconds: float
    saved_at: datetime
    state: CheckpointState = CheckpointState.SAVED
    reason: str | None = None
    blocked: float | None = None
    format: str | None = None
    pinned_by: str | None = None
    storage: str | None = None
    restored: float | None = None
    copy: str | None = None
    copy_storage: str | None = None
    copy_seconds: float | None = None
    copy_restored: float | None = None


@dataclass(frozen=True, slots=True)
class LossBill:
    """What one failure cost: steps done again, device-seconds spent on them and on the outage, seconds by phase.

    `kill_to_first_step_s` runs from the first fault to the first step after it; None until that step is seen.
    """

    job: JobId
    failed: AttemptId
    fault_at: datetime
    detected_at: datetime
    last_step: int
    resumed_step: int
    device_seconds_lost: int
    resumed: AttemptId | None = None
    resumed_at: datetime | None = None
    first_step_at: datetime | None = None
    passed_fault_step_at: datetime | None = None

    @property
    def lost_steps(self) -> int:
        return max(0, self.last_step - self.resumed_step)

    @property
    def kill_to_first_step_s(self) -> float | None:
        return (self.first_step_at - self.fault_at).total_seconds() if self.first_step_at else None
