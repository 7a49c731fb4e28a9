"""Drills: orders to break a job on purpose, kept until the agent says that it was done, and how each came out."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from headway.domain.drill import Drill, Kill, Score
from headway.domain.ids import AttemptId, JobId
from headway.store import schema
from headway.store.shape import Shape

_drills, _jobs = schema.drills, schema.jobs
_SHAPE = Shape(Drill, _drills)
_ORDER = insert(_drills)
# An agent that kills itself cannot say so, and storage is done only at the next save: they are told once.
_UNTOLD = or_(_drills.c.kill.in_((Kill.RANK, Kill.STOP)), _drills.c.sent_at.is_(None))
_PENDING = (
    _SHAPE.select()
    .where(_drills.c.attempt == bindparam("attempt"), _drills.c.done_at.is_(None), _UNTOLD)
    .where(or_(_drills.c.at_step.is_(None), _drills.c.at_step <= bindparam("step")))
    .order_by(_drills.c.at, _drills.c.id)
)
_OF_JOB = _SHAPE.select().where(_drills.c.job == bindparam("job")).order_by(_drills.c.at, _drills.c.id)
_OPEN = _SHAPE.select().where(_drills.c.over_at.is_(None)).order_by(_drills.c.at, _drills.c.id)
_MINE = _drills.c.id == bindparam("of")
_DONE = update(_drills).where(_MINE, _drills.c.done_at.is_(None))
_SENT = update(_drills).where(_MINE, _drills.c.sent_at.is_(None))
_SET = update(_drills).where(_MINE)
_LAST = (
    select(_jobs.c.project, _jobs.c.template, func.max(_drills.c.over_at))
    .join(_jobs, _jobs.c.id == _drills.c.job)
    .where(_drills.c.sent_at.is_not(None))
    .group_by(_jobs.c.project, _jobs.c.template)
)
_FIRST = select(_jobs.c.project, _jobs.c.template, func.min(_jobs.c.submitted_at)).group_by(
    _jobs.c.project, _jobs.c.template
)

Trained = tuple[str, str]
"""A project and a template, without its version."""


def order(c: Connection, drill: Drill) -> None:
    """Keep an order until it is done."""
    c.execute(_ORDER, _SHAPE.row(drill))


def pending(c: Connection, attempt: AttemptId, step: int | None) -> list[Drill]:
    """An attempt's orders that are due at this step and not known to be done, oldest first."""
    return _SHAPE.all(c, _PENDING, {"attempt": attempt, "step": step or 0})


def bind(c: Connection, drill_id: str, attempt: AttemptId) -> None:
    """The copy runs: this attempt of it is to be broken."""
    c.execute(_SET.values(attempt=attempt), {"of": drill_id})


def sent(c: Connection, drill_id: str, at: datetime) -> None:
    """Note that an agent was told; the first time stands."""
    c.execute(_SENT.values(sent_at=at), {"of": drill_id})


def done(c: Connection, drill_id: str, at: datetime) -> None:
    """Note that the agent carried an order out; the first time stands."""
    c.execute(_DONE.values(done_at=at), {"of": drill_id})


def judged(c: Connection, drill_id: str, verdict_right: bool) -> None:
    """Note whether the verdict, reached without knowing of it, was right."""
    c.execute(_SET.values(verdict_right=verdict_right), {"of": drill_id})


def over(c: Connection, drill_id: str, score: Score, at: datetime) -> None:
    """Keep how it came out."""
    c.execute(_SET.values(score=score, over_at=at), {"of": drill_id})


def of_job(c: Connection, job: JobId) -> list[Drill]:
    """Every drill of a job, oldest first."""
    return _SHAPE.all(c, _OF_JOB, {"job": job})


def struck(c: Connection, attempt: AttemptId, job: JobId) -> list[Drill]:
    """Drills that have struck an attempt, oldest first."""
    return [drill for drill in of_job(c, job) if drill.attempt == attempt and drill.has_struck]


def still_open(c: Connection) -> list[Drill]:
    """Every drill that is not scored, oldest first."""
    return _SHAPE.all(c, _OPEN)


def history(c: Connection, projects: frozenset[str] | None) -> list[Drill]:
    """Every drill of these projects (None: of all), newest first."""
    statement = _SHAPE.select().join(_jobs, _jobs.c.id == _drills.c.job)
    if projects is not None:
        statement = statement.where(_jobs.c.project.in_(projects))
    return _SHAPE.all(c, statement.order_by(_drills.c.at.desc(), _drills.c.id))


def last_by_template(c: Connection) -> dict[Trained, datetime]:
    """When each project's template was drilled last; where it never was, when it was first submitted."""
    found: dict[Trained, datetime] = {}
    for project, template, at in c.execute(_FIRST):
        key = (project, template.partition("@")[0])
        found[key] = min(at, found.get(key, at))
    last: dict[Trained, datetime] = {}
    for project, template, at in c.execute(_LAST):
        if at is not None:
            key = (project, template.partition("@")[0])
            last[key] = max(at, last.get(key, at))
    return found | {key: at for key, at in last.items() if key in found}
