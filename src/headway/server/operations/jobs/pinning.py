"""Keep a checkpoint whatever its job's policy or a full disk says, until it is unpinned.

Refused where a pin would keep nothing: of a job whose own program lets its checkpoints go.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.cadence_events import CheckpointPinned, CheckpointUnpinned
from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.errors import PlatformError
from headway.domain.job import Job
from headway.server.operations.jobs.keeping import is_thinned
from headway.store import checkpoints, facts


def pin(c: Connection, job: Job, step: int, *, at: datetime, by: str) -> list[Checkpoint]:
    """Pin what is there of a step; repeating it changes nothing. Raises `pin-keeps-nothing`, `not-found`."""
    if not is_thinned(job.spec.checkpoint):
        raise PlatformError("pin-keeps-nothing", job=job.id)
    found = _of_step(c, job, step)
    for each in found:
        if each.pinned_by is None:
            checkpoints.pin(c, job.id, each.path, by)
            facts.append(c, CheckpointPinned(at=at, by=by, job=job.id, step=step, path=each.path))
    return [replace(each, pinned_by=each.pinned_by or by) for each in found]


def unpin(c: Connection, job: Job, step: int, *, at: datetime, by: str) -> list[Checkpoint]:
    """Leave a step to the policy again; repeating it changes nothing. Raises `not-found`."""
    found = _of_step(c, job, step)
    for each in found:
        if each.pinned_by is not None:
            checkpoints.pin(c, job.id, each.path, None)
            facts.append(c, CheckpointUnpinned(at=at, by=by, job=job.id, step=step, path=each.path))
    return [replace(each, pinned_by=None) for each in found]


def _of_step(c: Connection, job: Job, step: int) -> list[Checkpoint]:
    present = [each for each in checkpoints.of_job(c, job.id) if each.state is not CheckpointState.DELETED]
    found = [each for each in present if each.step == step]
    if not found:
        near = ", ".join(dict.fromkeys(str(each.step) for each in present))
        raise PlatformError("not-found", what="checkpoint", value=str(step), near=near)
    return found
