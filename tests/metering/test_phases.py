"""The phases of a recovery add up to it, in whatever order and by whichever clocks the facts came."""

from dataclasses import astuple, replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.domain.attempt import Outcome
from headway.domain.checkpoint import LossBill
from headway.domain.events import AttemptEnded, AttemptPlaced, AttemptStarted, Fact, RankExited, Restored
from headway.domain.ids import AttemptId, JobId
from headway.domain.recovery_events import RecoveryDecided
from headway.metering.phases import Phases, split
from tests.builders import NOW

JOB, FIRST, SECOND, THIRD = JobId("j-1"), AttemptId("j-1.1"), AttemptId("j-1.2"), AttemptId("j-1.3")
BILL = LossBill(JOB, FIRST, NOW, NOW, last_step=42, resumed_step=40, device_seconds_lost=0, resumed=SECOND)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def exited(at: float, attempt: AttemptId = FIRST, rank: int = 0, by_us: bool = False) -> RankExited:
    of = {"job": JOB, "attempt": attempt, "rank": rank, "node": "n1"}
    return RankExited(at=after(at), by="agent:n1", **of, code=None, signal=9, stopped_by_us=by_us)


def ended(at: float, attempt: AttemptId = FIRST) -> AttemptEnded:
    return AttemptEnded(at=after(at), by="server", job=JOB, attempt=attempt, outcome=Outcome.FAILED)


def decided(at: float, attempt: AttemptId = FIRST) -> RecoveryDecided:
    said = {"resume": True, "resume_from": "/c/step-40", "resume_step": 40, "reason": "transient", "held_until": None}
    return RecoveryDecided(at=after(at), by="server", job=JOB, attempt=attempt, **said)


def placed(at: float, attempt: AttemptId = SECOND) -> AttemptPlaced:
    where = {"project": "llm", "device_type": "cpu", "placements": (), "basis": "occupancy"}
    return AttemptPlaced(at=after(at), by="server", job=JOB, attempt=attempt, **where)


def started(at: float, attempt: AttemptId = SECOND) -> AttemptStarted:
    return AttemptStarted(at=after(at), by="agent:n1", job=JOB, attempt=attempt)


def restored(at: float, seconds: float, rank: int = 0, attempt: AttemptId = SECOND) -> Restored:
    of = {"job": JOB, "attempt": attempt, "rank": rank, "step": 40, "path": "/c/step-40"}
    return Restored(at=after(at), by=f"rank:{rank}", **of, seconds=seconds)


USUAL: list[Fact] = [
    exited(1),
    exited(3, rank=1, by_us=True),
    ended(4),
    decided(6),
    placed(7),
    started(9),
    restored(13, 2),
    restored(15, 3, rank=1),
]


def test_each_phase_ends_where_the_next_begins() -> None:
    bill = replace(BILL, first_step_at=after(16))
    assert split(bill, USUAL) == Phases(1, 3, 2, None, 1, 5, 3, 1)


def test_what_was_not_reached_yet_is_not_known() -> None:
    assert split(replace(BILL, resumed=None), USUAL[:4]) == Phases(1, 3, 2)


def test_without_a_load_the_start_ends_when_the_first_rank_ran() -> None:
    bill = replace(BILL, first_step_at=after(16))
    assert split(bill, USUAL[:6]) == Phases(1, 3, 2, None, 1, start=2, load=None, first_step=7)


def test_tries_between_have_a_phase_of_their_own() -> None:
    between = [exited(20, SECOND), ended(21, SECOND), decided(22, SECOND), placed(23, THIRD), started(25, THIRD)]
    bill = replace(BILL, resumed=THIRD, first_step_at=after(30))
    assert split(bill, [*USUAL, *between]) == Phases(1, 3, 2, retry=16, schedule=1, start=2, load=None, first_step=5)


def test_a_recovery_in_place_passes_no_queue() -> None:
    """Its new attempt has its devices from the end of the one before, sooner than anybody decided."""
    at_once = [*USUAL[:3], replace(decided(6), in_place=True), placed(4), *USUAL[5:]]
    phases = split(BILL, at_once)
    assert phases == replace(split(BILL, USUAL), schedule=None, start=phases.start)
    assert phases.start == 6


def test_tries_between_in_place_are_not_taken_for_the_queue() -> None:
    first = [*USUAL[:3], replace(decided(6), in_place=True), placed(4), started(9)]
    second = [exited(20, SECOND), ended(21, SECOND), replace(decided(22, SECOND), in_place=True)]
    bill = replace(BILL, resumed=THIRD, first_step_at=after(30))
    found = split(bill, [*first, *second, placed(21, THIRD), started(25, THIRD)])
    assert found == Phases(1, 3, 2, retry=16, schedule=None, start=3, load=None, first_step=5)


def test_a_load_after_the_first_step_is_another_matter() -> None:
    bill = replace(BILL, first_step_at=after(16))
    assert split(bill, [*USUAL, restored(60, 5)]) == split(bill, USUAL)


def test_a_rank_that_ended_well_or_was_stopped_detects_nothing() -> None:
    well = replace(exited(0.5, rank=2), code=0, signal=None)
    assert split(BILL, [well, exited(0.6, by_us=True), *USUAL]).detect == 1


@given(st.lists(st.floats(-30, 90), min_size=8, max_size=8), st.floats(0, 60), st.floats(0, 20))
def test_the_phases_add_up_to_the_outage_and_none_is_negative(ats: list[float], first: float, load: float) -> None:
    moved = [replace(fact, at=after(at)) for fact, at in zip(USUAL, ats, strict=True)]
    moved[-1] = replace(restored(ats[-1], load, rank=1))
    bill = replace(BILL, first_step_at=after(first))
    seconds = [each for each in astuple(split(bill, moved)) if each is not None]
    assert all(each >= 0 for each in seconds)
    assert abs(sum(seconds) - first) < 1e-3
