"""The simulation counts as it says: a failure loses all but the whole periods before it."""

from random import Random

from benchmarks.cadence import Cell, lost_fixed, lost_learning, search


def test_a_failure_loses_what_no_whole_period_kept():
    assert lost_fixed([25.0], interval=9.0, blocking=1.0) == 25 - 2 * 9
    assert lost_fixed([9.5], interval=9.0, blocking=1.0) == 9.5


def test_the_search_finds_the_least_of_the_grid_it_is_given():
    gaps = [float(gap) for gap in range(50, 1000, 7)]
    interval, loss = search(gaps, blocking=2.0, mtbf=500.0)
    assert loss == lost_fixed(gaps, interval, 2.0)
    assert all(loss <= lost_fixed(gaps, interval * factor, 2.0) for factor in (0.25, 0.5, 2.0, 4.0))


def test_a_learner_comes_near_the_best_fixed_interval():
    cell = Cell(rate=2.0, blocking=30.0, nodes=64)
    random = Random(6)
    gaps = [random.expovariate(1 / cell.mtbf) for _ in range(1500)]
    assert 1.0 < lost_learning(gaps, cell) / search(gaps, 30.0, cell.mtbf)[1] < 1.05
