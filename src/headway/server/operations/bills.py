"""The loss bill of a failure: opened when the verdict is in, completed as the resumed attempt moves.

Device-seconds lost are those spent on steps that are done again: from the moment the checkpoint was saved (or the
broken attempt started) to the fault, times its devices; and those of the outage, from the fault to the first new step.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from headway.diagnosis.verdict import Verdict
from headway.domain.attempt import Attempt
from headway.domain.checkpoint import LossBill
from headway.domain.events import RecoveryMeasured
from headway.store import agents, bills, checkpoints, facts


def open_bill(c: Connection, attempt: Attempt, verdict: Verdict, resumed_step: int) -> LossBill:
    """What is known when the job is sent back: steps lost, and the work destroyed."""
    assert attempt.ended_at is not None
    fault_at = verdict.at or _first_exit(c, attempt) or attempt.ended_at
    begun = attempt.started_at or attempt.placed_at
    saved_at = [p.saved_at for p in checkpoints.of_job(c, attempt.job) if p.step == resumed_step and resumed_step]
    since = max([begun, *saved_at]) if saved_at else begun
    bill = LossBill(
        job=attempt.job,
        failed=attempt.id,
        fault_at=fault_at,
        detected_at=attempt.ended_at,
        last_step=max(attempt.step or 0, attempt.resume_step),
        resumed_step=resumed_step,
        device_seconds_lost=max(0, int((fault_at - since).total_seconds())) * attempt.devices,
    )
    bills.put(c, bill)
    return bill


def after_launch(c: Connection, attempt: Attempt, at: datetime) -> None:
    """A new attempt was launched: the open bill knows by which attempt the job resumes."""
    for bill in bills.open(c):
        if bill.job == attempt.job and bill.resumed is None:
            bills.put(c, replace(bill, resumed=attempt.id, resumed_at=at))


def after_progress(c: Connection, attempt: Attempt, step: int, at: datetime) -> None:
    """The resumed attempt moved: note its first new step, and when it passed the step where the job broke."""
    for bill in bills.open(c):
        if bill.resumed != attempt.id or step <= bill.resumed_step:
            continue
        measured = bill
        if measured.first_step_at is None:
            outage = max(0, int((at - bill.fault_at).total_seconds())) * attempt.devices
            measured = replace(measured, first_step_at=at, device_seconds_lost=measured.device_seconds_lost + outage)
        if measured.passed_fault_step_at is None and step > bill.last_step:
            measured = replace(measured, passed_fault_step_at=at)
        if measured != bill:
            bills.put(c, measured)
            facts.append(c, RecoveryMeasured(at=at, by="server", job=bill.job, bill=measured))


def _first_exit(c: Connection, attempt: Attempt) -> datetime | None:
    return min((e.at for e in agents.exits(c, attempt.id) if not e.is_clean), default=None)
