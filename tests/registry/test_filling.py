"""What others add to a file system: the growth that is not the job's own."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.registry.filling import others_rate

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def after(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def test_what_the_job_saved_and_let_go_is_not_what_others_add() -> None:
    used = [(after(0), 1000.0), (after(10), 1700.0), (after(20), 2200.0)]
    own = [(after(0), 400), (after(5), 600), (after(15), 600), (after(16), -600), (after(25), 600)]
    assert others_rate(used, own) == pytest.approx((2200 - 1000 - 600) / 1200)


def test_a_disk_that_others_clear_is_taken_to_stand_still() -> None:
    assert others_rate([(after(0), 1000.0), (after(20), 500.0)], []) == 0.0


@pytest.mark.parametrize("used", [[], [(after(0), 1.0)], [(after(0), 1.0), (after(9.9), 1000.0)]])
def test_nothing_is_foretold_from_little(used: list[tuple[datetime, float]]) -> None:
    assert others_rate(used, []) == 0.0


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 10**9)), max_size=20), st.floats(0, 1e6))
def test_a_steady_growth_is_found_whatever_the_job_saves(saves: list[tuple[int, int]], rate: float) -> None:
    own = [(after(at), size) for at, size in saves]
    ends = 1e12 + rate * 1000 * 60 + sum(size for _, size in saves)
    assert others_rate([(after(0), 1e12), (after(1000), ends)], own) == pytest.approx(rate, abs=0.01)
