"""Grants: what was asked for, what was decided, and when each was warned of and expired."""

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sql
from sqlalchemy import Connection, bindparam, update

from headway.domain.grant import GrantRequest, GrantState
from headway.store import schema, world
from headway.store.shape import Shape

_grants = schema.grants
_SHAPE = Shape(GrantRequest, _grants)
_INSERT = sql.insert(_grants)
_ONE = _SHAPE.select().where(_grants.c.id == bindparam("id"))
_ALL = _SHAPE.select().order_by(_grants.c.requested_at, _grants.c.id)
_APPROVED = _ALL.where(_grants.c.state == GrantState.APPROVED)
_MINE = update(_grants).where(_grants.c.id == bindparam("of"))
_DECIDE = _MINE.values(
    state=bindparam("after"), decided_by=bindparam("by"), decided_at=bindparam("at"), note=bindparam("because")
)
_WARN = _MINE.values(warned_at=bindparam("at"))
_EXPIRE = _MINE.values(state=GrantState.EXPIRED)


def insert(c: Connection, request: GrantRequest) -> None:
    """Keep a request."""
    c.execute(_INSERT, _SHAPE.row(request))


def get(c: Connection, id: str) -> GrantRequest | None:
    """One request."""
    return _SHAPE.one(c, _ONE, {"id": id})


def all(c: Connection, projects: Collection[str] | None = None) -> list[GrantRequest]:
    """Every request, or those of some projects, first to last."""
    return _SHAPE.all(c, _ALL if projects is None else _ALL.where(_grants.c.project.in_(list(projects))))


def approved(c: Connection) -> list[GrantRequest]:
    """Every grant that was approved and has not expired; some may not have begun."""
    return _SHAPE.all(c, _APPROVED)


def decide(c: Connection, request: GrantRequest) -> None:
    """Note the decision."""
    decision = {"after": request.state, "by": request.decided_by, "at": request.decided_at, "because": request.note}
    c.execute(_DECIDE, {"of": request.id} | decision)
    world.bump(c)


def warn(c: Connection, id: str, at: datetime) -> None:
    """Note that its holder was warned."""
    c.execute(_WARN, {"of": id, "at": at})


def expire(c: Connection, id: str) -> None:
    """It raises nothing any more."""
    c.execute(_EXPIRE, {"of": id})
    world.bump(c)
