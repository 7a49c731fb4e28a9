"""The newest plan's answers to those who wait: why each job does not start now, and when it may.

Each is replaced as a whole by the next plan; nothing here changes the world's version.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args

from pydantic import TypeAdapter
from sqlalchemy import Connection, bindparam, delete, insert, select

from headway.domain.ids import JobId
from headway.scheduler.plan import Forecast, Reason, Waits
from headway.store import schema
from headway.store.columns import as_json

_waits, _forecasts = schema.waits, schema.forecasts
# A reason's code picks its type: several reasons have the same fields.
_REASONS: dict[str, TypeAdapter[Any]] = {reason.code: TypeAdapter(reason) for reason in get_args(Reason)}
_CLEAR_WAITS = delete(_waits)
_INSERT_WAITS = insert(_waits)
_WAITS = select(
    *(_waits.c.job, _waits.c.position, _waits.c.reason, _waits.c.reason_content),
    *(_waits.c.ahead, _waits.c.reserved_at, _waits.c.place, _waits.c.ahead_count),
).where(_waits.c.job == bindparam("job"))
_CLEAR_FORECASTS = delete(_forecasts)
_INSERT_FORECASTS = insert(_forecasts)
_FORECAST = select(_forecasts.c.content).where(_forecasts.c.job == bindparam("job"))


def put_waits(c: Connection, waits: Sequence[Waits], at: datetime) -> None:
    """Replace all waits by those of the plan made at this moment."""
    c.execute(_CLEAR_WAITS)
    if waits:
        c.execute(_INSERT_WAITS, [_row(wait, at) for wait in waits])


def waits(c: Connection, job: JobId) -> Waits | None:
    """Why a job waits, by the newest plan; None when that plan did not leave it waiting."""
    row = c.execute(_WAITS, {"job": job}).first()
    if row is None:
        return None
    return Waits(
        job=row.job,
        position=row.position,
        reason=_REASONS[row.reason].validate_json(row.reason_content),
        ahead=row.ahead,
        reserved_at=row.reserved_at,
        place=row.place,
        ahead_count=row.ahead_count,
    )


def put_forecasts(c: Connection, forecasts: Sequence[Forecast]) -> None:
    """Replace all forecasts."""
    c.execute(_CLEAR_FORECASTS)
    if forecasts:
        c.execute(_INSERT_FORECASTS, [{"job": forecast.job, "content": forecast} for forecast in forecasts])


def forecast(c: Connection, job: JobId) -> Forecast | None:
    """When a job may start, by the newest forecast."""
    known: Forecast | None = c.execute(_FORECAST, {"job": job}).scalar()
    return known


def _row(wait: Waits, at: datetime) -> dict[str, Any]:
    return {
        "job": wait.job,
        "position": wait.position,
        "reserved_at": wait.reserved_at,
        "ahead": wait.ahead,
        "reason": wait.reason.code,
        "reason_content": as_json(wait.reason),
        "at": at,
        "place": wait.place,
        "ahead_count": wait.ahead_count,
    }
