"""How much a node fails beyond its pool's norm."""

import random
from math import isclose

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.cases.suspicion import TIMES_THE_NORM, Level, Record, norm_of, suspect

faults = st.integers(0, 60)
days = st.floats(0, 5000)
records = st.builds(Record, faults, days)
HEALTHY_POOL = Record(faults=10, days=2000)


def test_one_fault_proves_nothing() -> None:
    assert suspect(Record(1, 1), HEALTHY_POOL).level is Level.NORMAL
    assert suspect(Record(1, 0), Record()).level is Level.NORMAL


def test_two_faults_in_days_are_worth_a_look_and_three_a_retest() -> None:
    assert suspect(Record(2, 3), HEALTHY_POOL).level is Level.WATCH
    assert suspect(Record(3, 3), HEALTHY_POOL).level is Level.SUSPECT


def test_three_faults_over_a_long_healthy_life_are_the_norm() -> None:
    assert suspect(Record(3, 600), HEALTHY_POOL).level is Level.NORMAL


def test_where_everything_fails_nobody_stands_out() -> None:
    assert suspect(Record(3, 3), Record(faults=1000, days=1000)).level is Level.NORMAL


@given(faults, days, records)
def test_another_fault_never_makes_a_node_less_suspect(count: int, length: float, others: Record) -> None:
    assert suspect(Record(count + 1, length), others).score >= suspect(Record(count, length), others).score


@given(faults, days, st.floats(0, 1000), records)
def test_more_days_without_a_fault_never_make_it_more_suspect(
    count: int, length: float, more: float, others: Record
) -> None:
    before, after = suspect(Record(count, length), others), suspect(Record(count, length + more), others)
    assert after.score <= before.score + 1e-12
    assert 0 <= after.score <= 1


def test_the_score_is_the_posterior_probability() -> None:
    """By drawing from the Gamma posterior, with a seed."""
    own, draw = Record(4, 120.0), random.Random(7)
    norm = norm_of(HEALTHY_POOL)
    shape, scale = 1 + own.faults, 1 / (1 / norm + own.days)
    above = sum(draw.gammavariate(shape, scale) > TIMES_THE_NORM * norm for _ in range(40_000)) / 40_000
    assert isclose(suspect(own, HEALTHY_POOL).score, above, abs_tol=0.01)
