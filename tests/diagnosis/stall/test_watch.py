"""When a silent attempt is called stalled, and what speaks against it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.stall.signs import Activity, Patience
from headway.diagnosis.stall.watch import EARLY, Moved, Stall
from tests.diagnosis.stall.seen import FLOOR, IDLE, QUIET, WORKS, Run

SPINS = Activity(cpu_percent=100.0, card_percent=100.0, card_watts=120.0)
COMPUTES = Activity(cpu_percent=100.0, card_percent=95.0, card_watts=500.0)


def test_silence_of_the_floors_length_with_idle_ranks_is_a_stall() -> None:
    run = Run().train(20).wait(70)
    assert run.stalls == [20 + EARLY * FLOOR]
    stall = run.changes[0][1]
    assert isinstance(stall, Stall)
    assert (stall.threshold, stall.phase, stall.agreeing) == (timedelta(seconds=60), "train", ("process",))
    assert stall.at - stall.since == timedelta(seconds=54)


def test_slow_steps_make_a_patient_watch() -> None:
    assert Run().train(20, step_s=30.0).wait(134).stalls == []
    assert Run().train(20, step_s=30.0).wait(151).stalls == [600 + 135]


def test_what_moves_again_is_no_stall_any_more_and_is_told_once() -> None:
    run = Run().train(20).wait(70).train(5).wait(70)
    kinds = [type(change) for _, change in run.changes]
    assert kinds == [Stall, Moved, Stall]
    assert run.changes[1][1].since == run.changes[0][1].since


@pytest.mark.parametrize(
    "seen",
    [
        {"ranks": {0: IDLE, 1: WORKS}},
        {"ranks": {0: replace(IDLE, file_bytes_per_s=5e6), 1: IDLE}},
        {"ranks": {0: replace(IDLE, uninterruptible=True), 1: IDLE}, "disk_bytes_per_s": 2e7},
        {"ranks": {}},
        {"ranks": {0: Activity(), 1: Activity()}},
        {"prints": 10},
        {"heard": False},
        {"network_bytes_per_s": 5e6},
    ],
    ids=lambda seen: ",".join(seen),
)
def test_no_stall_while_anything_works_or_nothing_is_known(seen: dict[str, object]) -> None:
    run = Run().train(20, network_bytes_per_s=1e7).wait(1800, **seen)  # type: ignore[arg-type]
    assert run.stalls == []


def test_a_stopped_process_speaks_louder_than_its_busy_peers() -> None:
    ranks = {0: WORKS, 1: replace(IDLE, stopped=True)}
    assert Run().train(20).wait(61, ranks).stalls == [74]


def test_a_process_held_by_a_silent_disk_agrees() -> None:
    ranks = {0: IDLE, 1: replace(IDLE, uninterruptible=True)}
    assert Run().train(20).wait(61, ranks, disk_bytes_per_s=10.0).stalls == [74]


def test_a_process_held_by_a_file_system_elsewhere_agrees_however_busy_the_disks_here_are() -> None:
    ranks = {0: IDLE, 1: replace(IDLE, uninterruptible=True, remote=True)}
    assert Run().train(20).wait(61, ranks, disk_bytes_per_s=2e7).stalls == [74]


def test_cards_that_poll_for_their_peers_draw_little_and_agree() -> None:
    run = Run()
    for _ in range(20):
        run.train(1)
        run.watch._usual._note("watts 0", 500.0)
        run.watch._usual._note("watts 1", 500.0)
    run.wait(61, {0: SPINS, 1: SPINS})
    assert run.stalls == [74]
    assert run.changes[0][1].agreeing == ("card",)  # type: ignore[union-attr]
    run.train(1).wait(600, {0: SPINS, 1: COMPUTES})
    assert run.stalls == [74]


def test_a_silent_network_alone_agrees_where_nothing_else_is_known() -> None:
    run = Run().train(20, network_bytes_per_s=1e7).wait(61, {}, network_bytes_per_s=100.0)
    assert run.stalls == [74]
    assert run.changes[0][1].agreeing == ("network",)  # type: ignore[union-attr]


@pytest.mark.parametrize("phase", ["evaluate", "save", "compile", "tokenise", "anything"])
def test_a_phase_that_was_told_is_left_in_peace_for_half_an_hour(phase: str) -> None:
    assert Run().train(20).wait(1610, phase=phase).stalls == []
    assert Run().train(20).wait(4000, phase=phase).stalls != []


def test_a_phase_that_took_long_before_may_take_long_again() -> None:
    run = Run().train(20).wait(1200, {0: WORKS}, phase="evaluate").train(20).wait(5300, phase="evaluate")
    assert run.stalls == []


def test_a_phase_that_was_never_left_ends_with_the_steps_that_follow() -> None:
    run = Run().train(20).train(20, phase="evaluate").wait(61, phase="evaluate")
    assert len(run.stalls) == 1


def test_before_a_rhythm_is_learnt_a_quarter_of_an_hour_must_pass() -> None:
    assert Run().wait(809).stalls == []
    assert Run().wait(901).stalls == [810]
    assert Run().train(5).wait(800).stalls == []


def test_a_pause_it_came_out_of_by_itself_may_come_again() -> None:
    run = Run().train(20).wait(100, {0: WORKS}).train(20).wait(134)
    assert run.stalls == []
    assert len(run.wait(10).stalls) == 1


def test_time_in_which_nobody_is_heard_does_not_count() -> None:
    run = Run().train(20).wait(50).wait(500, heard=False).wait(3)
    assert run.stalls == []
    assert len(run.wait(40).stalls) == 1


def test_a_site_may_be_less_patient() -> None:
    patience = Patience(floor=timedelta(seconds=5))
    assert Run(patience).train(20, step_s=0.2).wait(10).stalls == [9]


def test_steps_that_take_twice_as_long_are_noticed() -> None:
    run = Run().train(30)
    assert not run.watch.has_slowed
    assert run.train(5, step_s=3.0).watch.has_slowed


@given(
    pace=st.floats(0.2, 20),
    pauses=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 53)), max_size=10),
)
def test_pauses_below_the_floor_are_never_stalls(pace: float, pauses: list[tuple[int, int]]) -> None:
    run = Run().train(10, pace)
    for steps, seconds in pauses:
        run.train(steps, pace).wait(seconds)
    assert run.stalls == []


@given(pace=st.floats(0.2, 100), steps=st.integers(10, 40))
def test_a_hang_is_called_at_its_limit_and_never_before(pace: float, steps: int) -> None:
    run = Run().train(steps, pace)
    limit = max(FLOOR, 5 * pace)
    run.wait(limit + 2)
    assert len(run.stalls) == 1
    assert EARLY * limit - 1e-6 <= run.stalls[0] - steps * pace <= EARLY * limit + 1


@given(st.data())
def test_whatever_is_seen_a_stall_begins_and_ends_by_turns(data: st.DataObject) -> None:
    run = Run()
    for _ in range(data.draw(st.integers(1, 8))):
        if data.draw(st.booleans()):
            run.train(data.draw(st.integers(1, 12)), data.draw(st.floats(0.1, 30)))
        else:
            ranks = data.draw(st.sampled_from([QUIET, {0: WORKS}, {}, {0: replace(IDLE, stopped=True)}]))
            run.wait(data.draw(st.integers(1, 200)), ranks, phase=data.draw(st.sampled_from([None, "save"])))
    kinds = [isinstance(change, Stall) for _, change in run.changes]
    assert kinds == [position % 2 == 0 for position in range(len(kinds))]
