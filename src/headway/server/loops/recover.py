"""Recover: decide whether a broken job goes on, from which checkpoint that verifies now, and whether at once where it
was or through the queue; open its loss bill."""

import os
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from headway.diagnosis.advice import Course, Decision, History, Reason
from headway.diagnosis.advice import recover as advise
from headway.diagnosis.verdict import Verdict
from headway.domain.attempt import PREEMPTED, Attempt
from headway.domain.carrying import OWN
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.domain.recovery_events import RecoveryDecided
from headway.scheduler.staying import Obstacle
from headway.sdk.job import checkpoint as on_disk
from headway.server.loops.abreast import Abreast
from headway.server.operations.jobs import frameworks
from headway.server.operations.jobs.bills import open_bill
from headway.server.operations.jobs.checkpoints import Found, newer, record_rejected, record_verified
from headway.server.operations.jobs.holding import NODE_BACK, hold, is_released, of_returned_nodes, release
from headway.server.operations.jobs.settle import hold_for
from headway.server.operations.jobs.staying import obstacle_to, stay
from headway.server.operations.jobs.stopping import end
from headway.server.platform import Platform
from headway.store import attempts, facts, holds, jobs, verdicts

Judged = tuple[Job, Attempt, Verdict, History]


def recover() -> Abreast[Judged]:
    """Decide for every job whose verdict is in."""
    return Abreast("recover", _judged, _decide)


def _judged(platform: Platform) -> dict[str, Judged]:
    _let_go(platform)
    with platform.database.read() as c:
        broken = [(job, attempts.of_job(c, job.id)[-1]) for job in jobs.in_states(c, JobState.RECOVERING)]
        judged = [(job, attempt, verdicts.get(c, attempt.id)) for job, attempt in broken]
        return {
            attempt.id: (job, attempt, verdict, _history(c, job, attempt, verdict))
            for job, attempt, verdict in judged
            if verdict is not None
        }


def _let_go(platform: Platform) -> None:
    """Let the held jobs go whose node is back."""
    with platform.database.read() as c:
        if not jobs.in_states(c, JobState.HELD):
            return
    with platform.database.write() as c:
        for job in of_returned_nodes(c):
            release(c, job, at=platform.clock.now(), by="server", reason=NODE_BACK)


def _history(c: Connection, job: Job, attempt: Attempt, verdict: Verdict) -> History:
    return History(
        failures=job.failures,
        progressed=(attempt.step or 0) > attempt.resume_step,
        repeats=_repeats(c, attempt, verdict),
        released=is_released(c, attempt),
    )


def _repeats(c: Connection, attempt: Attempt, verdict: Verdict) -> int:
    """How many attempts just before this one broke by the same fault at the same step; 0 where no step was seen."""
    before = [each for each in attempts.of_job(c, attempt.job) if each.number < attempt.number]
    count = 0
    for each in reversed(before if attempt.step else []):
        told = verdicts.get(c, each.id)
        if told is None or told.fault is not verdict.fault or each.step != attempt.step:
            break
        count += 1
    return count


def _decide(platform: Platform, judged: Judged) -> None:
    job, attempt, verdict, past = judged
    decision = advise(verdict, job.spec.recovery.retries, past)
    newest, rejected = on_disk.newest_verified(platform.checkpoints / job.id) if decision.resume else (None, [])
    own = None if newest is None else Found(str(newest.path), newest.step)
    origin = _origin(job) if own is None else None
    now = platform.clock.now()
    with platform.database.write() as c:
        present = jobs.get(c, job.id)
        if present is None or present.state != JobState.RECOVERING or present.attempts != attempt.number:
            return
        for bad in rejected:
            record_rejected(c, job.id, Found(str(bad.path), bad.step or 0), bad.reason, now)
        if own is not None:
            record_verified(c, attempt, own, now)
        found, other = newer(own, frameworks.newest(c, job.id) if decision.resume else None)
        stays = decision.resume and decision.reason is not Reason.PREEMPTED
        case = Case(
            job=job,
            attempt=attempt,
            verdict=verdict,
            decision=decision,
            found=found or origin,
            passed_over=other,
            at=now,
            held_until=now + platform.settings.hold,
            obstacle=obstacle_to(platform, c, job, attempt, decision.exclude, now) if stays else None,
        )
        _write(platform, c, case)
    platform.wake("dispatch", "schedule")


def _origin(job: Job) -> Found | None:
    """What a job that has none of its own began with, if that still verifies; a framework's, if it still is there."""
    origin = job.spec.origin
    if origin is None:
        return None
    usable = on_disk.verify(origin.path).ok if origin.format == OWN else os.path.lexists(origin.path)
    return Found(origin.path, origin.step, origin.format) if usable else None


@dataclass(frozen=True, slots=True)
class Case:
    """A broken job at the moment of decision: what broke, why, and the checkpoint to go on from (None: step 0).

    `passed_over`: an older one by another writer. `obstacle`: what keeps a job that failed and goes on from doing so at
    once where it was.
    """

    job: Job
    attempt: Attempt
    verdict: Verdict
    decision: Decision
    found: Found | None
    at: datetime
    held_until: datetime
    passed_over: Found | None = None
    obstacle: Obstacle | None = None

    @property
    def stays(self) -> bool:
        return self.decision.resume and not self.is_preempted and self.obstacle is None

    @property
    def is_preempted(self) -> bool:
        return self.decision.reason is Reason.PREEMPTED


def _write(platform: Platform, c: Connection, case: Case) -> None:
    if case.decision.course is Course.HOLD:
        return hold(c, case.job, case.attempt, case.verdict, case.at)
    _say(c, case)
    if case.decision.resume:
        _resume(platform, c, case)
    else:
        end(c, case.job, JobState.FAILED, at=case.at, by="server", reason=case.decision.reason)


def _resume(platform: Platform, c: Connection, case: Case) -> None:
    """Begin again where it was, or send the job back to the queue: what failed finds its devices held for it there,
    what was taken has lost them."""
    jobs.set_failures(c, case.job.id, case.decision.failures)
    jobs.avoid(c, case.job.id, case.decision.exclude)
    if case.is_preempted:
        jobs.move(c, case.job.id, JobState.QUEUED, at=case.at, reason=PREEMPTED)
        return
    open_bill(c, case.attempt, case.verdict, case.found.step if case.found else 0)
    if case.stays:
        stay(platform, c, case.job, case.attempt, case.at)
        return
    holds.put(c, hold_for(case.job, case.attempt, case.held_until, case.decision.exclude))
    jobs.move(c, case.job.id, JobState.QUEUED, at=case.at, reason=case.decision.reason)


def _say(c: Connection, case: Case) -> None:
    decided = RecoveryDecided(
        at=case.at,
        by="server",
        job=case.job.id,
        attempt=case.attempt.id,
        resume=case.decision.resume,
        resume_from=case.found.path if case.found else None,
        resume_step=case.found.step if case.found else 0,
        reason=case.decision.reason,
        held_until=case.held_until if case.decision.resume and not (case.is_preempted or case.stays) else None,
        avoids=case.decision.exclude,
        in_place=case.stays,
        queued_for=case.obstacle,
        resume_format=case.found.format if case.found else None,
        other_format=case.passed_over.format if case.passed_over else None,
        other_step=case.passed_over.step if case.passed_over else None,
    )
    facts.append(c, decided)
