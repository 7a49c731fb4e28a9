"""What differs between versions, which checkpoints may go, and how often to save."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.ids import AttemptId, JobId
from headway.domain.version import Lineage, ModelVersion
from headway.registry.cadence import advise, daly, mean_time_between_failures, young
from headway.registry.lineage import Difference, differences, same_weights
from headway.registry.retention import expendable

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)
JOB, ATTEMPT = JobId("j-22222222"), AttemptId("j-22222222.1")
VERIFIED, SAVED = CheckpointState.VERIFIED, CheckpointState.SAVED
LINEAGE = Lineage(
    JOB, ATTEMPT, 80, "/ckpt/step-80", "sha256:c", "tiny-gpt", {"lr": "1e-3", "wd": "0"}, "stdlib@1", "sha256:d", "abc",
    {"torch": "2.13.0"},
)  # fmt: skip
VERSION = ModelVersion("gpt", 1, "llm", "/models/gpt/1", "sha256:w", 1000, NOON, "ann", LINEAGE)


def test_a_version_differs_from_itself_in_nothing_and_a_copy_has_the_same_weights():
    moved = replace(VERSION, number=2, path="/elsewhere", created_by="bo")
    assert differences(VERSION, moved) == ()
    assert same_weights(VERSION, moved)


def test_differences_are_named_down_to_the_parameter_and_the_library():
    lineage = replace(LINEAGE, step=120, parameters={"lr": "2e-3", "seed": "7"}, environment={"torch": "2.14.0"})
    other = replace(VERSION, number=2, digest="sha256:x", lineage=lineage)
    assert not same_weights(VERSION, other)
    assert differences(VERSION, other) == (
        Difference("digest", "sha256:w", "sha256:x"),
        Difference("step", 80, 120),
        Difference("parameters.lr", "1e-3", "2e-3"),
        Difference("parameters.wd", "0", None),
        Difference("environment.torch", "2.13.0", "2.14.0"),
        Difference("parameters.seed", None, "7"),
    )


def a_checkpoint(step, state=VERIFIED, path=None, saved=0):
    return Checkpoint(JOB, ATTEMPT, step, path or f"/ckpt/step-{step}", 1, 0.1, NOON + timedelta(seconds=saved), state)


def paths(checkpoints):
    return [each.path.removeprefix("/ckpt/step-") for each in checkpoints]


def test_the_last_ones_stay_and_older_ones_go_oldest_first():
    assert paths(expendable([a_checkpoint(step) for step in (30, 10, 40, 20)], 2, ())) == ["10", "20"]


def test_what_somebody_needs_stays():
    assert paths(expendable([a_checkpoint(step) for step in (10, 20, 30, 40)], 1, {"/ckpt/step-10"})) == ["20", "30"]


def test_the_newest_verified_one_stays_and_so_does_what_is_newer():
    found = [a_checkpoint(10), a_checkpoint(20), a_checkpoint(30, SAVED), a_checkpoint(40, SAVED)]
    assert paths(expendable(found, 0, ())) == ["10"]


def test_rejected_ones_go_only_when_something_is_verified():
    rejected = a_checkpoint(30, CheckpointState.REJECTED)
    assert expendable([a_checkpoint(10, SAVED), rejected], 0, ()) == ()
    assert paths(expendable([a_checkpoint(20), rejected], 5, ())) == ["30"]


def test_a_path_saved_again_by_a_later_attempt_stays_with_its_newest_record():
    old, new = a_checkpoint(20, path="/ckpt/step-20"), a_checkpoint(20, path="/ckpt/step-20", saved=60)
    assert paths(expendable([a_checkpoint(10), old, new], 1, ())) == ["10"]


checkpoints = st.builds(
    a_checkpoint, st.integers(0, 20), st.sampled_from(CheckpointState), st.none(), st.integers(0, 99)
)


@given(st.lists(checkpoints, max_size=15), st.integers(0, 6), st.sets(st.integers(0, 20)))
def test_whatever_goes_a_resume_still_finds_the_newest_verified_one_and_nothing_needed_goes(found, keep, wanted):
    needed = {f"/ckpt/step-{step}" for step in wanted}
    gone = {each.path for each in expendable(found, keep, needed)}
    verified = [each for each in found if each.state is VERIFIED]
    newest = max(verified, key=lambda each: (each.step, each.saved_at), default=None)
    assert not gone & needed
    assert newest is None or newest.path not in gone
    assert not gone or newest is not None
    restorable = {each.path for each in found if each.state in (VERIFIED, SAVED)}
    assert len(restorable - gone) >= min(1 if keep else 0, len(restorable))


@pytest.mark.parametrize(
    ("save_s", "mtbf_h", "minutes"),
    [(0.5, 923, 30), (10, 115, 48), (60, 28.8, 59), (300, 2.954, 42)],
)
def test_young_is_the_square_root_of_twice_save_times_mean_time(save_s, mtbf_h, minutes):
    found = young(timedelta(seconds=save_s), timedelta(hours=mtbf_h))
    assert found / timedelta(minutes=1) == pytest.approx(minutes, rel=0.02)


@pytest.mark.parametrize(("save_s", "mtbf_h"), [(0.5, 923), (60, 28.8), (300, 3), (1800, 3)])
def test_daly_is_the_optimum_of_the_exact_cost_to_within_two_percent(save_s, mtbf_h):
    mtbf_s = mtbf_h * 3600
    step = daly(timedelta(seconds=save_s), timedelta(hours=mtbf_h)).total_seconds()
    tried = [step * (0.5 + 0.001 * n) for n in range(1500)]
    optimum = min(tried, key=lambda t: math.expm1((t + save_s) / mtbf_s) / t)
    assert step == pytest.approx(optimum, rel=0.02)


def test_a_save_longer_than_failures_are_apart_leaves_the_mean_time_itself():
    assert daly(timedelta(hours=3), timedelta(hours=1)) == timedelta(hours=1)


def test_more_nodes_fail_sooner_and_no_failure_is_unknown():
    assert mean_time_between_failures(timedelta(days=100), 2, 5) == timedelta(days=10)
    assert mean_time_between_failures(timedelta(days=100), 0, 5) is None


@given(st.integers(1, 600), st.integers(24, 10_000), st.integers(1, 60))
def test_advice_is_whole_steps_whose_trade_is_never_worse_than_half_or_twice_the_interval(save_s, mtbf_h, step_s):
    save, mtbf = timedelta(seconds=save_s), timedelta(hours=mtbf_h)
    advice = advise(save, mtbf, timedelta(seconds=step_s))
    assert advice.interval == advice.interval_steps * timedelta(seconds=step_s)
    assert advice.interval - timedelta(seconds=step_s) < daly(save, mtbf) <= advice.interval
    best = daly(save, mtbf)
    costs = [save / interval + interval / (2 * mtbf) for interval in (best, best / 2, best * 2)]
    assert costs[0] == min(costs)
    assert 0 < advice.redoing_share <= 1
    assert 0 < advice.saving_share < 1
