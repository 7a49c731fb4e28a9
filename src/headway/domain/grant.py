"""An approved, expiring addition to a quota, from its request on."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headway.domain.quota import Grant


class GrantState(StrEnum):
    """Where a request stands."""

    REQUESTED = "requested"
    APPROVED = "approved"
    DENIED = "denied"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class GrantRequest:
    """What was asked for and what was decided: a record that is kept."""

    id: str
    project: str
    device_type: str
    devices: int
    begins: datetime
    ends: datetime
    reason: str
    requested_by: str
    requested_at: datetime
    state: GrantState = GrantState.REQUESTED
    decided_by: str | None = None
    decided_at: datetime | None = None
    note: str | None = None
    warned_at: datetime | None = None

    @property
    def grant(self) -> Grant:
        """What the scheduler reads of it."""
        return Grant(
            project=self.project,
            device_type=self.device_type,
            devices=self.devices,
            begins=self.begins,
            ends=self.ends,
            reason=self.reason,
            approver=self.decided_by or "",
        )
