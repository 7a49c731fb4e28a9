"""The loss bill of a failure: opened when the verdict is in, completed as the resumed attempt moves.

Device-seconds lost are those spent on steps that are done again: from the moment the checkpoint was saved (or the
broken attempt started) to the fault, times its devices; and those of the outage, from the fault to the first new step.
Where a resumed attempt breaks before that step, its own bill counts on from its beginning: no second counts twice.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from headway.diagnosis.verdict import Verdict
from headway.domain.attempt import Attempt
from headway.domain.checkpoint import LossBill
from headway.domain.recovery_events import RecoveryMeasured
from headway.store import agents, attempts, bills, checkpoints, facts


def open_bill(c: Connection, attempt: Attempt, verdict: Verdict, resumed_step: int) -> LossBill:
    """What is known when the job is sent back: steps lost, and the work destroyed."""
    assert attempt.ended_at is not None
    fault_at = verdict.at or _first_exit(c, attempt) or attempt.ended_at
    begun = attempt.started_at or attempt.placed_at
    _cut_outage(c, attempt, begun)
    bill = LossBill(
        job=attempt.job,
        failed=attempt.id,
        fault_at=fault_at,
        detected_at=attempt.ended_at,
        last_step=max(attempt.step or 0, attempt.resume_step),
        resumed_step=resumed_step,
        device_seconds_lost=_destroyed(c, attempt, fault_at, resumed_step),
    )
    bills.put(c, bill)
    return bill


def after_launch(c: Connection, attempt: Attempt, at: datetime) -> None:
    """A new attempt was launched: every bill still open is to be completed by it."""
    for bill in bills.open(c):
        if bill.job == attempt.job:
            bills.put(c, replace(bill, resumed=attempt.id, resumed_at=bill.resumed_at or at))


def after_restore(c: Connection, attempt: Attempt, step: int) -> None:
    """The resumed attempt has loaded another checkpoint than was decided on: what is lost is counted from that."""
    for bill in bills.open(c):
        failed = attempts.get(c, bill.failed) if bill.resumed == attempt.id and bill.resumed_step != step else None
        if failed is not None and bill.first_step_at is None and _is_newest(c, bill):
            lost = _destroyed(c, failed, bill.fault_at, step)
            bills.put(c, replace(bill, resumed_step=step, device_seconds_lost=lost))


def after_progress(c: Connection, attempt: Attempt, seen: Sequence[tuple[datetime, int]]) -> None:
    """The resumed attempt moved, by steps with their times: note its first new step, and when it passed the fault."""
    for bill in bills.open(c):
        if bill.resumed != attempt.id:
            continue
        measured, first = bill, _first_past(seen, bill.resumed_step)
        if bill.first_step_at is None and first is not None:
            lost = bill.device_seconds_lost + (_outage(bill, first, attempt) if _is_newest(c, bill) else 0)
            measured = replace(bill, first_step_at=first, device_seconds_lost=lost)
        if bill.passed_fault_step_at is None:
            measured = replace(measured, passed_fault_step_at=_first_past(seen, bill.last_step))
        if measured != bill:
            bills.put(c, measured)
            at = max(moment for moment, _ in seen)
            facts.append(c, RecoveryMeasured(at=at, by="server", job=bill.job, bill=measured))


def _destroyed(c: Connection, failed: Attempt, fault_at: datetime, resumed_step: int) -> int:
    """Device-seconds of the work between the checkpoint (or the attempt's start) and the fault."""
    saved_at = [p.saved_at for p in checkpoints.of_job(c, failed.job) if p.step == resumed_step and resumed_step]
    since = max([failed.started_at or failed.placed_at, *saved_at])
    return max(0, int((fault_at - since).total_seconds())) * failed.devices


def _cut_outage(c: Connection, attempt: Attempt, begun: datetime) -> None:
    """This attempt was to end an outage and broke: the outage counts up to its beginning, then its own bill's."""
    for bill in bills.open(c):
        if bill.resumed == attempt.id and bill.first_step_at is None and _is_newest(c, bill):
            lost = bill.device_seconds_lost + _outage(bill, begun, attempt)
            bills.put(c, replace(bill, device_seconds_lost=lost))


def _is_newest(c: Connection, bill: LossBill) -> bool:
    return bills.of_job(c, bill.job)[-1].failed == bill.failed


def _outage(bill: LossBill, until: datetime, attempt: Attempt) -> int:
    return max(0, int((until - bill.fault_at).total_seconds())) * attempt.devices


def _first_past(seen: Sequence[tuple[datetime, int]], step: int) -> datetime | None:
    return min((at for at, reached in seen if reached > step), default=None)


def _first_exit(c: Connection, attempt: Attempt) -> datetime | None:
    return min((e.at for e in agents.exits(c, attempt.id) if not e.is_clean), default=None)
