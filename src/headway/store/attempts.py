"""Attempts as they stand: where they run, how far they are, how to find them again, and whether to stop."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sql
from sqlalchemy import Connection, bindparam, func, select, update

from headway.domain.attempt import Attempt, Outcome
from headway.domain.ids import AttemptId, JobId
from headway.domain.lifecycle import AttemptState, check_attempt_move
from headway.store import schema, world
from headway.store.shape import Shape, found

_attempts = schema.attempts
SHAPE = Shape(Attempt, _attempts)

_INSERT = sql.insert(_attempts)
_GET = SHAPE.select().where(_attempts.c.id == bindparam("id"))
_OF_JOB = SHAPE.select().where(_attempts.c.job == bindparam("job")).order_by(_attempts.c.number)
_LIVE = SHAPE.select().where(_attempts.c.state != AttemptState.ENDED).order_by(_attempts.c.placed_at, _attempts.c.id)
_SINCE = (
    SHAPE.select()
    .where((_attempts.c.ended_at.is_(None)) | (_attempts.c.ended_at > bindparam("since")))
    .order_by(_attempts.c.placed_at, _attempts.c.id)
)
_BROKEN = SHAPE.select().where(_attempts.c.outcome != Outcome.SUCCEEDED, _attempts.c.ended_at > bindparam("since"))
_MOVED = select(_attempts.c.id, func.coalesce(_attempts.c.step_at, _attempts.c.started_at)).where(
    _attempts.c.state == AttemptState.RUNNING, _attempts.c.started_at.is_not(None)
)
_BY_TOKEN = SHAPE.select().where(_attempts.c.token_digest == bindparam("digest"))
_MINE = update(_attempts).where(_attempts.c.id == bindparam("of"))
_MOVE = _MINE.values(
    state=bindparam("after"),
    started_at=bindparam("start"),
    ended_at=bindparam("end"),
    outcome=bindparam("how"),
    stop_reason=bindparam("why"),
)
_RESUME = _MINE.values(resume_from=bindparam("path"), resume_step=bindparam("at_step"))
_PROGRESS = _MINE.values(step=bindparam("at_step"), step_at=bindparam("seen_at"))
_SET_HANDLE = _MINE.values(handle=bindparam("found_by"))
_WAIT = _MINE.values(waiting=bindparam("why")).where(_attempts.c.waiting.is_distinct_from(bindparam("why")))
_HANDLE = select(_attempts.c.handle).where(_attempts.c.id == bindparam("id"))
_ASK = _MINE.values(
    stop_reason=func.coalesce(_attempts.c.stop_reason, bindparam("why")),
    stop_grace=bindparam("grace"),
    stop_asked_at=bindparam("asked_at"),
).where(_attempts.c.stop_asked_at.is_(None))
_ASKED = select(_attempts.c.stop_reason, _attempts.c.stop_grace, _attempts.c.stop_asked_at).where(
    _attempts.c.id == bindparam("id"), _attempts.c.stop_asked_at.is_not(None)
)


@dataclass(frozen=True, slots=True)
class StopRequest:
    """That an attempt should stop, why, and how long it may take from `at` on."""

    reason: str
    grace: timedelta
    at: datetime


def insert(c: Connection, attempt: Attempt, token_digest: str) -> None:
    """Keep a new attempt and the digest of its token; its devices are taken from now on."""
    c.execute(_INSERT, SHAPE.row(attempt, token_digest=token_digest))
    world.bump(c)


def get(c: Connection, id: AttemptId) -> Attempt | None:
    """The attempt of this id."""
    return SHAPE.one(c, _GET, {"id": id})


def of_job(c: Connection, job: JobId) -> list[Attempt]:
    """A job's attempts, first to last."""
    return SHAPE.all(c, _OF_JOB, {"job": job})


def live(c: Connection) -> list[Attempt]:
    """Every attempt that has not ended, by the time it was placed."""
    return SHAPE.all(c, _LIVE)


def since(c: Connection, moment: datetime) -> list[Attempt]:
    """Every attempt that had devices after a moment, by the time it was placed."""
    return SHAPE.all(c, _SINCE, {"since": moment})


def broken_since(c: Connection, moment: datetime) -> list[Attempt]:
    """Every attempt that has ended after a moment, and not well."""
    return SHAPE.all(c, _BROKEN, {"since": moment})


def moved_at(c: Connection) -> dict[AttemptId, datetime]:
    """When each running attempt made its last step, or started."""
    return {id: at for id, at in c.execute(_MOVED)}


def by_token(c: Connection, digest: str) -> Attempt | None:
    """The attempt that a token belongs to, ended or not."""
    return SHAPE.one(c, _BY_TOKEN, {"digest": digest})


def move(
    c: Connection,
    id: AttemptId,
    after: AttemptState,
    *,
    at: datetime,
    outcome: Outcome | None = None,
    stop_reason: str | None = None,
) -> Attempt:
    """Move an attempt to a state; in it already: nothing changes. `outcome` belongs to the end.

    Raises `illegal-move` unless the lifecycle allows it from the present state, `not-found`.
    """
    before = found(get(c, id), "attempt", id)
    if before.state is after:
        return before
    check_attempt_move(before.state, after)
    moved = replace(
        before,
        state=after,
        started_at=before.started_at or (at if after is AttemptState.RUNNING else None),
        ended_at=at if after is AttemptState.ENDED else None,
        outcome=outcome or before.outcome,
        stop_reason=stop_reason or before.stop_reason,
    )
    how = {"start": moved.started_at, "end": moved.ended_at, "how": moved.outcome, "why": moved.stop_reason}
    c.execute(_MOVE, {"of": id, "after": after} | how)
    if after is AttemptState.ENDED:
        world.bump(c)
    return moved


def set_resume(c: Connection, id: AttemptId, path: str | None, step: int) -> None:
    """Note the checkpoint it starts from; None and 0: from the beginning."""
    c.execute(_RESUME, {"of": id, "path": path, "at_step": step})


def set_progress(c: Connection, id: AttemptId, step: int, at: datetime | None = None) -> None:
    """Note the newest step and, if known, when it was reached: the rate that predicts the end is taken there."""
    c.execute(_PROGRESS, {"of": id, "at_step": step, "seen_at": at})


def set_handle(c: Connection, id: AttemptId, handle: dict[str, Any]) -> None:
    """Note how the engine finds the attempt again."""
    c.execute(_SET_HANDLE, {"of": id, "found_by": handle})


def handle(c: Connection, id: AttemptId) -> dict[str, Any] | None:
    """How the engine finds the attempt again; None before it was launched."""
    known: dict[str, Any] | None = c.execute(_HANDLE, {"id": id}).scalar()
    return known


def set_waiting(c: Connection, id: AttemptId, reason: str | None) -> None:
    """Note why its engine's own queue has not started it; None: it has."""
    c.execute(_WAIT, {"of": id, "why": reason})


def request_stop(c: Connection, id: AttemptId, reason: str, grace: timedelta, at: datetime) -> None:
    """Ask an attempt to stop; the first request stands."""
    c.execute(_ASK, {"of": id, "why": reason, "grace": grace, "asked_at": at})


def stop_request(c: Connection, id: AttemptId) -> StopRequest | None:
    """The request to stop, if there is one."""
    row = c.execute(_ASKED, {"id": id}).first()
    return None if row is None else StopRequest(*row)
