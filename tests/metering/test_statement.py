"""A project's month, and that it equals its intervals."""

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.domain.ids import JobId
from headway.metering.entries import RESIDENT, Waiting
from headway.metering.intervals import Wait
from headway.metering.ledger import post
from headway.metering.months import Month
from headway.metering.reconcile import check, compare
from headway.metering.statement import COLUMNS, Scope, csv_lines, statement
from tests.metering.builders import NOVEMBER, SHANGHAI, an_interval, interval_lists, zones

AS_OF = datetime(2026, 12, 20, tzinfo=UTC)
SCOPE = Scope("llm", Month(2026, 11), SHANGHAI, AS_OF)


def made(intervals, waits=(), scope=SCOPE):
    """The statement when every closed interval was posted."""
    return statement(post(intervals, scope.zone), [each for each in intervals if each.end is None], waits, scope)


@given(
    interval_lists(), zones, st.integers(0, 60), st.sampled_from([Month(2026, 10), Month(2026, 11), Month(2026, 12)])
)
def test_every_figure_of_a_statement_equals_its_intervals(intervals, zone, days, month):
    scope = Scope("llm", month, zone, datetime(2026, 10, 25, tzinfo=UTC) + timedelta(days=days))
    found = made(intervals, scope=scope)
    assert check(found, intervals) == []
    assert found.device_seconds == sum(found.totals.values()) == sum(line.device_seconds for line in found.lines)


@given(interval_lists(), st.data())
def test_it_is_the_same_however_much_is_posted_already(intervals, data):
    posted = [each for each in intervals if each.end is not None and data.draw(st.booleans())]
    partly = statement(post(posted, SHANGHAI), intervals, (), SCOPE)
    assert replace(partly, as_of=AS_OF) == made(intervals)


@given(interval_lists(may_be_open=False))
def test_the_months_of_all_projects_together_are_all_there_is(intervals):
    months = [Month(2026, 10), Month(2026, 11), Month(2026, 12), Month(2027, 1)]
    stated = sum(
        made(intervals, scope=replace(SCOPE, project=project, month=month)).device_seconds
        for project in ("llm", "rl")
        for month in months
    )
    assert stated == sum(entry.device_seconds for entry in post(intervals, SHANGHAI))


@given(
    interval_lists(), st.lists(st.tuples(st.floats(-(40 * 86400), 40 * 86400), st.one_of(st.none(), st.floats(0, 9e6))))
)
def test_waiting_never_charges(intervals, spans):
    waits = []
    for begin, length in spans:
        start = NOVEMBER + timedelta(seconds=begin)
        waits.append(Wait(JobId("j-9"), "llm", start, None if length is None else start + timedelta(seconds=length)))
    with_waits = made(intervals, waits)
    assert replace(with_waits, waiting=()) == made(intervals)
    month_seconds = 30 * 86400
    assert all(0 < waiting.wait_seconds <= month_seconds * len(spans) for waiting in with_waits.waiting)


def test_a_wait_over_the_edge_of_a_month_is_cut_there():
    edge = SCOPE.month.start(SHANGHAI)
    wait = Wait(JobId("j-9"), "llm", edge - timedelta(hours=1), edge + timedelta(seconds=90.7))
    others = Wait(JobId("j-8"), "rl", edge, None)
    assert made([], [wait, others]).waiting == (Waiting(JobId("j-9"), 90),)


def test_training_and_serving_stand_apart_and_open_ones_are_marked():
    training = an_interval(NOVEMBER, 100, devices=2), an_interval(NOVEMBER, 50, number=2, devices=2)
    serving = an_interval(AS_OF - timedelta(days=60), None, job="j-3", devices=1, basis=RESIDENT)
    found = made([*training, serving])
    assert [(line.job, line.basis, line.intervals, line.open) for line in found.lines] == [
        ("j-22222222", "occupancy", 2, False),
        ("j-3", "resident", 1, True),
    ]
    assert found.totals == {"cpu/occupancy": 300, "cpu/resident": 30 * 86400}


def test_check_names_what_was_tampered_with():
    interval = an_interval(NOVEMBER, 100)
    found = made([interval])
    line = replace(found.lines[0], device_seconds=199)
    assert [(each.what, each.stated, each.measured) for each in check(replace(found, lines=(line,)), [interval])] == [
        ("j-22222222 cpu/occupancy", 199, 200)
    ]
    assert [each.what for each in check(found, [])] == ["j-22222222 cpu/occupancy", "cpu/occupancy", "device-seconds"]


def test_books_apart_by_more_than_two_seconds_a_device_are_listed_whichever_way():
    counted = {"j-22222222": 60, "j-33333333": 60, "j-44444444": 60, "j-55555555": 60}
    entries = post([an_interval(job=job, seconds=seconds, devices=2) for job, seconds in counted.items()], SHANGHAI)
    charged = {"j-22222222.1": 124, "j-33333333.1": 125, "j-44444444.1": 0, "j-99999999.1": 7}
    found = compare(entries, charged, timedelta(seconds=2))
    assert [(one.attempt, one.ledger, one.engine, one.difference) for one in found] == [
        ("j-33333333.1", 120, 125, -5),
        ("j-44444444.1", 120, 0, 120),
        ("j-55555555.1", 120, None, 120),
    ]


@given(interval_lists())
def test_the_csv_holds_the_same_figures(intervals):
    wait = Wait(JobId("j-9"), "llm", NOVEMBER, NOVEMBER + timedelta(seconds=7))
    found = made(intervals, [wait])
    header, *rows = csv.reader("".join(csv_lines(found)).splitlines())
    assert tuple(header) == COLUMNS
    assert sum(int(row[header.index("device_seconds")]) for row in rows) == found.device_seconds
    assert sum(int(row[header.index("wait_seconds")]) for row in rows) == 7
