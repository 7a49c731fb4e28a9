"""What a job's failures cost: its bills with their phases, and the sum with other intervals beside it. Only reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection

from headway.diagnosis.progress import Sample, rate
from headway.domain.attempt import Attempt
from headway.domain.checkpoint import LossBill
from headway.domain.events import Fact
from headway.domain.job import Job
from headway.domain.recovery_events import RecoveryDecided
from headway.metering.phases import READ, Phases, split
from headway.registry.losses import Losses, Run, sum_up, usual_interval
from headway.server.operations.jobs.cadence import measured
from headway.server.platform import Platform
from headway.store import attempts, bills, checkpoints, facts

SAMPLES = 500
IN_PLACE = "in-place"


class Passing(StrEnum):
    """Whether the job has come past the step at which it broke."""

    PASSED = "passed"
    WATCHED = "watched"
    BROKE_BEFORE = "broke-before"


@dataclass(frozen=True, slots=True)
class Choice:
    """The newest checkpoints of two writers, by their formats: the one gone on from, and the one passed over."""

    step: int
    format: str
    other_step: int
    other_format: str


@dataclass(frozen=True, slots=True)
class Recovery:
    """One failure: its bill, where the seconds went, and whether the step where it broke was passed.

    `way`: how the job went on: `in-place`, or through the queue for an `Obstacle`. `choice`: where two had written
    checkpoints, whose was taken.
    """

    bill: LossBill
    phases: Phases
    passing: Passing
    way: str | None = None
    choice: Choice | None = None


def recoveries(c: Connection, job: Job) -> list[Recovery]:
    """A job's failures, oldest first."""
    found = bills.of_job(c, job.id)
    said = facts.all(c, job=job.id, kinds=READ) if found else []
    broke = {bill.failed for bill in found}
    return [_recovery(job, bill, said, bill.resumed in broke) for bill in found]


def _recovery(job: Job, bill: LossBill, said: Sequence[Fact], broke_again: bool) -> Recovery:
    of_bill = [fact for fact in said if isinstance(fact, RecoveryDecided) and fact.attempt == bill.failed]
    decided = of_bill[-1] if of_bill else None
    way = (IN_PLACE if decided.in_place else decided.queued_for) if decided else None
    return Recovery(bill, split(bill, said), _passing(job, bill, broke_again), way, _choice(decided))


def _choice(decided: RecoveryDecided | None) -> Choice | None:
    if decided is None or not decided.resume_format or not decided.other_format or decided.other_step is None:
        return None
    return Choice(decided.resume_step, decided.resume_format, decided.other_step, decided.other_format)


def _passing(job: Job, bill: LossBill, broke_again: bool) -> Passing:
    """Nobody waits any more for a step that an attempt which is over was to pass."""
    if bill.passed_fault_step_at is not None:
        return Passing.PASSED
    return Passing.BROKE_BEFORE if broke_again or job.state.is_terminal else Passing.WATCHED


def losses(platform: Platform, c: Connection, job: Job) -> Losses:
    """All failures of a job in sum."""
    found = bills.of_job(c, job.id)
    saved = checkpoints.of_job(c, job.id)
    tries = {attempt.id: attempt for attempt in attempts.of_job(c, job.id)}
    runs = [run for bill in found if (run := _run(platform, tries[bill.failed], bill)) is not None]
    every = job.spec.checkpoint.every_steps or usual_interval([each.step for each in saved])
    return sum_up(found, runs, every, measured(saved))


def _run(platform: Platform, attempt: Attempt, bill: LossBill) -> Run | None:
    step_s = _step_seconds(platform, attempt)
    return None if step_s is None else Run(attempt.resume_step, bill.last_step, attempt.devices, step_s)


def _step_seconds(platform: Platform, attempt: Attempt) -> float | None:
    """The usual time of one step, by the readings of the rank that told most; None: it told too few."""
    series = platform.readings.series(attempt.id, "step", points=SAMPLES)
    longest: Sequence[Sample] = max(
        ([Sample(point.at, int(point.maximum)) for point in each.points] for each in series), key=len, default=()
    )
    per_s = rate(longest).steps_per_s
    return 1 / per_s if per_s else None
