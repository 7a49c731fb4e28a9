"""Facts: complete, in order, and never changed."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from headway.domain.asset_events import ServiceStopped
from headway.domain.events import Fact, JobEnded, JobSubmitted, ProgressSeen, StopRequested
from headway.domain.ids import JobId
from headway.store import facts, jobs
from headway.store.database import Database
from tests.store.rows import JOB, NOW, a_job, a_spec, with_projects

MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 (bounds)
st.register_type_strategy(datetime, MOMENTS)
st.register_type_strategy(str, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False))


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recorded=st.tuples(*[st.from_type(kind) for kind in get_args(Fact)]))
def test_every_kind_of_fact_comes_back_as_it_was(database: Database, recorded: tuple[Fact, ...]) -> None:
    recorded = tuple(_printable(fact) for fact in recorded)
    with database.write() as c:
        before = facts.last_seq(c)
        last = facts.append(c, *recorded)
        read = facts.since(c, before)
    assert [each.fact for each in read] == list(recorded)
    assert [each.seq for each in read] == list(range(before + 1, last + 1))


def test_a_loss_that_is_no_number_is_still_no_number(database: Database) -> None:
    fact = ProgressSeen(at=NOW, by="agent:n1", job=JOB, attempt=f"{JOB}.1", step=1, total=None, loss=float("nan"))  # type: ignore[arg-type]
    with database.write() as c:
        facts.append(c, fact, replace(fact, loss=float("-inf")))
        losses = [each.fact.loss for each in facts.since(c, 0) if isinstance(each.fact, ProgressSeen)]
    assert str(losses) == "[nan, -inf]"


def test_times_are_read_in_utc_whatever_zone_they_were_given_in(database: Database) -> None:
    elsewhere = NOW.astimezone(datetime.now(UTC).astimezone().tzinfo) + timedelta(0)
    with database.write() as c:
        facts.append(c, StopRequested(at=elsewhere, by="ann", job=JOB, reason="user"))
        (read,) = facts.since(c, 0)
    assert read.fact.at == NOW
    assert read.fact.at.utcoffset() == timedelta(0)


def test_facts_are_filtered_by_job_project_and_kind_in_order(database: Database) -> None:
    other = JobId("j-bbbbbbbb")
    with database.write() as c:
        with_projects(c)
        jobs.insert(c, a_job())
        jobs.insert(c, a_job(other, spec=a_spec(project="speech")))
        submitted = {"name": "train", "devices": 4}
        facts.append(
            c,
            JobSubmitted(at=NOW, by="ann", job=JOB, project="vision", **submitted),  # type: ignore[arg-type]
            JobSubmitted(at=NOW, by="bob", job=other, project="speech", **submitted),  # type: ignore[arg-type]
            StopRequested(at=NOW, by="ann", job=JOB, reason="user"),
            ServiceStopped(at=NOW, by="ann", service="vision/chat"),
            JobEnded(at=NOW, by="server", job=JOB, state="stopped", reason=None),
        )
        assert _seqs(c, job=JOB) == [1, 3, 5]
        assert _seqs(c, project="vision") == [1, 3, 4, 5]
        assert _seqs(c, project="speech") == [2]
        assert _seqs(c, kinds=["job-submitted", "job-ended"]) == [1, 2, 5]
        assert _seqs(c, kinds=[]) == []
        assert _seqs(c, after=2, limit=2) == [3, 4]
        assert facts.last_seq(c) == 5


def test_a_whole_history_is_read_whole_however_long_it_is(database: Database) -> None:
    other = JobId("j-bbbbbbbb")
    asked = [StopRequested(at=NOW, by="ann", job=JOB, reason=str(n)) for n in range(2500)]
    with database.write() as c:
        facts.append(c, *asked, StopRequested(at=NOW, by="ann", job=other, reason="other"))
        assert facts.all(c, job=JOB, kinds=[StopRequested.kind]) == asked
        assert len(facts.since(c, 0)) == 2501
        assert len(facts.since(c, 0, limit=1000)) == 1000


def test_the_newest_fact_of_a_kind_is_found_behind_any_number_of_others(database: Database) -> None:
    asked = [StopRequested(at=NOW, by="ann", job=JOB, reason=str(n)) for n in range(1200)]
    with database.write() as c:
        facts.append(c, *asked, JobEnded(at=NOW, by="server", job=JOB, state="stopped", reason=None))
        assert facts.last(c, JOB, StopRequested) == asked[-1]
        assert facts.last(c, JobId("j-bbbbbbbb"), StopRequested) is None


def test_appending_nothing_says_where_the_facts_end(database: Database) -> None:
    with database.write() as c:
        assert facts.append(c) == 0


@pytest.mark.parametrize("statement", ["UPDATE facts SET kind = 'x'", "DELETE FROM facts"])
def test_a_fact_can_neither_be_changed_nor_removed(database: Database, statement: str) -> None:
    with database.write() as c:
        facts.append(c, StopRequested(at=NOW, by="ann", job=JOB, reason="user"))
    with pytest.raises(DBAPIError, match="facts is append-only"), database.write() as c:
        c.execute(text(statement))
    with database.read() as c:
        assert _seqs(c) == [1]


def test_sqlites_replace_and_postgresqls_truncate_are_refused_too(database: Database) -> None:
    with database.write() as c:
        facts.append(c, StopRequested(at=NOW, by="ann", job=JOB, reason="user"))
    ways: Mapping[str, str] = {
        "sqlite": "INSERT OR REPLACE INTO facts (seq, kind, at, by, content) VALUES (1, 'x', '', '', '')",
        "postgresql": "TRUNCATE facts",
    }
    with pytest.raises(DBAPIError, match="facts is append-only"), database.write() as c:
        c.execute(text(ways[c.dialect.name]))


def _seqs(c: Any, after: int = 0, **filters: Any) -> list[int]:
    return [each.seq for each in facts.since(c, after, **filters)]


def _printable(fact: Fact) -> Fact:
    """PostgreSQL cannot keep NUL in the plain columns; names with it are refused at the door."""
    plain = {
        name: value.replace("\x00", "") for name in ("by", "job", "project") if (value := getattr(fact, name, None))
    }
    return replace(fact, **plain)
