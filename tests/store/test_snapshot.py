"""The scheduler's view: everything a plan depends on, and predictions from what was seen."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection

from headway.domain.attempt import Outcome
from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.quota import Quota
from headway.scheduler.snapshot import Hold, QueuedJob, RunningJob, Snapshot
from headway.store import attempts, holds, jobs, nodes, quotas, snapshot, world
from tests.store.rows import ATTEMPT, JOB, NOW, PLACEMENTS, a_job, a_node, a_spec, an_attempt, later, with_projects

LIMIT = timedelta(hours=1, microseconds=7)


def test_a_snapshot_holds_everything_a_plan_depends_on(c: Connection) -> None:
    with_projects(c)
    quotas.set_quota(c, Quota("speech", "h200", 2), at=NOW, by="admin")
    nodes.put(c, [a_node("n1"), a_node("n2")], NOW)
    jobs.insert(c, a_job(state=JobState.RUNNING))
    attempts.insert(c, an_attempt(), "digest")
    jobs.insert(c, a_job("j-cccccccc", 2, attempts=1))
    jobs.insert(c, a_job("j-bbbbbbbb", 1, spec=a_spec("new", "speech", priority=Priority.LOW, limit=None)))
    jobs.insert(c, a_job("j-dddddddd", 3, state=JobState.RECOVERING))
    hold = Hold(JobId("j-cccccccc"), "cpu", PLACEMENTS, later(60))
    holds.put(c, hold)
    holds.put(c, Hold(JobId("j-bbbbbbbb"), "cpu", PLACEMENTS, later(4)))
    request = a_spec().request
    assert snapshot.take(c, later(5)) == Snapshot(
        version=world.version(c),
        now=later(5),
        nodes=(a_node("n1"), a_node("n2")),
        running=(
            RunningJob(
                JOB, ATTEMPT, "train", "vision", "ann", Priority.HIGH, "cpu", PLACEMENTS, NOW, "tiny-gpt@1", LIMIT
            ),
        ),
        queued=(
            QueuedJob(JobId("j-bbbbbbbb"), "new", "speech", "ann", Priority.LOW, request, later(1), "tiny-gpt@1"),
            QueuedJob(
                JobId("j-cccccccc"),
                "train",
                "vision",
                "ann",
                Priority.HIGH,
                request,
                later(2),
                "tiny-gpt@1",
                LIMIT,
                True,
            ),
        ),
        quotas={("vision", "cpu"): 4, ("speech", "h200"): 2},
        holds=(hold,),
    )


@pytest.mark.parametrize(
    ("step", "total", "seen_s", "now_s", "expected"),
    [
        (60, 160, 100, 100, later(300)),  # 50 of 60 steps in 100 s from step 10 on: 2 s a step, 100 to go
        (60, 160, 100, 130, later(300)),  # the step was seen a while ago
        (60, 160, None, 100, later(300)),  # when is unknown: as if it were now
        (60, 160, 100, 900, later(900)),  # late: not in the past
        (160, 160, 100, 100, later(100)),  # done, about to end
        (60, None, 100, 100, None),
        (None, 160, 100, 100, None),
        (10, 160, 100, 100, None),  # nothing done yet since it resumed
        (60, 2**53, 100, 100, None),  # never, as far as a calendar goes
    ],
)
def test_the_end_of_a_running_job_is_expected_from_its_own_rate(
    c: Connection, step: int | None, total: int | None, seen_s: int | None, now_s: int, expected: datetime | None
) -> None:
    with_projects(c)
    jobs.insert(c, a_job(state=JobState.RUNNING, total=total))
    attempts.insert(c, an_attempt(state=AttemptState.RUNNING, started_at=NOW, resume_step=10), "digest")
    if step is not None:
        attempts.set_progress(c, ATTEMPT, step, None if seen_s is None else later(seen_s))
    (running,) = snapshot.take(c, later(now_s)).running
    assert running.expected_end == expected


def test_an_ended_attempt_holds_nothing(c: Connection) -> None:
    with_projects(c)
    jobs.insert(c, a_job(state=JobState.RECOVERING))
    attempts.insert(c, an_attempt(), "digest")
    attempts.move(c, ATTEMPT, AttemptState.ENDED, at=later(1), outcome=Outcome.FAILED)
    assert snapshot.take(c, later(2)).running == ()


def test_run_times_are_those_of_the_last_two_hundred_successes_of_each_template(c: Connection) -> None:
    with_projects(c)
    for number in range(203):
        _ended(c, f"j-{number:08d}", "tiny", ended_s=1000 + number, ran_s=203 - number)
    _ended(c, "j-other000", "big", ended_s=10, ran_s=2.5)
    _ended(c, "j-failed00", "big", ended_s=11, ran_s=9, outcome=Outcome.FAILED)
    runs = snapshot.runtimes(c).by_template
    assert runs == {"tiny": tuple(float(second) for second in range(1, 201)), "big": (2.5,)}


def _ended(
    c: Connection, job: str, template: str, *, ended_s: float, ran_s: float, outcome: Outcome = Outcome.SUCCEEDED
) -> None:
    jobs.insert(c, a_job(job, spec=a_spec(template=template), state=JobState.SUCCEEDED))
    ended = an_attempt(
        job,
        state=AttemptState.ENDED,
        started_at=later(ended_s - ran_s),
        ended_at=later(ended_s),
        outcome=outcome,
    )
    attempts.insert(c, ended, f"digest-{job}")
