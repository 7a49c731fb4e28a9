"""What is advised on how often a job saves: read from the pool's record and the job's saves, decided by `registry`.

A failure counts where a training moved and was then lost: what breaks before its first step loses no progress, and what
is taken or stopped saves in its grace.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import STALLED, Attempt, Outcome
from headway.domain.cadence_events import CadenceAdvised
from headway.domain.checkpoint import Checkpoint
from headway.domain.ids import JobId
from headway.domain.job import CheckpointPolicy, Job
from headway.registry.cadence import Advice, Bounds, Cost, Saved, advise, cost_of
from headway.registry.failure_rate import Belief, Record, learn
from headway.store import attempts, checkpoints, facts

LOOK_BACK = timedelta(days=90)
DAY = timedelta(days=1)
MODES = ("steps", "minutes", "advised", "program")


@dataclass(frozen=True, slots=True)
class Pool:
    """Devices of one type under one engine."""

    engine: str
    device_type: str


def pool_of(attempt: Attempt) -> Pool:
    """Where an attempt runs."""
    return Pool(attempt.engine, attempt.device_type)


@dataclass(frozen=True, slots=True)
class Tried:
    """What of an attempt an advice learns from; `ended_at` None: it ran when the record was read."""

    job: JobId
    pool: Pool
    nodes: int
    started_at: datetime
    ended_at: datetime | None
    failed: bool


def past_of(c: Connection, now: datetime) -> list[Tried]:
    """The record an advice learns from; reading it takes every attempt of `LOOK_BACK`."""
    return [
        Tried(each.job, pool_of(each), len(each.placements), each.started_at, each.ended_at, _lost_progress(each))
        for each in attempts.since(c, now - LOOK_BACK)
        if each.started_at is not None
    ]


def belief_of(past: Iterable[Tried], pool: Pool, nodes: int, job: JobId | None, now: datetime) -> Belief:
    """How often a job on so many nodes of a pool fails: the pool's record, that of jobs of its size, its own."""
    wide: list[Tried] = []
    alike: list[Tried] = []
    own: list[Tried] = []
    for tried in past:
        if tried.job == job:
            own.append(tried)
        elif tried.pool == pool:
            same = size_class(tried.nodes) == size_class(nodes)
            (alike if same else wide).append(tried)
    return learn([_record(each, now) for each in (wide, alike, own)])


@dataclass(frozen=True, slots=True)
class Standing:
    """A job's newest attempt, its saves, and the interval in time it saves at now (None: in steps, or none yet)."""

    job: Job
    attempt: Attempt
    saved: Sequence[Checkpoint]
    present: timedelta | None


def standing(c: Connection, job: Job, attempt: Attempt) -> Standing:
    """All of a job that an advice depends on."""
    return Standing(job, attempt, checkpoints.of_job(c, job.id), present_of(c, job))


def advice_for(here: Standing, past: Sequence[Tried], now: datetime) -> Advice:
    """What a job is advised that runs, or ran last."""
    nodes = len(here.attempt.placements)
    belief = belief_of(past, pool_of(here.attempt), nodes, here.job.id, now)
    return advise(belief, nodes, measured(here.saved), bounds_of(here.job.spec.checkpoint), here.present)


def present_of(c: Connection, job: Job) -> timedelta | None:
    """The interval in time that a job saves at now; None: in steps, at none, or not advised yet."""
    if not job.spec.checkpoint.advised:
        return job.spec.checkpoint.every
    told = facts.last(c, job.id, CadenceAdvised)
    return None if told is None else timedelta(seconds=told.every_s)


def first_interval(c: Connection, job: Job, attempt: Attempt, now: datetime) -> timedelta | None:
    """How often an attempt that is about to start is to save; None: its policy is not in time."""
    if not job.spec.checkpoint.advised:
        return job.spec.checkpoint.every
    return advice_for(standing(c, job, attempt), past_of(c, now), now).interval


def mode_of(job: Job) -> str:
    """How a job is told when to save, one of `MODES`."""
    policy = job.spec.checkpoint
    if policy.every_steps is not None:
        return "steps"
    return "advised" if policy.advised else "minutes" if policy.every is not None else "program"


def bounds_of(policy: CheckpointPolicy) -> Bounds:
    """Between what an advice must stay."""
    return Bounds(policy.shortest, policy.longest)


def measured(saved: Sequence[Checkpoint]) -> Cost:
    """What a job's saves cost; an attempt's first is set apart, one whose length nobody told is left out."""
    told = sorted((each for each in saved if each.seconds > 0), key=lambda each: each.saved_at)
    firsts = {each.attempt: each.path for each in reversed(told)}
    return cost_of(
        [
            Saved(
                timedelta(seconds=each.seconds if each.blocked is None else each.blocked),
                timedelta(seconds=each.seconds),
                first=firsts[each.attempt] == each.path,
            )
            for each in told
        ]
    )


def size_class(nodes: int) -> int:
    """Jobs of the same power of two of nodes are alike."""
    return nodes.bit_length()


def _record(tries: Iterable[Tried], now: datetime) -> Record:
    failures, node_days = 0, 0.0
    for tried in tries:
        lasted = (tried.ended_at or now) - tried.started_at
        node_days += max(timedelta(0), lasted) / DAY * tried.nodes
        failures += tried.failed
    return Record(failures, node_days)


def _lost_progress(attempt: Attempt) -> bool:
    broke = attempt.outcome in (Outcome.FAILED, Outcome.LOST) or attempt.stop_reason == STALLED
    return broke and (attempt.step or 0) > attempt.resume_step
