"""An attempt has moved: note its newest step, its job's, and what follows from it, whoever told it.

A step that is not new changes nothing, so that late and repeated words of agents do no harm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.events import ProgressSeen
from headway.server.operations.jobs.bills import after_progress
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs

PROGRESS_FACT_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Progress:
    """The newest step and when it was reached. `steps`: every step told with it, for what a failure has cost."""

    at: datetime
    step: int
    total: int | None
    loss: float | None
    steps: Sequence[tuple[datetime, int]]


def advance(platform: Platform, c: Connection, attempt: Attempt, by: str, told: Progress) -> None:
    """Record progress of an attempt, told by an agent or read from its output."""
    if attempt.step is not None and told.step <= attempt.step:
        return
    attempts.set_progress(c, attempt.id, told.step, told.at)
    _advance_job(c, attempt, told)
    after_progress(c, attempt, told.steps)
    if _is_worth_a_fact(platform, attempt, told):
        seen = ProgressSeen(
            at=told.at,
            by=by,
            job=attempt.job,
            attempt=attempt.id,
            step=told.step,
            total=told.total,
            loss=told.loss,
        )
        facts.append(c, seen)


def _advance_job(c: Connection, attempt: Attempt, told: Progress) -> None:
    """A job stands where its newest attempt stands: late words of an older one do not move it."""
    job = jobs.get(c, attempt.job)
    if job is not None and job.attempts == attempt.number:
        jobs.set_progress(c, job.id, told.step, told.total)


def _is_worth_a_fact(platform: Platform, attempt: Attempt, told: Progress) -> bool:
    """The first step, the last, and one every few seconds; every step is in the readings."""
    last: datetime | None = platform.progress_facts.get(attempt.id)
    if attempt.step is not None and told.step != told.total and last and told.at - last < PROGRESS_FACT_EVERY:
        return False
    platform.progress_facts[attempt.id] = told.at
    return True
