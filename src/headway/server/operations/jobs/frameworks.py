"""Checkpoints that frameworks wrote in their own way, as the first node's agent saw them: rows, facts, and the newest.

The agent verified them as the job's user; the server reads none of their files.
"""

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.carrying import OWN
from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.events import CheckpointRejected, CheckpointVerified, Fact
from headway.domain.ids import JobId
from headway.server.operations.jobs.checkpoints import Found
from headway.server.wire import CheckpointSeen
from headway.store import checkpoints, facts

UNFINISHED = "unfinished"
PATIENCE = timedelta(minutes=30)
"""So long one may be in the making before it is called broken off."""


def record_seen(c: Connection, attempt: Attempt, seen: Iterable[CheckpointSeen], folder: Path, at: datetime) -> None:
    """Keep what an agent saw below a job's folder; the same again changes nothing."""
    told = [each for each in seen if each.step is not None and is_below(each.path)]
    if not told:
        return
    known = {each.path: each for each in checkpoints.of_job(c, attempt.job)}
    for each in told:
        if each.reason == UNFINISHED and at - each.saved_at < PATIENCE:
            continue
        row = _row(attempt, each, folder)
        if known.get(row.path) != row:
            checkpoints.record(c, row)
            facts.append(c, _fact(row, at))


def newest(c: Connection, job: JobId) -> Found | None:
    """The newest of a job's that verified and still is there."""
    kept = (each for each in checkpoints.of_job(c, job) if each.format and each.state is CheckpointState.VERIFIED)
    return next((Found(each.path, each.step, each.format or OWN) for each in kept if os.path.lexists(each.path)), None)


def is_below(path: str) -> bool:
    """Whether a relative path stays below where it begins, by its words alone."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts


def _row(attempt: Attempt, seen: CheckpointSeen, folder: Path) -> Checkpoint:
    assert seen.step is not None
    return Checkpoint(
        job=attempt.job,
        attempt=attempt.id,
        step=seen.step,
        path=str(folder / seen.path),
        bytes=seen.bytes,
        seconds=0.0,
        saved_at=seen.saved_at,
        state=CheckpointState.REJECTED if seen.reason else CheckpointState.VERIFIED,
        reason=seen.reason,
        format=seen.format,
    )


def _fact(row: Checkpoint, at: datetime) -> Fact:
    if row.state is CheckpointState.VERIFIED:
        return CheckpointVerified(at=at, by="agent", job=row.job, step=row.step, path=row.path)
    reason = row.reason or ""
    return CheckpointRejected(at=at, by="agent", job=row.job, step=row.step, path=row.path, reason=reason)
