"""Waits are foretold with the shorter jobs that come later and are put before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.scheduler.passing import KEPT, MOST, SUPPOSED, Passing

HOUR, DAY = 3600.0, 86400.0
SECONDS = st.floats(0, 30 * DAY)


def test_who_is_passed_waits_longer_until_nobody_can_pass_any_more() -> None:
    passing = Passing(part=0.5)
    assert passing.delayed(2 * HOUR, passable=10 * HOUR) == 4 * HOUR
    assert passing.delayed(8 * HOUR, passable=10 * HOUR) == 13 * HOUR
    assert passing.delayed(8 * HOUR, passable=0.0) == 8 * HOUR


@given(SECONDS, SECONDS, SECONDS, st.floats(0, MOST))
def test_later_in_the_run_stays_later_and_nothing_is_foretold_sooner(
    a: float, b: float, open_: float, part: float
) -> None:
    passing = Passing(part)
    first, second = sorted((a, b))
    assert first <= passing.delayed(first, open_) <= passing.delayed(second, open_) + 1e-6


def test_the_part_is_learned_from_what_came_and_one_wild_outcome_changes_little() -> None:
    passing = Passing()
    assert passing.part == SUPPOSED
    for _ in range(KEPT):
        passing.learn(wait=9 * HOUR, passable=DAY, actual=10 * HOUR)
    learned = passing.part
    assert learned == pytest.approx((SUPPOSED + 0.1) / 2)
    passing.learn(wait=0.0, passable=30 * DAY, actual=30 * DAY)
    assert passing.part == pytest.approx(learned, abs=0.02)


def test_who_could_not_be_passed_teaches_nothing() -> None:
    passing = Passing()
    passing.learn(wait=HOUR, passable=0.0, actual=9 * HOUR)
    passing.learn(wait=HOUR, passable=DAY, actual=0.0)
    assert passing.part == SUPPOSED


@given(st.lists(st.tuples(SECONDS, SECONDS, SECONDS), max_size=250))
def test_the_part_stays_within_bounds_whatever_came(outcomes: list[tuple[float, float, float]]) -> None:
    passing = Passing()
    for wait, passable, actual in outcomes:
        passing.learn(wait, passable, actual)
        assert 0 <= passing.part <= MOST
