"""The first start-time range each job was given, beside when it really started: what forecasts are measured by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select, update

from headway.domain.ids import JobId
from headway.scheduler.plan import Forecast
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import InsertNew

_predictions, _jobs = schema.predictions, schema.jobs


@dataclass(frozen=True, slots=True)
class Prediction:
    """A range told at `made_at`, the middle that the draws alone had said, and the start (None: it has not started).

    `passable`: seconds for which shorter jobs could still be put before it.
    """

    job: JobId
    project: str
    devices: int
    made_at: datetime
    drawn: datetime
    p50: datetime
    p90: datetime
    started_at: datetime | None = None
    passable: float = 0.0


_SHAPE = Shape(Prediction, _predictions)
_KEEP = InsertNew(_predictions)
_MET = (
    update(_predictions)
    .where(_predictions.c.job == bindparam("of"), _predictions.c.started_at.is_(None))
    .values(started_at=bindparam("at"))
)
_ASKED = select(_jobs.c.id, _jobs.c.spec).where(
    _jobs.c.id.in_(bindparam("ids", expanding=True)),
    _jobs.c.id.not_in(select(_predictions.c.job)),
    _jobs.c.attempts == 0,
)
_STARTED = (
    _SHAPE.select()
    .where(_predictions.c.started_at.is_not(None), _predictions.c.made_at >= bindparam("since"))
    .order_by(_predictions.c.made_at)
)


def keep(c: Connection, forecasts: Sequence[Forecast], drawn: Mapping[JobId, Forecast]) -> None:
    """Keep the first range of every job that never ran, as told and as it was `drawn`."""
    ranged = {f.job: (f.as_of, f.p50, f.p90) for f in forecasts if f.p50 is not None and f.p90 is not None}
    if not ranged:
        return
    rows = []
    for job, spec in c.execute(_ASKED, {"ids": list(ranged)}):
        made_at, p50, p90 = ranged[job]
        raw, passable = drawn[job].p50 or p50, drawn[job].passable / timedelta(seconds=1)
        made = Prediction(job, spec.project, spec.request.devices, made_at, raw, p50, p90, passable=passable)
        rows.append(_SHAPE.row(made))
    _KEEP(c, rows)


def met(c: Connection, job: JobId, at: datetime) -> None:
    """The job has started for the first time."""
    c.execute(_MET, {"of": job, "at": at})


def started(c: Connection, since: datetime) -> list[Prediction]:
    """Every prediction made since then whose job has started."""
    return _SHAPE.all(c, _STARTED, {"since": since})
