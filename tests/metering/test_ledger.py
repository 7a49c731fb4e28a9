"""Months, intervals, waits, and the entries they are posted as."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.domain.events import AttemptWaited, JobEnded, JobSubmitted
from headway.domain.ids import AttemptId, JobId
from headway.domain.recovery_events import RecoveryDecided
from headway.metering.intervals import Wait, intervals, waits
from headway.metering.ledger import post, whole
from headway.metering.months import Month, month_of, parse_month, parse_zone
from tests.metering.builders import (
    NOVEMBER,
    SHANGHAI,
    an_interval,
    ended,
    interval_lists,
    lengths,
    moments,
    placed,
    zones,
)


@pytest.mark.parametrize("text", ["2026-13", "2026-1", "26-11", "2026-11-01", " 2026-11", "2026/11", "", "٢٠٢٦-١١"])
def test_what_is_not_a_month_is_refused_with_the_field_the_value_and_the_rule(text):
    with pytest.raises(PlatformError) as refused:
        parse_month(text)
    assert refused.value.code == "invalid-field"
    assert refused.value.params == {"field": "month", "value": text, "rule": "YYYY-MM"}


@pytest.mark.parametrize("name", ["Mars/Base", "../etc/passwd", "/etc/passwd", "America", "", "a\0b"])
def test_what_is_not_a_zone_is_refused(name):
    with pytest.raises(PlatformError, match="timezone"):
        parse_zone(name)


@given(st.integers(1000, 9998), st.integers(1, 12))
def test_a_month_reads_back_as_written_and_steps_forward_and_back(year, number):
    month = Month(year, number)
    assert parse_month(str(month)) == month
    assert month.next().previous() == month < month.next()


def test_november_in_shanghai_begins_eight_hours_before_it_does_in_utc():
    assert parse_month("2026-11").start(SHANGHAI) == datetime(2026, 10, 31, 16, tzinfo=UTC)


def test_where_the_clock_jumps_over_midnight_of_the_first_the_month_begins_at_the_jump():
    zone = ZoneInfo("America/Asuncion")
    jump = datetime(2017, 10, 1, 4, tzinfo=UTC)
    assert Month(2017, 10).start(zone) == jump
    assert month_of(jump, zone) == Month(2017, 10)
    assert month_of(jump - timedelta(seconds=1), zone) == Month(2017, 9)


@given(moments, zones)
def test_every_moment_lies_in_its_month_and_in_no_other(at, zone):
    month = month_of(at, zone)
    assert month.start(zone) <= at < month.end(zone)


@given(moments, lengths, zones, st.integers(1, 64))
def test_the_entries_of_an_interval_add_up_to_it_without_a_gap(start, seconds, zone, devices):
    interval = an_interval(start, seconds, devices=devices)
    entries = post([interval], zone)
    assert (entries[0].start, entries[-1].end) == (whole(start), whole(interval.end))
    assert all(before.end == after.start for before, after in pairwise(entries))
    total = sum(entry.device_seconds for entry in entries)
    assert total == devices * (whole(interval.end) - whole(start)).total_seconds()
    for entry in entries:
        month = parse_month(entry.month)
        assert month.start(zone) <= entry.start <= entry.end <= month.end(zone)


@given(interval_lists(), zones)
def test_posting_twice_gives_the_same_entries_under_keys_that_are_unique(found, zone):
    once, again = post(found, zone), post(found, zone)
    assert once == again
    assert len({entry.key for entry in once}) == len(once)


def test_an_open_interval_is_not_posted():
    assert post([an_interval(seconds=None)], SHANGHAI) == []


def test_an_interval_over_new_year_is_cut_at_midnight_in_shanghai():
    start = datetime(2026, 12, 31, 15, 59, 0, 900000, tzinfo=UTC)
    entries = post([an_interval(start, 119.5, devices=3)], SHANGHAI)
    assert [(entry.key, entry.device_seconds) for entry in entries] == [
        ("j-22222222.1/2026-12", 180),
        ("j-22222222.1/2027-01", 180),
    ]


@given(interval_lists(), st.randoms(use_true_random=False))
def test_facts_in_any_order_and_repeated_give_the_same_intervals(wanted, random):
    facts = [placed(interval) for interval in wanted] + [ended(interval) for interval in wanted if interval.end]
    facts += random.choices(facts, k=3) if facts else []
    random.shuffle(facts)
    assert sorted(intervals(facts), key=str) == sorted(wanted, key=str)


def test_an_end_before_its_start_takes_no_time():
    interval = an_interval(seconds=-5)
    assert intervals([placed(interval), ended(interval)])[0].end == interval.start


@pytest.mark.parametrize(("waited", "seconds"), [(20, 40), (-5, 60), (90, 0)])
def test_time_in_a_batch_systems_own_queue_is_not_charged(waited, seconds):
    interval = an_interval(seconds=60)
    until = interval.start + timedelta(seconds=waited)
    waiting = AttemptWaited(at=until, by="agent:n1", job=interval.job, attempt=interval.attempt, until=until)
    (found,) = intervals([placed(interval), waiting, ended(interval)])
    assert (found.end - found.start).total_seconds() == seconds
    assert found.end == interval.end


def _submitted(at):
    return JobSubmitted(at=at, by="ann", job=JobId("j-22222222"), project="llm", name="gpt", devices=2)


def _recovery(at, *, resume):
    return RecoveryDecided(
        at=at, by="server", job=JobId("j-22222222"), attempt=AttemptId("j-22222222.1"), resume=resume,
        resume_from=None, resume_step=0, reason="", held_until=None,
    )  # fmt: skip


def test_a_job_waits_from_its_submission_and_again_from_each_decision_to_resume():
    at = [NOVEMBER + timedelta(minutes=minute) for minute in range(6)]
    first, second = an_interval(at[1], 60), an_interval(at[4], 60, number=2)
    facts = [_submitted(at[0]), placed(first), ended(first), _recovery(at[3], resume=True), placed(second)]
    assert [(wait.start, wait.end) for wait in waits(facts)] == [(at[0], at[1]), (at[3], at[4])]


def test_a_job_that_is_not_resumed_or_has_ended_no_longer_waits():
    over = JobEnded(at=NOVEMBER + timedelta(hours=1), by="ann", job=JobId("j-22222222"), state="stopped", reason=None)
    assert waits([_submitted(NOVEMBER), over, _recovery(NOVEMBER, resume=False)]) == [
        Wait(JobId("j-22222222"), "llm", NOVEMBER, over.at)
    ]


def test_a_job_that_was_never_placed_still_waits():
    assert waits([_submitted(NOVEMBER)]) == [Wait(JobId("j-22222222"), "llm", NOVEMBER, None)]
