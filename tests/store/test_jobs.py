"""Jobs: found as people name them, listed newest first, moved only as the lifecycle allows."""

import pytest
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.lifecycle import JOB_MOVES, JobState
from headway.store import jobs, world
from tests.store.rows import JOB, a_job, a_spec, later, with_job, with_projects


@pytest.fixture
def five(c: Connection) -> Connection:
    """Five jobs, submitted one second apart; the last two at the same moment, and one in another project."""
    with_projects(c)
    jobs.insert(c, a_job("j-aaaa2222", 0))
    jobs.insert(c, a_job("j-aaaa3333", 1, owner="bob"))
    jobs.insert(c, a_job("j-bbbb2222", 2, spec=a_spec("evaluate", "speech")))
    jobs.insert(c, a_job("j-cccc2222", 3, state=JobState.RUNNING))
    jobs.insert(c, a_job("j-cccc3333", 3))
    return c


def test_a_job_comes_back_as_it_was(c: Connection) -> None:
    with_projects(c)
    job = a_job(
        state=JobState.FAILED, attempts=3, failures=2, step=2**40, total=None, reason="进程退出", ended_at=later(9)
    )
    jobs.insert(c, job)
    assert jobs.get(c, JOB) == job
    assert jobs.get(c, JobId("j-other")) is None


def test_a_job_is_found_by_id_by_the_beginning_of_one_or_by_name(five: Connection) -> None:
    assert jobs.find(five, "j-aaaa2222").id == "j-aaaa2222"
    assert jobs.find(five, "j-b").id == "j-bbbb2222"
    assert jobs.find(five, "evaluate").id == "j-bbbb2222"
    assert jobs.find(five, "train", project="vision").id == "j-cccc3333"


def test_an_ambiguous_beginning_names_the_jobs_it_fits(five: Connection) -> None:
    with pytest.raises(PlatformError) as refused:
        jobs.find(five, "j-aaaa")
    assert refused.value.code == "ambiguous"
    assert refused.value.params["near"] == "j-aaaa3333, j-aaaa2222"


@pytest.mark.parametrize("text", ["evaluat", "Evaluate", "evalaute"])
def test_a_job_that_is_not_there_is_answered_with_near_names(five: Connection, text: str) -> None:
    with pytest.raises(PlatformError) as refused:
        jobs.find(five, text)
    assert refused.value.code == "not-found"
    assert refused.value.params["near"] == "evaluate"


@pytest.mark.parametrize("text", ["", "%", "_", "j_aaaa2222"])
def test_nothing_in_a_name_is_a_wildcard(five: Connection, text: str) -> None:
    with pytest.raises(PlatformError, match="not-found"):
        jobs.find(five, text)


def test_another_projects_job_is_not_found(five: Connection) -> None:
    for project in ("vision", ["vision"], []):
        with pytest.raises(PlatformError, match="not-found"):
            jobs.find(five, "j-bbbb2222", project=project)
    assert jobs.find(five, "evaluate", project=["vision", "speech"]).id == "j-bbbb2222"


def test_pages_follow_one_another_without_a_gap_or_a_repeat(five: Connection) -> None:
    seen: list[str] = []
    before = None
    while page := jobs.page(five, before=before, limit=2):
        seen += [job.id for job in page]
        before = (page[-1].submitted_at, page[-1].id)
    assert seen == ["j-cccc3333", "j-cccc2222", "j-bbbb2222", "j-aaaa3333", "j-aaaa2222"]


def test_pages_are_filtered_by_project_state_and_owner(five: Connection) -> None:
    assert [job.id for job in jobs.page(five, project={"speech"})] == ["j-bbbb2222"]
    assert [job.id for job in jobs.page(five, project="speech")] == ["j-bbbb2222"]
    assert jobs.page(five, project=[]) == []
    assert [job.id for job in jobs.page(five, states=[JobState.RUNNING])] == ["j-cccc2222"]
    assert [job.id for job in jobs.page(five, owner="bob")] == ["j-aaaa3333"]


def test_a_page_is_of_what_holds_a_text_anywhere(five: Connection) -> None:
    names = {job.id: job.spec.name for job in jobs.page(five)}
    assert [job.id for job in jobs.page(five, text="CCCC")] == ["j-cccc3333", "j-cccc2222"]
    assert [job.id for job in jobs.page(five, text="cccc", limit=1)] == ["j-cccc3333"]
    assert [job.id for job in jobs.page(five, text="Speech")] == ["j-bbbb2222"]
    assert {job.id for job in jobs.page(five, text=names["j-aaaa2222"].upper())} >= {"j-aaaa2222"}
    assert jobs.page(five, text="%") == jobs.page(five, text="a_a") == []
    assert len(jobs.page(five, text="")) == len(names)


def test_jobs_in_given_states_come_in_order_of_submission(five: Connection) -> None:
    found = jobs.in_states(five, JobState.QUEUED, JobState.RUNNING)
    assert [job.id for job in found] == ["j-aaaa2222", "j-aaaa3333", "j-bbbb2222", "j-cccc2222", "j-cccc3333"]
    assert jobs.in_states(five) == []


@pytest.mark.parametrize(("before", "after"), [(b, a) for b in JobState for a in JobState])
def test_a_move_happens_exactly_when_the_lifecycle_has_it(c: Connection, before: JobState, after: JobState) -> None:
    with_projects(c)
    job = a_job(state=before)
    jobs.insert(c, job)
    version = world.version(c)
    if (before, after) in JOB_MOVES:
        moved = jobs.move(c, JOB, after, at=later(5), reason="why")
        assert (moved.state, moved.reason) == (after, "why")
        assert moved.ended_at == (later(5) if after.is_terminal else None)
        assert jobs.get(c, JOB) == moved
        assert world.version(c) > version
        return
    if before is after:
        assert jobs.move(c, JOB, after, at=later(5), reason="why") == job
    else:
        with pytest.raises(PlatformError, match="illegal-move"):
            jobs.move(c, JOB, after, at=later(5), reason="why")
    assert jobs.get(c, JOB) == job
    assert world.version(c) == version


def test_moving_a_job_that_is_not_there_says_so(c: Connection) -> None:
    with pytest.raises(PlatformError, match="not-found"):
        jobs.move(c, JOB, JobState.STARTING, at=later(1))


def test_progress_and_counts_change_only_themselves(c: Connection) -> None:
    with_job(c)
    version = world.version(c)
    jobs.set_progress(c, JOB, 10, 60)
    jobs.set_progress(c, JOB, 20, None)
    assert [jobs.count_attempt(c, JOB), jobs.count_attempt(c, JOB)] == [1, 2]
    jobs.set_failures(c, JOB, 1)
    assert jobs.get(c, JOB) == a_job(step=20, total=60, attempts=2, failures=1)
    assert world.version(c) == version


def test_a_reason_with_a_nul_byte_is_kept_readable(c: Connection) -> None:
    with_job(c)
    jobs.move(c, JOB, JobState.FAILED, at=later(1), reason="a\x00b")
    job = jobs.get(c, JOB)
    assert job is not None
    assert job.reason == "a�b"
