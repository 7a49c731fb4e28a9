"""What is known of checkpoints on disk, written as rows and facts: verified, or rejected with the reason."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.carrying import OWN
from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.events import CheckpointRejected, CheckpointVerified
from headway.domain.ids import JobId
from headway.store import checkpoints, facts


@dataclass(frozen=True, slots=True)
class Found:
    """A checkpoint, the step it is of, and who wrote it: a framework's format, or `OWN` for the in-job SDK."""

    path: str
    step: int
    format: str = OWN


def newer(own: Found | None, theirs: Found | None) -> tuple[Found | None, Found | None]:
    """The newer of the SDK's and a framework's newest, and the other; of the same step the SDK's, which says more."""
    if own is None or theirs is None:
        return own or theirs, None
    return (theirs, own) if theirs.step > own.step else (own, theirs)


def record_verified(c: Connection, attempt: Attempt, found: Found, at: datetime) -> None:
    """Mark a checkpoint as verified; one whose save was never reported is recorded first."""
    known = {row.path: row for row in checkpoints.of_job(c, attempt.job)}
    if found.path not in known:
        unseen = Checkpoint(attempt.job, attempt.id, found.step, found.path, bytes=0, seconds=0.0, saved_at=at)
        checkpoints.record(c, unseen)
    elif known[found.path].state == CheckpointState.VERIFIED:
        return
    checkpoints.set_state(c, attempt.job, found.path, CheckpointState.VERIFIED)
    facts.append(c, CheckpointVerified(at=at, by="server", job=attempt.job, step=found.step, path=found.path))


def record_rejected(c: Connection, job: JobId, found: Found, reason: str, at: datetime) -> None:
    """Mark a checkpoint as rejected, and say so once."""
    known = {row.path: row for row in checkpoints.of_job(c, job)}
    if found.path in known and known[found.path].state == CheckpointState.REJECTED:
        return
    if found.path in known:
        checkpoints.set_state(c, job, found.path, CheckpointState.REJECTED, reason)
    rejected = CheckpointRejected(at=at, by="server", job=job, step=found.step, path=found.path, reason=reason)
    facts.append(c, rejected)
