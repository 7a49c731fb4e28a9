"""What a batch system says of attempts that live: they wait in its queue, for too long even, or it will soon end them.

The wish to stop that follows is the engine's, not the user's: the job goes on with another attempt.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from headway.domain.attempt import LATE, TAKEN, TIME_LIMIT, Attempt
from headway.domain.events import StopRequested
from headway.domain.ids import AttemptId
from headway.domain.lifecycle import AttemptState
from headway.engines.protocol import Notice, Observation, Sight
from headway.store import attempts, facts

log = structlog.get_logger("headway.observe")
# What the last checkpoint must be behind by, and the least that a program gets.
MARGIN = timedelta(seconds=10)
LEAST = timedelta(seconds=5)


def heed(c: Connection, seen: Sequence[Observation], notices: Sequence[Notice], now: datetime) -> None:
    """Note why attempts wait, and ask those to stop that wait too long or will be ended. Writes only what is new."""
    live = {attempt.id: attempt for attempt in attempts.live(c)}
    for id, waiting in waits(seen).items():
        if id in live and live[id].waiting != waiting:
            attempts.set_waiting(c, id, waiting)
    for id in {observation.attempt for observation in seen if observation.late}:
        if id in live and live[id].state == AttemptState.LAUNCHED:
            _ask(c, live[id], LATE, timedelta(0), now)
    for notice in notices:
        if notice.attempt in live:
            reason = TIME_LIMIT if notice.reason == "time-limit" else TAKEN
            _ask(c, live[notice.attempt], reason, max(LEAST, notice.deadline - now - MARGIN), now)


def has_news(c: Connection, seen: Sequence[Observation], notices: Sequence[Notice]) -> bool:
    """Whether `heed` would write anything."""
    live = {attempt.id: attempt for attempt in attempts.live(c)}
    unlike = any(id in live and live[id].waiting != waiting for id, waiting in waits(seen).items())
    due = {observation.attempt for observation in seen if observation.late} | {notice.attempt for notice in notices}
    return unlike or any(id in live and live[id].stop_reason is None for id in due)


def waits(seen: Sequence[Observation]) -> dict[AttemptId, str | None]:
    """Why each attempt that is there waits; None: it does not any more. What ended while it waited is left out."""
    found: dict[AttemptId, str | None] = {}
    for observation in seen:
        if observation.sight is not Sight.RUNNING:
            continue
        found[observation.attempt] = found.get(observation.attempt) or observation.waiting
    return found


def _ask(c: Connection, attempt: Attempt, reason: str, grace: timedelta, now: datetime) -> None:
    if attempt.stop_reason is not None:
        return
    log.info("its engine ends it", attempt=attempt.id, reason=reason, grace=str(grace), waiting=attempt.waiting)
    attempts.request_stop(c, attempt.id, reason, grace, now)
    facts.append(c, StopRequested(at=now, by=f"engine:{attempt.engine}", job=attempt.job, reason=reason))
