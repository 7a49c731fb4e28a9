"""The pace of an attempt and the time it still takes."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.progress import Rate, Sample, rate
from tests.diagnosis.builders import after


def reports(*points):
    return [Sample(after(seconds), step) for seconds, step in points]


def test_a_steady_pace_gives_its_rate_and_the_time_left():
    found = rate(reports(*((second * 2, second * 10) for second in range(10))), total=190)
    assert (found.steps_per_s, found.left) == (pytest.approx(5), timedelta(seconds=20))


@pytest.mark.parametrize("points", [(), ((0, 5),), ((0, 5), (9, 5)), ((3, 5), (3, 6)), ((0, 50), (1, 40))])
def test_without_a_step_in_some_time_the_rate_is_unknown(points):
    assert rate(reports(*points), total=100) == Rate(None, None)


def test_without_a_total_the_time_left_is_unknown():
    assert rate(reports((0, 0), (1, 1))).left is None


def test_a_pause_for_a_checkpoint_does_not_bend_the_rate():
    points = [(0, 0), (1, 1), (2, 2), (62, 3), (63, 4), (64, 5)]
    assert rate(reports(*points)).steps_per_s == pytest.approx(1)


def test_after_a_resume_only_the_new_pace_counts():
    points = [(0, 0), (1, 10), (2, 20), (30, 15), (31, 17), (32, 19)]
    assert rate(reports(*points)).steps_per_s == pytest.approx(2)


@pytest.mark.parametrize("total", [10**12, 2**53])
def test_a_total_beyond_every_calendar_leaves_the_time_left_unknown(total):
    assert rate(reports((0, 0), (1, 1)), total=total) == Rate(1.0, None)


def test_a_job_past_its_total_has_no_time_left():
    assert rate(reports((0, 0), (1, 10)), total=5).left == timedelta(0)


@given(
    pace=st.integers(1, 1000),
    gaps=st.lists(st.integers(1, 50), min_size=1, max_size=60),
    repeats=st.lists(st.integers(0, 59), max_size=10),
)
def test_however_reports_are_spaced_or_repeated_a_constant_pace_is_found(pace, gaps, repeats):
    samples = reports((0, 0))
    for index, gap in enumerate(gaps):
        samples.append(Sample(samples[-1].at + timedelta(seconds=gap), samples[-1].step + gap * pace))
        samples += [samples[-1]] * repeats.count(index)
    assert rate(samples).steps_per_s == pytest.approx(pace)
