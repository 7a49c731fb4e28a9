"""Medians with order-statistic intervals."""

import math
import statistics

import pytest
from benchmarks.intervals import median_interval, quantile
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)


def test_ten_values_are_covered_by_the_second_and_the_ninth() -> None:
    found = median_interval([float(n) for n in range(1, 11)])
    assert (found.median, found.low, found.high) == (5.5, 2.0, 9.0)
    assert found.coverage == pytest.approx(1 - 22 / 1024)


def test_fewer_than_six_values_say_how_little_they_cover() -> None:
    found = median_interval([3.0, 1.0, 2.0])
    assert (found.low, found.high, found.coverage) == (1.0, 3.0, 0.75)


@given(NUMBERS)
def test_an_interval_holds_its_median_and_lies_within_the_values(values: list[float]) -> None:
    found = median_interval(values)
    assert min(values) <= found.low <= found.median <= found.high <= max(values)
    assert found.median == statistics.median(values)
    assert found.coverage >= 0.95 or (found.low, found.high) == (min(values), max(values))


@given(NUMBERS, st.floats(0.01, 1.0))
def test_a_quantile_has_its_share_of_values_at_or_below_it(values: list[float], share: float) -> None:
    cut = quantile(values, share)
    assert cut in values
    assert sum(value <= cut for value in values) >= math.ceil(share * len(values))


def test_an_interval_across_the_target_decides_nothing() -> None:
    found = median_interval([0.9, 0.95, 1.0, 1.05, 1.1, 1.2])
    assert found.doubts(0.98) == ["the interval reaches across the target of 0.98: not decided by this run"]
    assert found.doubts(0.5) == []
