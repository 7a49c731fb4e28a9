"""A month as evidence: every figure adds up from the jobs beside it; what was stopped or drilled is no failure."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.attempt import Outcome
from headway.domain.drill_events import DrillOrdered
from headway.domain.events import AttemptEnded, JobEnded, JobSubmitted, VerdictReached
from headway.domain.ids import AttemptId, JobId
from headway.domain.queue_events import PreemptionOrdered
from headway.domain.recovery_events import RecoveryDecided
from headway.metering.intervals import intervals, waits
from headway.metering.months import parse_month
from headway.metering.report import BOUNDS, Promise, report
from headway.metering.statement import Scope, month_entries, statement
from tests.metering.builders import NOVEMBER, SHANGHAI, an_interval, placed

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SCOPE = Scope("llm", parse_month("2026-11"), SHANGHAI, NOVEMBER + 20 * DAY)


def submitted(job, at=NOVEMBER, devices=2):
    return JobSubmitted(at=at, by="ann", job=JobId(job), project="llm", name=f"name-{job}", devices=devices)


def ran(interval, outcome=Outcome.SUCCEEDED):
    """An attempt's facts, with its end if it ended."""
    facts = [placed(interval)]
    if interval.end is not None:
        end = {"at": interval.end, "by": "server", "job": interval.job, "attempt": interval.attempt}
        facts.append(AttemptEnded(**end, outcome=outcome))
    return facts


def resumed(interval):
    return RecoveryDecided(
        at=interval.end,
        by="server",
        job=interval.job,
        attempt=interval.attempt,
        resume=True,
        resume_from=None,
        resume_step=0,
        reason="newest checkpoint",
        held_until=None,
    )


def told(facts, promises=(), scope=SCOPE):
    ordered = sorted(facts, key=lambda fact: fact.at)
    entries = month_entries([], intervals(ordered), scope)
    return report(ordered, waits(ordered), entries, promises, scope)


def test_a_wait_counts_where_it_ended_with_devices() -> None:
    seen = told(
        [
            *(submitted("j-1", NOVEMBER), *ran(an_interval(NOVEMBER + HOUR, 60, job="j-1"))),
            *(submitted("j-2", NOVEMBER - 5 * DAY), *ran(an_interval(NOVEMBER - 4 * DAY, 60, job="j-2"))),
            *(
                submitted("j-3", NOVEMBER),
                JobEnded(at=NOVEMBER + DAY, by="bob", job=JobId("j-3"), state="stopped", reason="x"),
            ),
            submitted("j-4", NOVEMBER + DAY),
        ]
    )
    assert (seen.waited.starts, seen.waited.wait_seconds, seen.waited.p90_s, seen.waited.waiting) == (1, 3600, 3600, 1)
    assert [(line.job, line.waiting) for line in seen.jobs] == [("j-1", False), ("j-4", True)]


@pytest.mark.parametrize(("wait", "place"), [(0, 0), (60, 0), (61, 1), (3600, 2), (86400, 4), (86401, 5)])
def test_a_wait_falls_into_one_bin(wait: int, place: int) -> None:
    start = NOVEMBER + timedelta(seconds=wait)
    seen = told([submitted("j-1"), *ran(an_interval(start, 60, job="j-1"))])
    assert [bin.up_to_s for bin in seen.waited.spread] == [*BOUNDS, None]
    assert [bin.waits for bin in seen.waited.spread] == [int(number == place) for number in range(6)]


def test_utilisation_is_what_it_had_of_its_own() -> None:
    facts = [submitted("j-1"), *ran(an_interval(NOVEMBER, 7200, job="j-1", devices=3))]
    mine = Promise("cpu", 4, NOVEMBER, NOVEMBER + 2 * HOUR)
    granted = Promise("cpu", 4, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR)
    other = Promise("h800", 8, NOVEMBER, NOVEMBER + HOUR)
    cpu, h800 = told(facts, [mine, granted, other]).used
    assert (cpu.device_seconds, cpu.own_device_seconds, cpu.utilisation) == (3 * 7200, 12 * 3600, 0.5)
    assert (h800.device_type, h800.device_seconds, h800.utilisation) == ("h800", 0, 0.0)
    (nothing,) = told(facts).used
    assert nothing.utilisation is None


