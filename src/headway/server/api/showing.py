"""Put a job beside what is known of it: its attempt, its rate, why it waits, the verdict in words."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Depends
from sqlalchemy import Connection

from headway.diagnosis.describe import describe, describe_hang, next_step, title
from headway.diagnosis.progress import Sample, rate
from headway.domain.attempt import Attempt
from headway.domain.errors import Language, Param, PlatformError, message, retold, spoken
from headway.domain.events import AttemptWaited
from headway.domain.hold_events import JobHeld
from headway.domain.ids import AttemptId
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.domain.stall_events import Moving, Stalled, StallExplained
from headway.metering.ledger import SECOND, whole
from headway.registry.losses import Losses
from headway.scheduler import explain
from headway.scheduler.order import place_sentence
from headway.scheduler.plan import Forecast, Waits
from headway.server.api.views import (
    AttemptView,
    BillView,
    IntervalView,
    JobHeldView,
    JobView,
    LossView,
    StallView,
    WaitView,
)
from headway.server.operations.jobs.losses import Recovery
from headway.server.operations.nodes.retesting import in_the_way
from headway.server.platform import Platform
from headway.server.problems import language_of
from headway.store import agents, attempts, facts, plans, verdicts

LanguageHere = Annotated[Language, Depends(language_of)]
RECENT = timedelta(minutes=5)
POINTS = 2000
RETEST = "retest"


@dataclass(frozen=True, slots=True)
class Movement:
    """How an attempt moves now. None: unknown."""

    loss: float | None = None
    rate: float | None = None
    left_s: float | None = None
    at: datetime | None = None


Posted = Mapping[AttemptId, int]
"""Device-seconds of the attempts that the ledger has."""


def show_job(platform: Platform, c: Connection, job: Job, posted: Posted, language: Language) -> JobView:
    """A job with what it took, its newest attempt, its movement, its wait and the last verdict."""
    tries = attempts.of_job(c, job.id) if job.attempts else []
    attempt = tries[-1] if tries else None
    verdict = next((v for v in (verdicts.get(c, a.id) for a in reversed(tries)) if v is not None), None)
    moves = movement(platform, attempt, job) if attempt is not None and job.step is not None else Movement()
    told = platform.printed.telling(attempt.id) if attempt is not None else None
    return JobView(
        job=job,
        devices=job.spec.request.devices,
        device_seconds=sum(posted[a.id] if a.id in posted else _taken(c, a, platform.clock.now()) for a in tries),
        attempt=attempt,
        loss=moves.loss,
        rate=moves.rate,
        left_s=moves.left_s if moves.left_s is not None or told is None else told.left_s,
        last_progress_at=moves.at,
        reader=told.reader if told is not None else None,
        phase=told.phase if told is not None else None,
        waits=_waits(c, job, language) if job.state == JobState.QUEUED else None,
        verdict=verdict,
        verdict_text=describe(verdict, language) if verdict else None,
        next_step=next_step(verdict, language) if verdict else None,
        held=_held(c, job, language) if job.state == JobState.HELD else None,
        stall=_stall(c, attempt, language) if attempt is not None and job.state == JobState.RUNNING else None,
    )


def _taken(c: Connection, attempt: Attempt, now: datetime) -> int:
    """Device-seconds of an attempt that is not posted yet; its wait in a batch system's own queue is no use."""
    waited = facts.last(c, attempt.job, AttemptWaited)
    taken = waited.until if waited is not None and waited.attempt == attempt.id else attempt.placed_at
    held = whole(attempt.ended_at or now) - whole(max(attempt.placed_at, taken))
    return attempt.devices * max(0, held // SECOND)


def _stall(c: Connection, attempt: Attempt, language: Language) -> StallView | None:
    """Since when the attempt stands still, if it does, and what it waits for."""
    stalled = facts.last(c, attempt.job, Stalled)
    if stalled is None or stalled.attempt != attempt.id:
        return None
    moving = facts.last(c, attempt.job, Moving)
    if moving is not None and moving.at >= stalled.at:
        return None
    found = facts.last(c, attempt.job, StallExplained)
    if found is None or found.at < stalled.at:
        return StallView(stalled.since, None, None, None, None, None)
    text = describe_hang(found.cause, found.rank, found.node, language)
    return StallView(stalled.since, text, found.cause, found.rank, found.node, retold(found.detail, language))


def show_attempt(c: Connection, attempt: Attempt, language: Language) -> AttemptView:
    """An attempt with its exits, its verdict in words, and the cards it really had."""
    verdict = verdicts.get(c, attempt.id)
    words = describe(verdict, language) if verdict else None
    told = {report.node: report.given.get("cards") for report in agents.of_attempt(c, attempt.id)}
    cards = {node: found for node, found in told.items() if found}
    return AttemptView(attempt, agents.exits(c, attempt.id), verdict, words, cards)


def show_wait(waits: Waits, forecast: Forecast | None, language: Language) -> WaitView:
    """Why a job waits, in numbers and words."""
    return WaitView(
        position=waits.position,
        ahead=list(waits.ahead),
        reason=waits.reason.code,
        numbers=explain.params(waits.reason),
        sentence=explain.sentence(waits.reason, language),
        advice=explain.advice(waits.reason, language),
        reserved_at=waits.reserved_at,
        forecast=forecast,
        ahead_count=max(waits.ahead_count, len(waits.ahead)),
        place=waits.place,
        order=place_sentence(waits.place, language) if waits.place else None,
    )


def show_bill(recovery: Recovery) -> BillView:
    """A bill with its derived figures."""
    bill = recovery.bill
    return BillView(
        bill,
        bill.lost_steps,
        bill.kill_to_first_step_s,
        recovery.phases,
        recovery.passing,
        recovery.way,
        recovery.choice,
    )


def show_losses(summed: Losses) -> LossView:
    """A job's losses, the interval in use marked."""
    intervals = [
        IntervalView(**asdict(cost), device_seconds=cost.device_seconds, in_use=cost.every_steps == summed.every_steps)
        for cost in summed.intervals
    ]
    return LossView(
        failures=summed.failures,
        lost_steps=summed.lost_steps,
        device_seconds=summed.device_seconds,
        outage_s=summed.outage_s,
        unfinished=summed.unfinished,
        save_s=summed.save_s,
        intervals=intervals,
    )


def movement(platform: Platform, attempt: Attempt, job: Job) -> Movement:
    """Rate and time left from the newest samples of the furthest rank."""
    newest = platform.readings.latest(attempt.id)
    steps = [reading for reading in newest if reading.name == "step"]
    if not steps:
        return Movement()
    lead = max(steps, key=lambda reading: reading.value)
    since = lead.at - RECENT
    recent = platform.readings.series(attempt.id, "step", node=lead.node, rank=lead.rank, since=since, points=POINTS)
    samples = [Sample(point.at, int(point.maximum)) for series in recent for point in series.points]
    pace = rate(samples, job.total)
    losses = [reading.value for reading in newest if reading.name == "loss" and reading.rank == lead.rank]
    left = pace.left.total_seconds() if pace.left is not None else None
    return Movement(losses[0] if losses else None, pace.steps_per_s, left, lead.at)


def _held(c: Connection, job: Job, language: Language) -> JobHeldView | None:
    held = facts.last(c, job.id, JobHeld)
    if held is None:
        return None
    cause = title(held.cause, language) if held.cause is not None else spoken("fault", held.fault, language)
    params: dict[str, Param] = {"job": job.id, "cause": cause, "node": held.node}
    sentence = message("held" if held.node is None else "held-on-node", params, language)
    return JobHeldView(held.at, job.reason or held.fault, held.fault, held.cause, held.owner, held.node, sentence)


def _waits(c: Connection, job: Job, language: Language) -> WaitView | None:
    if pinned := job.spec.conditions.pinned:
        return _waits_for_nodes(c, pinned, language)
    waits = plans.waits(c, job.id)
    return None if waits is None else show_wait(waits, plans.forecast(c, job.id), language)


def _waits_for_nodes(c: Connection, pinned: Sequence[str], language: Language) -> WaitView:
    """A retest has its nodes to itself, closed to all others: no plan orders it, it waits for what is still there."""
    way = in_the_way(c, pinned, attempts.live(c))
    numbers: dict[str, Param] = {
        "nodes": ", ".join(pinned),
        "jobs": ", ".join(way.jobs) or "—",
        "occupied": ", ".join(way.occupied) or "—",
        "away": ", ".join(way.away) or "—",
    }
    told = PlatformError(f"waits-{RETEST}", **numbers)
    return WaitView(
        position=1,
        ahead=list(way.jobs),
        reason=RETEST,
        numbers=numbers,
        sentence=told.text(language),
        advice=told.hint(language),
        reserved_at=None,
        forecast=None,
        ahead_count=len(way.jobs),
        place=None,
        order=None,
    )
