"""The loss bill is completed by the steps themselves, not by when somebody heard of them."""

from dataclasses import replace
from datetime import timedelta

from headway.domain.checkpoint import LossBill
from headway.domain.ids import AttemptId, JobId
from headway.server.operations.jobs.bills import after_progress
from headway.server.platform import Platform
from headway.store import attempts, bills, facts, jobs
from tests.builders import NOW, a_job
from tests.store.rows import an_attempt


def later(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def test_the_first_new_step_counts_from_its_own_time_and_not_from_the_report_that_brought_it(
    platform: Platform,
) -> None:
    job, second = JobId("j-1"), an_attempt("j-1", 2)
    fault = LossBill(job, AttemptId("j-1.1"), NOW, NOW, last_step=23, resumed_step=20, device_seconds_lost=0)
    steps = [(NOW + later(10 + n / 4), 21 + n) for n in range(5)]
    with platform.database.write() as c:
        jobs.insert(c, a_job("j-1"))
        attempts.insert(c, an_attempt("j-1", 1), "digest-1")
        attempts.insert(c, second, "digest-2")
        bills.put(c, replace(fault, resumed=second.id))
        after_progress(c, second, steps)
        after_progress(c, second, [(NOW + later(60), 90)])
        (bill,) = bills.of_job(c, job)
        measured = facts.since(c, 0, kinds={"recovery-measured"})
    assert bill.kill_to_first_step_s == 10
    assert bill.passed_fault_step_at == NOW + later(10.75)
    assert bill.device_seconds_lost == 10 * second.devices
    assert len(measured) == 1
