"""Devices held for a job that resumes, until a moment."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select

from headway.domain.ids import JobId
from headway.scheduler.snapshot import Hold
from headway.store import schema, world
from headway.store.upsert import Upsert

_holds = schema.holds
_PUT = Upsert(_holds)
_DROP = delete(_holds).where(_holds.c.job == bindparam("of"))
_ALL = select(_holds.c.content).where(_holds.c.until > bindparam("now")).order_by(_holds.c.until, _holds.c.job)


def put(c: Connection, hold: Hold) -> None:
    """Hold devices for a job, in place of what was held for it."""
    _PUT(c, {"job": hold.job, "until": hold.until, "content": hold})
    world.bump(c)


def drop(c: Connection, job: JobId) -> None:
    """Hold nothing for this job any more."""
    if c.execute(_DROP, {"of": job}).rowcount:
        world.bump(c)


def all(c: Connection, now: datetime) -> list[Hold]:
    """What is held at this moment, first to expire first."""
    return list(c.execute(_ALL, {"now": now}).scalars())
