"""What another interval would have cost, against a run that is played step by step."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.registry.cadence import ASSUMED, Cost
from headway.registry.losses import IntervalCost, Run, compared, cost_of, sum_up, usual_interval

SECOND = Cost(timedelta(seconds=1), timedelta(seconds=1), saves=3)


def played(run: Run, every: int, save_s: float) -> tuple[int, int, float]:
    """Steps lost, saves and device-seconds of a run that saves at every multiple of `every`, one step after another."""
    saved, saves, clock = run.began, 0, 0.0
    for step in range(run.began + 1, run.broke + 1):
        if step % every == 0:
            saved, saves, clock = step, saves + 1, clock + save_s
    lost = run.broke - saved
    return lost, saves, (lost * run.step_s + clock) * run.devices


runs = st.builds(
    lambda began, more, devices, step_s: Run(began, began + more, devices, step_s),
    st.integers(0, 300),
    st.integers(0, 300),
    st.integers(1, 64),
    st.floats(0.01, 10),
)


@given(runs, st.integers(1, 200), st.floats(0, 100))
def test_an_interval_costs_what_a_run_with_it_would_have_cost(run: Run, every: int, save_s: float) -> None:
    cost = cost_of([run], every, save_s)
    lost, saves, device_seconds = played(run, every, save_s)
    assert (cost.lost_steps, cost.saves) == (lost, saves)
    assert abs(cost.device_seconds - device_seconds) <= 1e-6 * max(1.0, device_seconds)


def test_runs_of_one_job_are_summed() -> None:
    runs = [Run(0, 250, 8, 0.5), Run(200, 330, 8, 0.5)]
    assert cost_of(runs, 100, 2.0) == IntervalCost(100, 80, 3, 320.0, 48.0)


def test_the_neighbours_of_the_interval_in_use_are_compared() -> None:
    assert [cost.every_steps for cost in compared([Run(0, 90, 1, 1.0)], 20, 1.0)] == [5, 10, 20, 40, 80]
    assert [cost.every_steps for cost in compared([Run(0, 90, 1, 1.0)], 1, 1.0)] == [1, 2, 4]


def test_nothing_is_compared_before_pace_and_interval_are_known() -> None:
    assert sum_up([], [], 20, SECOND).intervals == ()
    assert sum_up([], [Run(0, 90, 1, 1.0)], None, SECOND).intervals == ()


def test_the_usual_interval_is_the_middle_of_what_was_done() -> None:
    assert usual_interval([20, 40, 60, 61, 80]) == 20
    assert usual_interval([40, 40]) is None


def test_a_save_costs_what_the_advice_takes_it_to_cost_and_nothing_before_one_was_measured() -> None:
    runs = [Run(0, 90, 1, 1.0)]
    assert sum_up([], runs, 20, SECOND).save_s == 1.0
    assert [cost.saving_device_seconds for cost in sum_up([], runs, 20, SECOND).intervals] == [18, 9, 4, 2, 1]
    unmeasured = sum_up([], runs, 20, ASSUMED)
    assert (unmeasured.save_s, {cost.saving_device_seconds for cost in unmeasured.intervals}) == (None, {0.0})
