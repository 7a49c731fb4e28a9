"""A plan is applied whole, to the world it was made from, or not at all."""

import pytest

from headway.domain.errors import PlatformError
from headway.domain.events import AttemptPlaced
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import JobKind
from headway.domain.lifecycle import JobState
from headway.metering.entries import OCCUPANCY, RESIDENT
from headway.scheduler.plan import BehindOthers, Plan, Start, Waits
from headway.scheduler.snapshot import Hold
from headway.store import attempts, facts, holds, jobs, plans, world
from headway.store.apply import apply
from headway.store.database import Database
from tests.store.rows import JOB, NOW, PLACEMENTS, a_job, a_spec, an_attempt, later, with_projects

SERVICE, THIRD = JobId("j-bbbbbbbb"), JobId("j-cccccccc")


@pytest.fixture
def waiting(database: Database) -> Database:
    """Three queued jobs: one resumes with a hold after its first attempt, one is a service, one waits on."""
    with database.write() as c:
        with_projects(c)
        jobs.insert(c, a_job(attempts=1))
        jobs.insert(c, a_job(SERVICE, 1, spec=a_spec(kind=JobKind.SERVICE)))
        jobs.insert(c, a_job(THIRD, 2))
        attempts.insert(c, an_attempt(), "digest-of-the-first")
        holds.put(c, Hold(JOB, "cpu", PLACEMENTS, later(60)))
    return database


def a_plan(database: Database) -> Plan:
    with database.read() as c:
        version = world.version(c)
    starts = tuple(Start(job, "local", "cpu", PLACEMENTS) for job in (JOB, SERVICE))
    return Plan(version, starts, (Waits(THIRD, 1, BehindOthers(JOB, None)),))


def digest_of(attempt: AttemptId) -> str:
    return f"digest of {attempt}"


def test_a_plan_places_attempts_with_their_facts_tokens_and_waits(waiting: Database) -> None:
    plan = a_plan(waiting)
    with waiting.write() as c:
        placed = apply(c, plan, now=later(5), issue_token=digest_of)
    second, first = an_attempt(number=2, placed_at=later(5)), an_attempt(SERVICE, placed_at=later(5))
    with waiting.read() as c:
        assert placed == [second, first]
        assert [attempts.by_token(c, digest_of(each.id)) for each in placed] == placed
        assert [job.id for job in jobs.in_states(c, JobState.STARTING)] == [JOB, SERVICE]
        assert [job.attempts for job in jobs.in_states(c, JobState.STARTING)] == [2, 1]
        assert holds.all(c, NOW) == []
        assert plans.waits(c, THIRD) == plan.waits[0]
        recorded = [each.fact for each in facts.since(c, 0)]
        assert world.version(c) > plan.version
    assert recorded == [_placed(JOB, second.id, OCCUPANCY), _placed(SERVICE, first.id, RESIDENT)]


def test_a_plan_of_another_world_is_refused_and_nothing_is_written(waiting: Database) -> None:
    plan = a_plan(waiting)
    with waiting.write() as c:
        jobs.insert(c, a_job("j-dddddddd"))
    with pytest.raises(PlatformError, match="conflict"), waiting.write() as c:
        apply(c, plan, now=later(5), issue_token=digest_of)
    _nothing_happened(waiting)


def test_of_two_plans_of_one_world_only_the_first_is_applied(waiting: Database) -> None:
    plan = a_plan(waiting)
    with waiting.write() as c:
        apply(c, plan, now=later(5), issue_token=digest_of)
    with pytest.raises(PlatformError, match="conflict"), waiting.write() as c:
        apply(c, plan, now=later(5), issue_token=digest_of)
    with waiting.read() as c:
        assert len(attempts.live(c)) == 3


def test_a_crash_in_the_middle_leaves_nothing(waiting: Database) -> None:
    plan = a_plan(waiting)

    def crash_at_the_second(attempt: AttemptId) -> str:
        if attempt.startswith(SERVICE):
            raise KeyboardInterrupt
        return digest_of(attempt)

    with pytest.raises(KeyboardInterrupt), waiting.write() as c:
        apply(c, plan, now=later(5), issue_token=crash_at_the_second)
    _nothing_happened(waiting)
    with waiting.write() as c:
        assert len(apply(c, plan, now=later(6), issue_token=digest_of)) == 2


def test_a_plan_that_only_makes_jobs_wait_leaves_the_world_as_it_is(waiting: Database) -> None:
    plan = Plan(a_plan(waiting).version, (), a_plan(waiting).waits)
    for _ in range(2):
        with waiting.write() as c:
            assert apply(c, plan, now=later(5), issue_token=digest_of) == []


def _placed(job: JobId, attempt: AttemptId, basis: str) -> AttemptPlaced:
    return AttemptPlaced(
        at=later(5),
        by="server",
        job=job,
        attempt=attempt,
        project="vision",
        device_type="cpu",
        placements=PLACEMENTS,
        basis=basis,
    )


def _nothing_happened(database: Database) -> None:
    with database.read() as c:
        assert jobs.in_states(c, JobState.STARTING) == []
        assert len(attempts.live(c)) == 1
        assert len(holds.all(c, NOW)) == 1
        assert facts.last_seq(c) == 0
        assert plans.waits(c, THIRD) is None
