"""Drills: orders to kill a rank on purpose, kept until the agent says that it was done."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, update

from headway.domain.ids import AttemptId, JobId
from headway.store import schema
from headway.store.shape import Shape

_drills = schema.drills


@dataclass(frozen=True, slots=True)
class Drill:
    """An order to send `signal` to one rank of an attempt; `done_at` once the agent has."""

    id: str
    job: JobId
    attempt: AttemptId
    rank: int
    signal: int
    at: datetime
    by: str
    done_at: datetime | None = None


_SHAPE = Shape(Drill, _drills)
_ORDER = insert(_drills)
_PENDING = (
    _SHAPE.select()
    .where(_drills.c.attempt == bindparam("attempt"), _drills.c.done_at.is_(None))
    .order_by(_drills.c.at, _drills.c.id)
)
_OF_JOB = _SHAPE.select().where(_drills.c.job == bindparam("job")).order_by(_drills.c.at, _drills.c.id)
_DONE = update(_drills).where(_drills.c.id == bindparam("of"), _drills.c.done_at.is_(None))


def order(  # noqa: PLR0913 (one argument for each thing the order says)
    c: Connection, drill_id: str, job: JobId, attempt: AttemptId, rank: int, signal: int, at: datetime, by: str
) -> Drill:
    """Keep an order until it is done."""
    drill = Drill(drill_id, job, attempt, rank, signal, at, by)
    c.execute(_ORDER, _SHAPE.row(drill))
    return drill


def pending(c: Connection, attempt: AttemptId) -> list[Drill]:
    """An attempt's orders that are not known to be done, oldest first."""
    return _SHAPE.all(c, _PENDING, {"attempt": attempt})


def done(c: Connection, drill_id: str, at: datetime) -> None:
    """Note that the agent carried an order out; the first time stands."""
    c.execute(_DONE.values(done_at=at), {"of": drill_id})


def of_job(c: Connection, job: JobId) -> list[Drill]:
    """Every drill of a job, oldest first."""
    return _SHAPE.all(c, _OF_JOB, {"job": job})
