"""What is needed stays, whatever the policy or the disk says; the rest goes by rule, oldest first."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import CheckpointPolicy
from headway.registry.retention import THIN_BELOW, Cause, Space, Why, left_alone, retain

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
VERIFIED, SAVED, REJECTED = CheckpointState.VERIFIED, CheckpointState.SAVED, CheckpointState.REJECTED
NEEDS = (Why.VERSION, Why.RESUME, Why.PINNED)


def a_checkpoint(step, state=VERIFIED, size=100):
    saved_at = NOON + timedelta(minutes=step)
    return Checkpoint(JobId("j"), AttemptId("j.1"), step, f"/c/step-{step}", size, 1.0, saved_at, state)


def several(*steps):
    return [a_checkpoint(step) for step in steps]


def steps_of(decision):
    return [gone.step for gone, _ in decision.goes]


checkpoints = st.dictionaries(
    st.integers(0, 60), st.tuples(st.sampled_from(list(CheckpointState)), st.integers(1, 100)), max_size=20
).map(lambda made: [a_checkpoint(step, state, size) for step, (state, size) in made.items()])
policies = st.builds(
    CheckpointPolicy,
    keep=st.integers(1, 5),
    keep_every_steps=st.none() | st.integers(1, 10),
    keep_best=st.integers(0, 3),
    highest=st.booleans(),
)
spaces = st.none() | st.builds(Space, free_bytes=st.integers(0, 1000), save_bytes=st.integers(0, 200))


def test_the_last_stay_and_the_oldest_go_first():
    decision = retain(several(30, 10, 20, 40), CheckpointPolicy(keep=2))
    assert steps_of(decision) == [10, 20]
    assert decision.kept == {"/c/step-30": Why.LAST, "/c/step-40": Why.NEWEST}


def test_every_k_steps_one_stays():
    decision = retain(several(*range(10, 70, 10)), CheckpointPolicy(keep=1, keep_every_steps=20))
    assert steps_of(decision) == [10, 30, 50]


@pytest.mark.parametrize(("highest", "best"), [(False, 20), (True, 10)])
def test_the_best_by_metric_stays(highest, best):
    losses = {10: 3.0, 20: 1.0, 30: 2.0, 40: float("nan")}
    policy = CheckpointPolicy(keep=1, keep_best=1, highest=highest)
    decision = retain(several(10, 20, 30, 40), policy, metrics=losses)
    assert decision.kept == {f"/c/step-{best}": Why.BEST, "/c/step-40": Why.NEWEST}


def test_what_did_not_verify_neither_goes_nor_counts():
    made = [*several(10, 20), a_checkpoint(30, REJECTED), a_checkpoint(40, SAVED)]
    decision = retain(made, CheckpointPolicy(keep=1))
    assert steps_of(decision) == [10]
    assert decision.kept["/c/step-30"] is decision.kept["/c/step-40"] is Why.UNVERIFIED


@given(checkpoints, policies, spaces, st.lists(st.integers(0, 60), max_size=5), st.sampled_from(NEEDS))
def test_what_is_needed_never_goes_whatever_the_policy_and_the_disk_say(made, policy, space, needed, why):
    paths = {f"/c/step-{step}": why for step in needed}
    decision = retain(made, policy, paths, space=space)
    gone = {each.path for each, _ in decision.goes}
    there = {each.path: each for each in made if each.state is not CheckpointState.DELETED}
    assert not gone & paths.keys()
    assert gone | decision.kept.keys() == there.keys()
    assert not gone & decision.kept.keys()
    assert all(there[path].state is VERIFIED for path in gone)


@given(checkpoints, policies, spaces)
def test_the_newest_verified_one_never_goes(made, policy, space):
    newest = max((each.step for each in made if each.state is VERIFIED), default=None)
    assert newest not in steps_of(retain(made, policy, space=space))


@given(checkpoints, policies)
def test_deciding_again_after_the_deletes_deletes_nothing_more(made, policy):
    first = retain(made, policy)
    gone = {each.path for each, _ in first.goes}
    left = [replace(each, state=CheckpointState.DELETED) if each.path in gone else each for each in made]
    assert retain(left, policy).goes == ()


def test_a_full_disk_thins_the_last_before_every_k_before_the_best():
    policy = CheckpointPolicy(keep=2, keep_every_steps=20, keep_best=1)
    made, losses = several(10, 20, 30, 40), {10: 0.1}
    taken = [steps_of(retain(made, policy, metrics=losses, space=Space(free, 100))) for free in (200, 199, 99, -1)]
    assert taken == [[], [30], [20, 30], [10, 20, 30]]


def test_thinning_stops_as_soon_as_two_more_saves_fit():
    decision = retain(several(10, 20, 30, 40, 50), CheckpointPolicy(keep=5), space=Space(50, 100))
    assert decision.goes == tuple((each, Cause.SPACE) for each in several(10, 20))
    assert decision.short


def test_what_the_policy_lets_go_counts_before_anything_else_is_thinned():
    decision = retain(several(10, 20, 30, 40), CheckpointPolicy(keep=2), space=Space(10, 100))
    assert decision.goes == tuple((each, Cause.POLICY) for each in several(10, 20))


def test_a_disk_that_fills_is_foretold():
    space = Space(free_bytes=1000, save_bytes=100, every=timedelta(minutes=30))
    assert (space.saves_left, space.full_in) == (10, timedelta(hours=5))
    beside = replace(space, others_bytes_per_s=100 / 1800)
    assert (beside.saves_left, beside.full_in) == (5, timedelta(hours=2.5))
    assert not retain([], CheckpointPolicy(), space=beside).short
    assert retain([], CheckpointPolicy(), space=replace(beside, others_bytes_per_s=101 / 1800)).short
    assert Space(1000, 0).full_in is None
    assert retain([], CheckpointPolicy(), space=Space(100, 100)).short


@pytest.mark.parametrize(
    ("present", "saves_left", "short"),
    [(1, 4.9, True), (3, 4.0, False), (3, 3.9, True), (5, 2.0, False), (5, 1.9, True)],
)
def test_where_the_program_keeps_the_last_few_only_what_it_will_still_add_must_fit(present, saves_left, short):
    saved = several(*range(10, 10 * present + 1, 10))
    decision = left_alone(saved, CheckpointPolicy(keep=5), Space(int(1000 * saves_left), 1000))
    assert (decision.goes, decision.short) == ((), short)


def test_what_a_framework_keeps_nobody_knows_so_that_five_must_fit():
    saved = [replace(each, format="deepspeed") for each in several(10, 20, 30, 40, 50)]
    assert left_alone(saved, CheckpointPolicy(keep=5), Space(490, 100)).short
    assert not left_alone(saved, CheckpointPolicy(keep=5), None).short


@given(checkpoints, policies, st.integers(0, 1000), st.integers(1, 200))
def test_a_short_disk_is_thinned_until_it_takes_two_saves_or_nothing_may_go(made, policy, free, size):
    decision = retain(made, policy, space=Space(free, size))
    freed = sum(each.bytes for each, _ in decision.goes)
    gives_way = {Why.LAST, Why.EVERY, Why.BEST} & set(decision.kept.values())
    assert free + freed >= THIN_BELOW * size or not gives_way
