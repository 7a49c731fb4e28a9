"""What was submitted in the last days comes again in forecasts."""

from datetime import timedelta

from sqlalchemy import Connection

from headway.domain.job import JobKind
from headway.domain.lifecycle import JobState
from headway.scheduler.forecast import forecast
from headway.store import jobs, nodes, past, snapshot
from tests.store.rows import a_job, a_node, a_spec, later, with_projects

HOUR, DAY = 3600.0, 86400.0


def _submissions(c: Connection, days: int) -> None:
    with_projects(c)
    for number in range(days * 24):
        job = a_job(f"j-{number:08}", (number - days * 24) * HOUR, state=JobState.SUCCEEDED, attempts=1)
        jobs.insert(c, job)


def test_submissions_of_the_last_days_are_expected_again_oldest_first(c: Connection) -> None:
    _submissions(c, 10)
    jobs.insert(c, a_job("j-never", -HOUR, state=JobState.STOPPED))
    jobs.insert(c, a_job("j-serves", -HOUR, spec=a_spec(kind=JobKind.SERVICE), attempts=1))
    jobs.insert(c, a_job("j-waits", -1))
    coming = past.arrivals(c, later(0))
    assert len(coming) == 7 * 24 + 1
    assert coming[0].submitted_at >= later(-7 * DAY)
    assert [job.id for job in coming[-2:]] == ["j-00000239", "j-waits"]
    assert snapshot.take(c, later(0)).arrivals == coming


def test_less_than_a_day_says_nothing_of_what_is_to_come(c: Connection) -> None:
    with_projects(c)
    assert past.arrivals(c, later(0)) == ()
    jobs.insert(c, a_job("j-waits", -20 * HOUR))
    assert past.arrivals(c, later(0)) == ()
    assert len(past.arrivals(c, later(5 * HOUR))) == 1


def test_a_start_is_foretold_later_where_others_usually_come_before(c: Connection) -> None:
    """Every hour somebody of a higher class takes the cards for forty minutes."""
    _submissions(c, 3)
    nodes.put(c, [a_node("n1"), a_node("n2")], later(0))
    jobs.insert(c, a_job("j-runs", -10, state=JobState.QUEUED, spec=a_spec(limit=timedelta(minutes=40))))
    low = a_spec("low", "vision", limit=timedelta(minutes=30))
    jobs.insert(c, a_job("j-low", -5, spec=low))
    seen = snapshot.take(c, later(0))
    alone = snapshot.take(c, later(0), known=snapshot.Past(runtimes=seen.runtimes))
    assert (len(seen.arrivals) > 70, alone.arrivals) == (True, ())
    with_others, without = (forecast(s, s.runtimes)["j-low"].p90 for s in (seen, alone))  # type: ignore[index]
    assert with_others is not None
    assert without is not None
    assert with_others >= without
