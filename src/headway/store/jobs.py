"""Jobs as they stand. Moves are checked against the lifecycle table here and nowhere else."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any

import sqlalchemy as sql
from sqlalchemy import Connection, Select, bindparam, func, literal, or_, select, tuple_, update

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Job
from headway.domain.lifecycle import JobState, check_job_move
from headway.store import schema, world
from headway.store.columns import Moment
from headway.store.shape import Shape, found

_jobs = schema.jobs
SHAPE = Shape(Job, _jobs)
NAMES_COMPARED = 1000
NEAR = 5

_INSERT = sql.insert(_jobs)
_GET = SHAPE.select().where(_jobs.c.id == bindparam("id"))
_IN_STATES = (
    SHAPE.select()
    .where(_jobs.c.state.in_(bindparam("states", expanding=True)))
    .order_by(_jobs.c.submitted_at, _jobs.c.id)
)
_MINE = update(_jobs).where(_jobs.c.id == bindparam("of"))
_MOVE = _MINE.values(state=bindparam("after"), reason=bindparam("why"), ended_at=bindparam("end"))
_PROGRESS = _MINE.values(step=bindparam("at_step"), total=func.coalesce(bindparam("of_total"), _jobs.c.total))
_TAKEN = _MINE.values(preemptions=_jobs.c.preemptions + 1)
_SET_REASON = _MINE.values(reason=bindparam("why"))
_SET_FAILURES = _MINE.values(failures=bindparam("count"))
_AVOID = _MINE.values(avoids=bindparam("nodes"))
_TRIED = _MINE.values(attempts=_jobs.c.attempts + 1).returning(_jobs.c.attempts)


def insert(c: Connection, job: Job) -> None:
    """Keep a new job."""
    spec = job.spec
    c.execute(_INSERT, SHAPE.row(job, name=spec.name, project=spec.project, template=spec.template))
    world.bump(c)


def get(c: Connection, id: JobId) -> Job | None:
    """The job of this id."""
    return SHAPE.one(c, _GET, {"id": id})


def find(c: Connection, text: str, *, project: str | Collection[str] | None = None, what: str = "job") -> Job:
    """The job meant by a full id, a unique beginning of one, or a name (the newest of it).

    Raises `not-found` with near spellings, or `ambiguous`. `what` is the noun in the message.
    """
    ids = list(c.execute(_within(select(_jobs.c.id), project).where(_jobs.c.id == text)).scalars())
    if not ids:
        beginning = func.substr(_jobs.c.id, 1, len(text)) == text
        newest = _within(select(_jobs.c.id), project).order_by(_jobs.c.submitted_at.desc(), _jobs.c.id.desc())
        ids = list(c.execute(newest.where(beginning).limit(NEAR)).scalars()) if text else []
        if len(ids) != 1:
            named = c.execute(newest.where(_jobs.c.name == text).limit(1)).scalars()
            ids = list(named) or ids
    if len(ids) > 1:
        raise PlatformError("ambiguous", what=what, value=text, near=", ".join(ids))
    if not ids:
        raise PlatformError("not-found", what=what, value=text, near=_near(c, text, project))
    return found(get(c, JobId(ids[0])), what, text)


def page(  # noqa: PLR0913
    c: Connection,
    *,
    project: str | Collection[str] | None = None,
    states: Collection[JobState] | None = None,
    owner: str | None = None,
    text: str | None = None,
    before: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> list[Job]:
    """The newest jobs first; `before` is (submitted_at, id) of the last one seen.

    `text`: what the id, the name, the owner or the project holds, in capitals or not.
    """
    statement = _within(SHAPE.select(), project).order_by(_jobs.c.submitted_at.desc(), _jobs.c.id.desc())
    if states is not None:
        statement = statement.where(_jobs.c.state.in_(states))
    if owner is not None:
        statement = statement.where(_jobs.c.owner == owner)
    if text:
        places = (_jobs.c.id, _jobs.c.name, _jobs.c.owner, _jobs.c.project)
        statement = statement.where(or_(*(place.icontains(text, autoescape=True) for place in places)))
    if before is not None:
        mark = tuple_(literal(before[0], Moment()), literal(before[1]))
        statement = statement.where(tuple_(_jobs.c.submitted_at, _jobs.c.id) < mark)
    return SHAPE.all(c, statement.limit(limit))


def in_states(c: Connection, *states: JobState) -> list[Job]:
    """Every job in one of these states, by the time of its submission."""
    return SHAPE.all(c, _IN_STATES, {"states": states})


def move(c: Connection, id: JobId, after: JobState, *, at: datetime, reason: str | None = None) -> Job:
    """Move a job to a state, with the reason why it is there; in it already: nothing changes.

    Raises `illegal-move` unless the lifecycle allows it from the present state, `not-found`.
    """
    job = found(get(c, id), "job", id)
    if job.state is after:
        return job
    check_job_move(job.state, after)
    ended_at = at if after.is_terminal else None
    c.execute(_MOVE, {"of": id, "after": after, "why": reason, "end": ended_at})
    world.bump(c)
    return replace(job, state=after, reason=reason, ended_at=ended_at)


def set_progress(c: Connection, id: JobId, step: int, total: int | None) -> None:
    """Note the newest step; a `total` of None leaves the known one."""
    c.execute(_PROGRESS, {"of": id, "at_step": step, "of_total": total})


def count_attempt(c: Connection, id: JobId) -> int:
    """One more attempt; returns its number, from 1."""
    return int(c.execute(_TRIED, {"of": id}).scalar_one())


def count_preemption(c: Connection, id: JobId) -> None:
    """It was taken for another job once more."""
    c.execute(_TAKEN, {"of": id})


def set_reason(c: Connection, id: JobId, reason: str) -> None:
    """Note another reason why it is where it is."""
    c.execute(_SET_REASON, {"of": id, "why": reason})


def _within(statement: Select[Any], project: str | Collection[str] | None) -> Select[Any]:
    if project is None:
        return statement
    return statement.where(_jobs.c.project.in_([project] if isinstance(project, str) else list(project)))


def _near(c: Connection, text: str, project: str | Collection[str] | None) -> str | None:
    names = _within(select(_jobs.c.name), project).order_by(_jobs.c.submitted_at.desc()).limit(NAMES_COMPARED)
    known = list(dict.fromkeys(c.execute(names).scalars()))
    return ", ".join(get_close_matches(text, known, NEAR) or known[:NEAR]) or None


def set_failures(c: Connection, id: JobId, failures: int) -> None:
    """Note how many attempts in a row failed without progress."""
    c.execute(_SET_FAILURES, {"of": id, "count": failures})


def avoid(c: Connection, id: JobId, nodes: Collection[str]) -> None:
    """Keep a job away from these nodes, and from those it was kept away from before."""
    known = found(get(c, id), "job", id).avoids
    if not set(nodes) <= set(known):
        c.execute(_AVOID, {"of": id, "nodes": tuple(dict.fromkeys((*known, *nodes)))})
        world.bump(c)
