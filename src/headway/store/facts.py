"""The spine: every fact ever recorded, in order. Nothing here or elsewhere changes or removes one.

Writers are serial, so a fact with a higher `seq` is never seen before one with a lower.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter
from sqlalchemy import Connection, Select, bindparam, func, insert, select

from headway.domain.events import KINDS, Event, Fact
from headway.domain.ids import JobId
from headway.store import schema
from headway.store.columns import as_json

F = TypeVar("F", bound=Event)

_facts = schema.facts
# Most facts name only their job; its project is noted beside them, so that a project can follow its own.
_APPEND = insert(_facts).values(
    project=func.coalesce(
        bindparam("of_project"),
        select(schema.jobs.c.project).where(schema.jobs.c.id == bindparam("of_job")).scalar_subquery(),
    )
)
_LAST = select(func.coalesce(func.max(_facts.c.seq), 0))
_SINCE = select(_facts.c.seq, _facts.c.kind, _facts.c.content).where(_facts.c.seq > bindparam("after"))


@dataclass(frozen=True, slots=True)
class Recorded:
    """A fact and its place in the order, from 1."""

    seq: int
    fact: Fact


def append(c: Connection, *facts: Fact) -> int:
    """Record facts in this order; returns the last `seq`."""
    if facts:
        c.execute(_APPEND, [_row(fact) for fact in facts])
    return last_seq(c)


def since(
    c: Connection,
    after: int,
    *,
    job: JobId | None = None,
    project: str | None = None,
    kinds: Collection[str] | None = None,
    limit: int | None = None,
) -> list[Recorded]:
    """Facts with `seq` above `after`, oldest first; all of them, or the first `limit`."""
    statement = _matching(job, project, kinds).order_by(_facts.c.seq).limit(limit)
    return _read(c, statement, after)


def all(
    c: Connection,
    *,
    job: JobId | None = None,
    project: str | None = None,
    kinds: Collection[str] | None = None,
) -> list[Fact]:
    """Every fact of these, however many there are, oldest first."""
    return [recorded.fact for recorded in since(c, 0, job=job, project=project, kinds=kinds)]


def last(c: Connection, job: JobId, kind: type[F]) -> F | None:
    """The newest fact of one kind about a job."""
    newest = _read(c, _matching(job, None, (kind.kind,)).order_by(_facts.c.seq.desc()).limit(1), 0)
    return next((recorded.fact for recorded in newest if isinstance(recorded.fact, kind)), None)


def last_seq(c: Connection) -> int:
    """The newest `seq`; 0 when nothing was recorded."""
    return int(c.execute(_LAST).scalar_one())


def _matching(job: JobId | None, project: str | None, kinds: Collection[str] | None) -> Select[Any]:
    statement = _SINCE
    if job is not None:
        statement = statement.where(_facts.c.job == job)
    if project is not None:
        statement = statement.where(_facts.c.project == project)
    if kinds is not None:
        statement = statement.where(_facts.c.kind.in_(kinds))
    return statement


def _read(c: Connection, statement: Select[Any], after: int) -> list[Recorded]:
    rows = c.execute(statement, {"after": after})
    return [Recorded(seq, _adapter(kind).validate_json(content)) for seq, kind, content in rows]


def _row(fact: Fact) -> dict[str, Any]:
    return {
        "kind": fact.kind,
        "at": fact.at,
        "by": fact.by,
        "job": getattr(fact, "job", None),
        "of_job": getattr(fact, "job", None),
        "of_project": _project(fact),
        "content": as_json(fact),
    }


def _project(fact: Fact) -> str | None:
    service: str = getattr(fact, "service", "")
    named: str | None = getattr(fact, "project", None)
    return named if named is not None or "/" not in service else service.partition("/")[0]


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(KINDS[kind])
