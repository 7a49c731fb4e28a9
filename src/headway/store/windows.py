"""Maintenance windows and advance reservations."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sql
from sqlalchemy import Connection, bindparam, update

from headway.scheduler.snapshot import Window
from headway.store import schema, world
from headway.store.shape import Shape

_windows = schema.windows


@dataclass(frozen=True, slots=True)
class KeptWindow:
    """A window, with who set it and why."""

    id: str
    content: Window
    reason: str
    set_by: str
    set_at: datetime
    cancelled_at: datetime | None = None


_SHAPE = Shape(KeptWindow, _windows)
_INSERT = sql.insert(_windows)
_ONE = _SHAPE.select().where(_windows.c.id == bindparam("id"))
_ALL = _SHAPE.select().order_by(_windows.c.begins, _windows.c.id)
_AHEAD = _ALL.where(_windows.c.cancelled_at.is_(None), _windows.c.ends > bindparam("now"))
_CANCEL = update(_windows).where(_windows.c.id == bindparam("of")).values(cancelled_at=bindparam("at"))


def insert(c: Connection, window: KeptWindow) -> None:
    """Keep a window."""
    c.execute(_INSERT, _SHAPE.row(window, begins=window.content.begins, ends=window.content.ends))
    world.bump(c)


def get(c: Connection, id: str) -> KeptWindow | None:
    """One window."""
    return _SHAPE.one(c, _ONE, {"id": id})


def ahead(c: Connection, now: datetime) -> list[KeptWindow]:
    """Every window that is not over, first to begin first."""
    return _SHAPE.all(c, _AHEAD, {"now": now})


def cancel(c: Connection, id: str, at: datetime) -> None:
    """It holds nothing up any more."""
    c.execute(_CANCEL, {"of": id, "at": at})
    world.bump(c)
