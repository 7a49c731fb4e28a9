"""The ledger: posted entries, never changed. A correction is a new entry under a new key."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, func, select

from headway.domain.ids import AttemptId, JobId
from headway.metering.entries import Entry
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import InsertNew

_ledger = schema.ledger
_SHAPE = Shape(Entry, _ledger)
_POST = InsertNew(_ledger)
_ENTRIES = _SHAPE.select().order_by(_ledger.c.start, _ledger.c.key)
_BY_ATTEMPT = (
    select(_ledger.c.attempt, func.sum(_ledger.c.device_seconds))
    .where(_ledger.c.job.in_(bindparam("jobs", expanding=True)))
    .group_by(_ledger.c.attempt)
)
_TOTAL = select(func.coalesce(func.sum(_ledger.c.device_seconds), 0))


def post(c: Connection, entries: Sequence[Entry]) -> int:
    """Post entries; a key that was posted before is ignored. Returns how many were new."""
    return _POST(c, [_SHAPE.row(entry) for entry in entries])


def entries(c: Connection, *, project: str | None = None, month: str | None = None) -> list[Entry]:
    """Posted entries by their start; `month` as in the entries, `YYYY-MM`."""
    statement = _ENTRIES
    if project is not None:
        statement = statement.where(_ledger.c.project == project)
    if month is not None:
        statement = statement.where(_ledger.c.month == month)
    return _SHAPE.all(c, statement)


def of_attempts(c: Connection, jobs: Collection[JobId]) -> dict[AttemptId, int]:
    """Device-seconds of every attempt of these jobs that was posted."""
    rows = c.execute(_BY_ATTEMPT, {"jobs": jobs})
    return {AttemptId(attempt): int(seconds) for attempt, seconds in rows}


def total(c: Connection) -> int:
    """Device-seconds of all entries."""
    return int(c.execute(_TOTAL).scalar_one())
