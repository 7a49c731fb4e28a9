"""A job's checkpoints and what is known of each; the files are elsewhere."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Select, bindparam, case, func, select, update

from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.ids import JobId
from headway.registry.storages import Storage
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import Upsert

_checkpoints = schema.checkpoints
_SHAPE = Shape(Checkpoint, _checkpoints)
_RECORD = Upsert(
    _checkpoints,
    change=lambda _new: {"pinned_by": _checkpoints.c.pinned_by},
    when=lambda new: new.attempt_number >= _checkpoints.c.attempt_number,
)
_OF_JOB = (
    _SHAPE.select()
    .where(_checkpoints.c.job == bindparam("job"))
    .order_by(_checkpoints.c.step.desc(), _checkpoints.c.saved_at.desc())
)
_IN_STATE = _SHAPE.select().where(_checkpoints.c.state == bindparam("state")).order_by(_checkpoints.c.saved_at)
_AT = update(_checkpoints).where(_checkpoints.c.job == bindparam("of"), _checkpoints.c.path == bindparam("at_path"))
_SET_STATE = _AT.values(state=bindparam("after"), reason=bindparam("why"))
_PIN = _AT.values(pinned_by=bindparam("pinned"))
_RESTORED = _AT.values(restored=bindparam("took"))
_RESTORED_COPY = _AT.values(copy_restored=bindparam("took"))
_COPIED = _AT.values(copy=bindparam("to"), copy_storage=bindparam("store"), copy_seconds=bindparam("took"))


def _measured(storage: Column[Any], seconds: Column[Any], restored: Column[Any]) -> Select[Any]:
    """What was measured since a moment, summed by what it lies on."""
    read_back = restored > 0
    return (
        select(
            storage,
            func.count(),
            func.sum(_checkpoints.c.bytes),
            func.sum(seconds),
            func.sum(case((read_back, 1), else_=0)),
            func.sum(case((read_back, _checkpoints.c.bytes), else_=0)),
            func.sum(case((read_back, restored), else_=0.0)),
        )
        .where(_checkpoints.c.saved_at >= bindparam("after"), storage.is_not(None), seconds > 0)
        .group_by(storage)
        .order_by(storage)
    )


_BY_STORAGE = _measured(_checkpoints.c.storage, _checkpoints.c.seconds, _checkpoints.c.restored)
_BY_STORE = _measured(_checkpoints.c.copy_storage, _checkpoints.c.copy_seconds, _checkpoints.c.copy_restored)


class Copied(NamedTuple):
    """A copy of a checkpoint: where it is, in what kind of store, and seconds from the save's beginning until whole."""

    to: str
    storage: str
    seconds: float


def record(c: Connection, checkpoint: Checkpoint) -> None:
    """Keep a checkpoint; one at the same path is replaced, unless a later attempt saved it, and stays pinned."""
    _RECORD(c, _SHAPE.row(checkpoint, attempt_number=int(checkpoint.attempt.rpartition(".")[2])))


def of_job(c: Connection, job: JobId) -> list[Checkpoint]:
    """A job's checkpoints in every state, newest step first."""
    return _SHAPE.all(c, _OF_JOB, {"job": job})


def in_state(c: Connection, state: CheckpointState) -> list[Checkpoint]:
    """Every job's checkpoints in this state, oldest first."""
    return _SHAPE.all(c, _IN_STATE, {"state": state})


def set_state(c: Connection, job: JobId, path: str, state: CheckpointState, reason: str | None = None) -> None:
    """Note what is now known of a checkpoint, and why."""
    c.execute(_SET_STATE, {"of": job, "at_path": path, "after": state, "why": reason})


def set_restored(c: Connection, job: JobId, path: str, seconds: float, from_copy: bool = False) -> None:
    """Note how long it took to go on from a checkpoint, or from its copy in a store."""
    c.execute(_RESTORED_COPY if from_copy else _RESTORED, {"of": job, "at_path": path, "took": seconds})


def set_copy(c: Connection, job: JobId, path: str, copy: Copied) -> bool:
    """Note a checkpoint's copy; False where the job has no such checkpoint."""
    values = {"of": job, "at_path": path, "to": copy.to, "store": copy.storage, "took": copy.seconds}
    return c.execute(_COPIED, values).rowcount == 1


def by_storage(c: Connection, after: datetime) -> list[Storage]:
    """What every job's saves since a moment measured, summed by what they lie on, and by the stores of their copies."""
    return [
        Storage(name, saves, int(size), seconds, int(restores), int(restored_bytes), restored_seconds)
        for query in (_BY_STORAGE, _BY_STORE)
        for name, saves, size, seconds, restores, restored_bytes, restored_seconds in c.execute(query, {"after": after})
    ]


def pin(c: Connection, job: JobId, path: str, by: str | None) -> None:
    """Note who wants a checkpoint kept; None: nobody any more."""
    c.execute(_PIN, {"of": job, "at_path": path, "pinned": by})
