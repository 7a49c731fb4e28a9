"""The advised interval loses least, learns from little, stays within its policy, and says its trade."""

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.registry.cadence import ASSUMED, Bounds, Cost, Edge, Saved, advise, best, cost_of, price
from headway.registry.failure_rate import PRIOR, Belief, Record, learn

FREE = Bounds(timedelta(seconds=1), timedelta(days=3650))
RSC = Belief(1e6, 1e6 / 6.5e-3)
costs = st.floats(0.5, 300).map(lambda s: Cost(timedelta(seconds=s), timedelta(seconds=s), 1))
rates = st.floats(0.1, 20).map(lambda r: Belief(1e6, 1e9 / r))
sizes = st.integers(1, 2048)


def seconds(s):
    return timedelta(seconds=s)


@pytest.mark.parametrize(
    ("nodes", "blocking", "minutes"),
    [(4, 0.5, 30), (4, 10, 136), (32, 60, 118), (128, 0.5, 5.4), (512, 300, 66), (1250, 10, 7.7), (1250, 300, 42)],
)
def test_youngs_table_is_met_but_for_two_thirds_of_a_save_that_daly_takes_off(nodes, blocking, minutes):
    interval = best(seconds(blocking), RSC.mtbf(nodes))
    assert interval / timedelta(minutes=1) == pytest.approx(minutes - 2 / 3 * blocking / 60, rel=0.03)


@given(rates, sizes, costs, st.floats(0.05, 20))
def test_no_other_interval_loses_noticeably_less(rate, nodes, cost, factor):
    mtbf = rate.mtbf(nodes)
    advised = advise(rate, nodes, cost, FREE).choice
    other = price(advised.interval * factor, cost, mtbf)
    assert advised.share <= other.share * 1.01


@given(rates, sizes, costs)
def test_an_interval_is_never_outside_the_policy_nor_shorter_than_its_writing(rate, nodes, cost):
    bounds = Bounds(timedelta(minutes=3), timedelta(hours=1))
    advice = advise(rate, nodes, cost, bounds)
    assert max(bounds.shortest, cost.writing) <= advice.interval <= max(bounds.longest, cost.writing)
    free = best(cost.blocking, advice.mtbf)
    assert (advice.edge is None) == (advice.interval == free)


def test_a_bound_that_holds_is_named():
    cheap = Cost(seconds(0.01), seconds(0.01), 1)
    slow = Cost(seconds(0.01), timedelta(minutes=10), 1)
    assert advise(RSC, 2048, cheap).edge is Edge.SHORTEST
    assert advise(RSC, 1, cheap, Bounds(seconds(1), timedelta(minutes=5))).edge is Edge.LONGEST
    writing = advise(RSC, 2048, slow)
    assert (writing.edge, writing.interval) == (Edge.WRITING, timedelta(minutes=10))


def test_the_trade_says_what_each_interval_costs_and_loses():
    cost = Cost(seconds(4), seconds(4), 5)
    advice = advise(RSC, 32, cost, present=timedelta(minutes=60))
    trade = {choice.interval: choice for choice in advice.trade}
    hourly = trade[timedelta(minutes=60)]
    assert advice.interval in trade
    assert list(trade) == sorted(trade)
    assert hourly.save_share == pytest.approx(4 / 3600)
    assert hourly.lost_per_fault == timedelta(minutes=30, seconds=2)
    assert advice.choice.share == min(choice.share for choice in advice.trade)


def test_writing_beyond_the_block_is_lost_at_a_fault():
    mtbf = timedelta(hours=10)
    blocked, beside = (Cost(seconds(1), seconds(written), 1) for written in (1, 61))
    apart = price(timedelta(minutes=10), beside, mtbf), price(timedelta(minutes=10), blocked, mtbf)
    assert apart[0].lost_per_fault - apart[1].lost_per_fault == seconds(60)
    assert apart[0].share - apart[1].share == pytest.approx(60 / 36000)


def test_a_present_interval_that_is_as_good_is_kept():
    cost = Cost(seconds(4), seconds(4), 5)
    fresh = advise(RSC, 32, cost)
    near, far = fresh.interval * 1.15, fresh.interval * 2
    assert advise(RSC, 32, cost, present=near).interval == near
    assert advise(RSC, 32, cost, present=near).kept
    assert advise(RSC, 32, cost, present=far).interval == fresh.interval
    outside = Bounds(timedelta(minutes=1), fresh.interval)
    assert advise(RSC, 32, cost, outside, present=near).interval == fresh.interval


def test_a_cost_is_the_median_of_the_newest_saves_without_the_first():
    saves = [Saved(seconds(60), seconds(60), first=True), *(Saved(seconds(b), seconds(9)) for b in (1, 2, 30))]
    assert cost_of(saves) == Cost(seconds(2), seconds(9), 3)
    assert cost_of(saves[:1]) == Cost(seconds(60), seconds(60), 1)
    assert cost_of([]) == ASSUMED
    old = [Saved(seconds(100), seconds(100))] * 50
    assert cost_of([*old, *[Saved(seconds(1), seconds(1))] * 20]).blocking == seconds(1)


def test_nothing_seen_leaves_the_published_rate():
    assert learn([]) == PRIOR
    assert learn([Record(0, 0.0)]).per_node_day == pytest.approx(6.5e-3)


@given(st.floats(0.1, 20), st.integers(1, 200))
def test_what_a_pool_shows_outweighs_the_published_rate(per_thousand, failures):
    belief = learn([Record(failures, failures * 1000 / per_thousand)])
    far = abs(math.log(belief.per_node_day * 1000 / per_thousand))
    assert far <= abs(math.log((failures + 0.5) / failures)) + abs(math.log(1 + 77 * per_thousand / 1000 / failures))


def test_a_job_that_breaks_often_outweighs_a_quiet_pool():
    quiet = Record(2, 5000.0)
    assert learn([quiet, Record(0, 10.0)]).per_node_day < 1e-3
    assert learn([quiet, Record(10, 10.0)]).per_node_day > 2e-3
    many = learn([Record(5000, 5_000_000.0), Record(16, 16.0)])
    assert many.per_node_day == pytest.approx(24 / 8016, rel=0.01)


@given(st.integers(0, 50), st.floats(0, 1e5))
def test_a_rate_lies_between_its_bounds(failures, node_days):
    belief = learn([Record(failures, node_days)])
    low, high = belief.between()
    assert 0 <= low < belief.per_node_day < high


def test_silence_lowers_the_rate_and_lengthens_the_interval():
    cost = Cost(seconds(10), seconds(10), 3)
    before, after = (advise(learn([Record(0, days)]), 8, cost, FREE).interval for days in (0, 2000))
    assert after > 4 * before