def test_a_promise_counts_only_in_the_part_of_the_month_that_is_over() -> None:
    always = Promise("cpu", 1, NOVEMBER - 90 * DAY, NOVEMBER + 90 * DAY)
    (cpu,) = told([], [always]).used
    first = SCOPE.month.start(SHANGHAI)
    assert cpu.own_device_seconds == (SCOPE.as_of - first) // timedelta(seconds=1)


def test_what_was_stopped_preempted_or_drilled_is_no_failure() -> None:
    runs = [an_interval(NOVEMBER + n * HOUR, 600, job="j-1", number=n, devices=1) for n in range(1, 7)]
    outcomes = [Outcome.FAILED, Outcome.LOST, Outcome.STOPPED, Outcome.FAILED, Outcome.SUCCEEDED, Outcome.STOPPED]
    facts = [submitted("j-1"), *(fact for run, how in zip(runs, outcomes, strict=True) for fact in ran(run, how))]
    facts += [resumed(run) for run in runs[:-1]]
    order = {"by": "server", "job": JobId("j-1")}
    facts.append(
        PreemptionOrdered(
            **order, at=runs[2].start, attempt=runs[2].attempt, for_job=None, devices=1, lost_device_seconds=0, why="x"
        )
    )
    facts.append(DrillOrdered(**order, at=runs[3].start, attempt=runs[3].attempt, drill="d-1", rank=0))
    facts.append(
        VerdictReached(
            **order, at=runs[0].start, attempt=runs[0].attempt, fault="gpu", owner="operator", rank=0, node="n1"
        )
    )
    seen = told(facts)
    failed = seen.failed
    assert (failed.ended, failed.failed, failed.preempted, failed.drilled) == (6, 2, 1, 1)
    assert failed.rate == pytest.approx(2 / 3)
    assert failed.faults == {"gpu": 1, "unknown": 1}
    assert failed.device_seconds == 1200
    (line,) = seen.jobs
    assert (line.starts, line.attempts, line.failed, line.preempted, line.drilled) == (6, 6, 2, 1, 1)
    assert line.faults == ("gpu", "unknown")


def test_an_empty_month_is_unknown_and_not_zero() -> None:
    seen = told([])
    assert (seen.waited.mean_s, seen.waited.p90_s, seen.failed.rate, seen.used, seen.jobs) == (None, None, None, (), ())


lives = st.lists(
    st.tuples(
        st.floats(0, 40 * 86400),
        st.floats(0, 3 * 86400),
        st.one_of(st.none(), st.floats(0, 20 * 86400)),
        st.integers(1, 9),
        st.sampled_from(Outcome),
    ),
    max_size=8,
)


@given(lives)
def test_every_figure_adds_up_from_the_jobs_and_agrees_with_the_statement(found) -> None:
    facts = []
    for number, (after, wait, length, devices, outcome) in enumerate(found):
        at = NOVEMBER - 10 * DAY + timedelta(seconds=after)
        start = at + timedelta(seconds=wait)
        job = f"j-{number}"
        facts += [submitted(job, at, devices), *ran(an_interval(start, length, job=job, devices=devices), outcome)]
    facts = sorted((fact for fact in facts if fact.at <= SCOPE.as_of), key=lambda fact: fact.at)
    seen = told(facts)
    assert sum(line.starts for line in seen.jobs) == seen.waited.starts == sum(b.waits for b in seen.waited.spread)
    assert sum(line.wait_seconds for line in seen.jobs) == seen.waited.wait_seconds
    assert sum(line.waiting for line in seen.jobs) == seen.waited.waiting
    assert sum(line.attempts for line in seen.jobs) == seen.failed.ended
    assert sum(line.failed for line in seen.jobs) == seen.failed.failed == sum(seen.failed.faults.values())
    whole = statement([], intervals(facts), waits(facts), SCOPE)
    assert sum(line.device_seconds for line in seen.jobs) == whole.device_seconds
    assert sum(used.device_seconds for used in seen.used) == whole.device_seconds
    assert {AttemptId(f"{line.job}.1") for line in seen.jobs if line.device_seconds} == {
        AttemptId(f"{line.job}.1") for line in whole.lines if line.device_seconds
    }
