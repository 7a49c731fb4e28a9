"""The quota table's versions: proposals, approvals, and the one in force. Rows are never removed."""

from dataclasses import replace
from datetime import datetime

import sqlalchemy as sql
from sqlalchemy import Connection, bindparam, func, select, update

from headway.domain.quota import QuotaTree
from headway.domain.quota_version import QuotaVersion
from headway.store import schema, world
from headway.store.shape import Shape

_versions = schema.quota_versions
_SHAPE = Shape(QuotaVersion, _versions)
_ALL = _SHAPE.select().order_by(_versions.c.number)
_NEWEST = _SHAPE.select().where(_versions.c.approved_at.is_not(None)).order_by(_versions.c.number.desc()).limit(1)
_COME = _NEWEST.where(_versions.c.in_force_from <= bindparam("now"))
_ONE = _SHAPE.select().where(_versions.c.number == bindparam("number"))
_LAST = select(func.coalesce(func.max(_versions.c.number), 0))
_INSERT = sql.insert(_versions)
_APPROVE = (
    update(_versions)
    .where(_versions.c.number == bindparam("of"))
    .values(approved_by=bindparam("by"), approved_at=bindparam("at"), in_force_from=bindparam("since"))
)
_DROP = (
    update(_versions)
    .where(_versions.c.number == bindparam("of"))
    .values(
        dropped_as=bindparam("how"),
        dropped_by=bindparam("by"),
        dropped_at=bindparam("at"),
        dropped_why=bindparam("why"),
    )
)
_CLOSED = select(schema.projects.c.name).where(schema.projects.c.closed_at.is_not(None))


def all(c: Connection) -> list[QuotaVersion]:
    """Every version, first to last, approved or not."""
    return _SHAPE.all(c, _ALL)


def get(c: Connection, number: int) -> QuotaVersion | None:
    """One version."""
    return _SHAPE.one(c, _ONE, {"number": number})


def newest(c: Connection) -> QuotaVersion | None:
    """The newest approved version, whether its date has come or not."""
    return _SHAPE.one(c, _NEWEST)


def current(c: Connection, now: datetime) -> QuotaVersion | None:
    """The version in force."""
    return _SHAPE.one(c, _COME, {"now": now})


def tree(c: Connection, now: datetime) -> QuotaTree:
    """The table in force, without the projects that were closed: their quota is free."""
    found = current(c, now)
    return QuotaTree() if found is None else without(found.tree, set(c.execute(_CLOSED).scalars()))


def without(tree: QuotaTree, closed: set[str]) -> QuotaTree:
    """The tree without these projects."""
    if not closed & tree.branches.keys():
        return tree
    return QuotaTree({name: branch for name, branch in tree.branches.items() if name not in closed})


def add(c: Connection, version: QuotaVersion) -> QuotaVersion:
    """Keep a new version under the next number; an approved one changes the world."""
    kept = replace(version, number=int(c.execute(_LAST).scalar_one()) + 1)
    c.execute(_INSERT, _SHAPE.row(kept))
    if kept.approved_at is not None:
        world.bump(c)
    return kept


def approve(c: Connection, version: QuotaVersion) -> None:
    """Note who approved a version, when, and from when on it holds."""
    approval = {"by": version.approved_by, "at": version.approved_at, "since": version.in_force_from}
    c.execute(_APPROVE, {"of": version.number} | approval)
    world.bump(c)


def drop(c: Connection, version: QuotaVersion) -> None:
    """Note that a proposal never comes into force: who said so, when and why."""
    said = {"how": version.dropped_as, "by": version.dropped_by, "at": version.dropped_at, "why": version.dropped_why}
    c.execute(_DROP, {"of": version.number} | said)
