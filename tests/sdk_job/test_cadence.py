"""All ranks save at the same steps, as often as the policy asks, and talk about it rarely."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.sdk.job.cadence import Advice, Cadence, next_decision
from headway.sdk.job.environment import read_environment


class Clock:
    """Stands still until a step is made."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def saves(cadence: Cadence, clock: Clock, steps: list[float], first: int = 1) -> list[int]:
    """The steps at which a checkpoint is due when steps take so long."""
    due = []
    for step, takes in enumerate(steps, start=first):
        clock.now += takes
        if cadence.due(step):
            due.append(step)
    return due


def test_every_so_many_steps_one_is_due():
    assert saves(Cadence(3, Advice(None, None)), Clock(), [1.0] * 10) == [3, 6, 9]


def test_without_a_policy_none_is_ever_due():
    clock = Clock()
    assert saves(Cadence(None, Advice(None, None), clock), clock, [100.0] * 50) == []


@pytest.mark.parametrize(("steps", "seconds", "asks"), [(3, None, True), (None, 60.0, True), (None, None, False)])
def test_whether_anybody_asks_is_known_beforehand(steps, seconds, asks):
    assert Cadence(steps, Advice(None, seconds)).asks is asks


def test_in_time_saves_are_one_interval_apart():
    clock = Clock()
    assert saves(Cadence(None, Advice(None, 60.0), clock), clock, [1.0] * 200) == [61, 121, 181]


@given(st.floats(0.01, 30), st.floats(1, 3600))
def test_at_a_steady_pace_no_save_is_a_step_early_or_late(pace, every):
    clock = Clock()
    cadence = Cadence(None, Advice(None, every), clock)
    steps = min(3000, int(3 * every / pace) + 5)
    due = saves(cadence, clock, [pace] * steps)
    gaps = [(after - before) * pace for before, after in zip([1, *due], due, strict=False)]
    assert all(abs(gap - every) <= pace * 0.51 or gap == pace for gap in gaps)
    assert due or steps * pace < every + 2 * pace


@given(st.lists(st.floats(0.1, 10), min_size=20, max_size=300))
def test_ranks_that_hear_only_rank_0_decide_at_the_same_steps(steps):
    clock, told = Clock(), []

    class Speaking:
        def share(self, value):
            told.append(value)
            return value

    class Listening:
        heard = 0

        def share(self, _value):
            self.heard += 1
            return told[self.heard - 1]

    first = Cadence(None, Advice(None, 20.0), clock)
    first._ranks = Speaking()
    due = saves(first, clock, steps)
    other = Cadence(None, Advice(None, 20.0), Clock())
    other._ranks = Listening()
    assert saves(other, Clock(), [0.0] * len(steps)) == due
    assert other._ranks.heard == len(told)


def test_talking_is_rare():
    clock, calls = Clock(), []

    class Counting:
        def share(self, value):
            calls.append(value)
            return value

    cadence = Cadence(None, Advice(None, 1000.0), clock)
    cadence._ranks = Counting()
    saves(cadence, clock, [1.0] * 1000)
    assert len(calls) <= 15


def test_a_decision_is_never_further_ahead_than_what_was_done():
    assert next_decision(0, 0.0, 60.0) == (False, 1)
    assert next_decision(4, 4.0, 60.0) == (False, 4)
    assert next_decision(40, 40.0, 60.0) == (False, 20)
    assert next_decision(60, 60.0, 60.0) == (True, 1)


def test_a_new_advice_holds_from_the_next_decision_on(tmp_path):
    clock, path = Clock(), tmp_path / "cadence.json"
    cadence = Cadence(None, Advice(path, 60.0), clock)
    assert saves(cadence, clock, [1.0] * 70) == [61]
    path.write_text(json.dumps({"every_s": 10}))
    due = saves(cadence, clock, [1.0] * 30, first=71)
    assert due[0] <= 78
    assert due[1] - due[0] == 10


@pytest.mark.parametrize("content", ["", "{", "[]", '{"every_s": "x"}', '{"every_s": -1}', "{}"])
def test_half_an_advice_leaves_the_last_one(tmp_path, content):
    advice = Advice(tmp_path / "cadence.json", 60.0)
    (tmp_path / "cadence.json").write_text(content)
    assert advice.seconds() == 60.0


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", "inf"])
def test_an_interval_that_is_none_is_named(text):
    with pytest.raises(ValueError, match="HEADWAY_CHECKPOINT_SECONDS"):
        read_environment({"HEADWAY_CHECKPOINT_SECONDS": text})
