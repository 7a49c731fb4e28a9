"""Reads from the facts when devices were taken and when jobs waited. Charges nothing, judges nothing.

An interval runs from `AttemptPlaced`, or from the end of the wait in a batch system's own queue (`AttemptWaited`), to
`AttemptEnded`, whatever happens between. A wait runs from the submission, or
from a decision to resume through the queue, to the next placement or the job's end.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from headway.domain.events import AttemptEnded, AttemptPlaced, AttemptWaited, Fact, JobEnded, JobSubmitted
from headway.domain.ids import AttemptId, JobId
from headway.domain.recovery_events import RecoveryDecided
from headway.metering.entries import Interval


@dataclass(frozen=True, slots=True)
class Wait:
    """A job in the queue from `start` to `end` (None: still waiting), when it had devices (`started`) or was over."""

    job: JobId
    project: str
    start: datetime
    end: datetime | None = None
    started: bool = False


def intervals(facts: Iterable[Fact]) -> list[Interval]:
    """Every interval in which an attempt had devices, by its start. The same fact twice counts once, in any order."""
    placed: dict[AttemptId, AttemptPlaced] = {}
    taken: dict[AttemptId, datetime] = {}
    ended: dict[AttemptId, datetime] = {}
    for fact in facts:
        if isinstance(fact, AttemptPlaced):
            placed.setdefault(fact.attempt, fact)
        elif isinstance(fact, AttemptWaited):
            taken[fact.attempt] = max(fact.until, taken.get(fact.attempt, fact.until))
        elif isinstance(fact, AttemptEnded):
            ended.setdefault(fact.attempt, fact.at)
    found = [_interval(fact, taken.get(attempt, fact.at), ended.get(attempt)) for attempt, fact in placed.items()]
    return sorted(found, key=lambda interval: (interval.start, interval.attempt))


def _interval(placed: AttemptPlaced, taken: datetime, end: datetime | None) -> Interval:
    start = max(placed.at, taken if end is None else min(taken, end))
    return Interval(
        job=placed.job,
        attempt=placed.attempt,
        project=placed.project,
        device_type=placed.device_type,
        devices=sum(len(placement.devices) for placement in placed.placements),
        basis=placed.basis,
        start=start,
        end=None if end is None else max(end, start),
        grant=placed.grant,
    )


def waits(facts: Iterable[Fact]) -> list[Wait]:
    """Every wait, by its start. `facts` in the order they were recorded; a job without its submission is left out."""
    projects: dict[JobId, str] = {}
    waiting: dict[JobId, Wait] = {}
    over: list[Wait] = []
    for fact in facts:
        if isinstance(fact, JobSubmitted):
            projects[fact.job] = fact.project
        if isinstance(fact, JobSubmitted) or (isinstance(fact, RecoveryDecided) and fact.resume and not fact.in_place):
            if fact.job in projects:
                waiting.setdefault(fact.job, Wait(fact.job, projects[fact.job], fact.at))
        elif isinstance(fact, (AttemptPlaced, JobEnded)) and fact.job in waiting:
            wait = waiting.pop(fact.job)
            over.append(replace(wait, end=max(fact.at, wait.start), started=isinstance(fact, AttemptPlaced)))
    return sorted([*over, *waiting.values()], key=lambda wait: (wait.start, wait.job))
