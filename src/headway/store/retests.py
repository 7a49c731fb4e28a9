"""Retests of nodes, and the speeds that retests of one shape are compared with."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sql
from sqlalchemy import Connection, bindparam, select, update

from headway.diagnosis.cases.retest import Judgement, Measured, RetestShape
from headway.domain.ids import JobId
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import Upsert

_retests, _references = schema.retests, schema.retest_references


@dataclass(frozen=True, slots=True)
class Retest:
    """One retest of `nodes` by a job, open until `ended_at`.

    `as_reference`: its speeds become what its shape is held to.
    """

    id: str
    job: JobId
    nodes: tuple[str, ...]
    shape: RetestShape
    as_reference: bool
    requested_by: str
    requested_at: datetime
    ended_at: datetime | None = None
    measured: Measured | None = None
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """Speeds by name that a shape is held to, from which retest, by whom, since when."""

    shape: str
    speeds: dict[str, float]
    retest: str
    set_by: str
    set_at: datetime


_SHAPE, _REFERENCE = Shape(Retest, _retests), Shape(Reference, _references)
_INSERT = sql.insert(_retests)
_ALL = _SHAPE.select().order_by(_retests.c.requested_at.desc(), _retests.c.id)
_OPEN = _ALL.where(_retests.c.ended_at.is_(None))
_END = (
    update(_retests)
    .where(_retests.c.id == bindparam("of"), _retests.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), measured=bindparam("found"), judgement=bindparam("judged"))
)
_PUT = Upsert(_references)
_SPEEDS = select(_references.c.speeds).where(_references.c.shape == bindparam("shape"))
_ALL_REFERENCES = _REFERENCE.select().order_by(_references.c.shape)


def insert(c: Connection, retest: Retest) -> None:
    """Keep a request."""
    c.execute(_INSERT, _SHAPE.row(retest))


def all(c: Connection) -> list[Retest]:
    """Every retest, newest first."""
    return _SHAPE.all(c, _ALL)


def still_open(c: Connection) -> list[Retest]:
    """Retests that have no outcome yet, newest first."""
    return _SHAPE.all(c, _OPEN)


def end(c: Connection, id: str, at: datetime, measured: Measured | None, judgement: Judgement) -> bool:
    """Keep the outcome; whether this was the first to be kept, which stands."""
    return c.execute(_END, {"of": id, "at": at, "found": measured, "judged": judgement}).rowcount > 0


def put_reference(c: Connection, reference: Reference) -> None:
    """From now on the shape is held to these speeds."""
    _PUT(c, _REFERENCE.row(reference))


def speeds(c: Connection, shape: RetestShape) -> dict[str, float] | None:
    """What the shape is held to; None: nothing yet."""
    found: dict[str, float] | None = c.execute(_SPEEDS, {"shape": str(shape)}).scalar_one_or_none()
    return found


def references(c: Connection) -> list[Reference]:
    """Every reference, by shape."""
    return _REFERENCE.all(c, _ALL_REFERENCES)
