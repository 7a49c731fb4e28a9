"""When to plan again although nothing was recorded."""

from dataclasses import replace
from datetime import timedelta

import pytest

from headway.domain.quota import Grant
from headway.scheduler.moments import next_moment
from headway.scheduler.policy import Policy
from headway.scheduler.snapshot import Hold, QueuedJob, RunningJob, Snapshot, Window
from tests.builders import HOUR, NOW, a_node, a_queued, a_running, a_snapshot, placements

MINUTE = timedelta(minutes=1)
QUOTAS = {("vision", "h200"): 4, ("nlp", "h200"): 4}
MIN_RUN = Policy().min_run
YOUNG = a_running("young", {"n1": (0, 1, 2, 3, 4, 5)}, ran=10 * MINUTE)
WAITS = a_queued("waits", devices=4, project="nlp")


def snapshot_of(*running: RunningJob, queued: tuple[QueuedJob, ...] = (WAITS,)) -> Snapshot:
    return a_snapshot([a_node("n1", 8)], queued, running, quotas=QUOTAS)


def test_a_borrower_is_looked_at_again_when_it_has_had_its_minimum_run_time() -> None:
    old = replace(a_running("old", {"n1": (6, 7)}, ran=2 * HOUR))
    assert next_moment(snapshot_of(YOUNG, old)) == YOUNG.placed_at + MIN_RUN


def test_who_cannot_be_reclaimed_brings_no_moment() -> None:
    within = a_running("within", {"n1": (0, 1, 2, 3)}, ran=10 * MINUTE)
    assert next_moment(snapshot_of(within)) is None
    for change in ({"protected": True}, {"stopping": True}, {"placed_at": NOW - HOUR}):
        assert next_moment(snapshot_of(replace(YOUNG, **change))) is None
    assert next_moment(replace(snapshot_of(YOUNG), policy=Policy(reclaim=False))) is None


def test_nobody_waits_nothing_is_planned_again() -> None:
    assert next_moment(snapshot_of(YOUNG, queued=())) is None


@pytest.mark.parametrize("minutes", [5, 25])
def test_the_first_of_all_moments_counts_and_what_is_past_does_not(minutes: int) -> None:
    at = NOW + minutes * MINUTE
    present = snapshot_of(YOUNG)
    changed = [
        replace(present, queued=(replace(WAITS, not_before=at),)),
        replace(present, holds=(Hold(WAITS.id, "h200", placements({"n1": (7,)}), at),)),
        replace(present, windows=(Window("cooling", NOW - HOUR, at),)),
        replace(present, grants=(Grant("nlp", "h200", 2, at, at + HOUR),)),
        replace(present, grants=(Grant("nlp", "h200", 2, NOW - HOUR, at),)),
    ]
    assert {next_moment(each) for each in changed} == {min(at, YOUNG.placed_at + MIN_RUN)}
