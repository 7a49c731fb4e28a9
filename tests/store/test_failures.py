"""What failures leave behind: checkpoints, loss bills, verdicts and holds."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection

from headway.diagnosis.verdict import EvidenceLine, Fault, Owner, Verdict
from headway.domain.checkpoint import Checkpoint, CheckpointState, LossBill
from headway.domain.lifecycle import JobState
from headway.scheduler.snapshot import Hold
from headway.store import attempts, bills, checkpoints, holds, jobs, verdicts, world
from tests.store.rows import ATTEMPT, JOB, NOW, PLACEMENTS, an_attempt, later, with_attempt

SECOND = an_attempt(number=10).id


@pytest.fixture
def two(c: Connection) -> Connection:
    """A job with its first and its tenth attempt."""
    with_attempt(c)
    attempts.insert(c, an_attempt(number=10), "digest-10")
    return c


def a_checkpoint(step: int, **changes: object) -> Checkpoint:
    checkpoint = Checkpoint(JOB, ATTEMPT, step, f"/ckpt/step-{step:08d}", 10**12, 0.25, later(step))
    return replace(checkpoint, **changes)  # type: ignore[arg-type]


def a_bill(**changes: object) -> LossBill:
    bill = LossBill(JOB, ATTEMPT, NOW, later(1), last_step=57, resumed_step=40, device_seconds_lost=120)
    return replace(bill, **changes)  # type: ignore[arg-type]


def test_checkpoints_come_newest_step_first(two: Connection) -> None:
    for step in (10, 30, 20):
        checkpoints.record(two, a_checkpoint(step))
    assert checkpoints.of_job(two, JOB) == [a_checkpoint(30), a_checkpoint(20), a_checkpoint(10)]


def test_a_later_attempt_replaces_the_checkpoint_at_a_path_and_an_earlier_one_does_not(two: Connection) -> None:
    newer = a_checkpoint(10, attempt=SECOND, bytes=7)
    checkpoints.record(two, a_checkpoint(10, state=CheckpointState.VERIFIED))
    checkpoints.record(two, newer)
    checkpoints.record(two, a_checkpoint(10))
    assert checkpoints.of_job(two, JOB) == [newer]


def test_what_is_known_of_a_checkpoint_changes_with_its_reason(two: Connection) -> None:
    checkpoints.record(two, a_checkpoint(10))
    checkpoints.record(two, a_checkpoint(20))
    checkpoints.set_state(two, JOB, a_checkpoint(20).path, CheckpointState.REJECTED, "one byte differs")
    checkpoints.set_state(two, JOB, a_checkpoint(10).path, CheckpointState.VERIFIED)
    assert [(each.state, each.reason) for each in checkpoints.of_job(two, JOB)] == [
        (CheckpointState.REJECTED, "one byte differs"),
        (CheckpointState.VERIFIED, None),
    ]


def test_a_bill_is_open_until_the_fault_step_is_passed(two: Connection) -> None:
    bills.put(two, a_bill())
    assert bills.open(two) == [a_bill()]
    half = a_bill(resumed=SECOND, resumed_at=later(5), first_step_at=later(9))
    bills.put(two, half)
    assert bills.open(two) == [half]
    whole = replace(half, passed_fault_step_at=later(20))
    bills.put(two, whole)
    assert bills.open(two) == []
    assert bills.of_job(two, JOB) == [whole]


def test_the_bill_of_a_job_that_ended_is_not_open(two: Connection) -> None:
    bills.put(two, a_bill(failed=SECOND, fault_at=later(3)))
    bills.put(two, a_bill())
    assert bills.open(two) == bills.of_job(two, JOB) == [a_bill(), a_bill(failed=SECOND, fault_at=later(3))]
    jobs.move(two, JOB, JobState.FAILED, at=later(9))
    assert bills.open(two) == []
    assert len(bills.of_job(two, JOB)) == 2


def test_a_verdict_comes_back_as_it_was_and_can_be_revised(two: Connection) -> None:
    verdict = Verdict(
        ATTEMPT,
        Fault.KILLED,
        Owner.OPERATOR,
        retry=True,
        confidence=0.9,
        rank=1,
        node="n2",
        at=NOW,
        signal_name="SIGKILL",
        followers=(0, 2),
        lines=(EvidenceLine(0, 4096, "连接被对端关闭\x00"),),
    )
    assert verdicts.get(two, ATTEMPT) is None
    verdicts.put(two, replace(verdict, confidence=0.1))
    verdicts.put(two, verdict)
    assert verdicts.get(two, ATTEMPT) == verdict


def test_a_hold_lasts_until_its_moment_or_until_it_is_dropped(two: Connection) -> None:
    hold = Hold(JOB, "cpu", PLACEMENTS, later(60))
    version = world.version(two)
    holds.put(two, replace(hold, until=later(1)))
    holds.put(two, hold)
    assert world.version(two) == version + 2
    assert holds.all(two, later(59)) == [hold]
    assert holds.all(two, later(60)) == []
    holds.drop(two, JOB)
    assert world.version(two) == version + 3
    holds.drop(two, JOB)
    assert world.version(two) == version + 3
    assert holds.all(two, NOW) == []
