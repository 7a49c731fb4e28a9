"""How often a rule would have fired: as often as it does when the same past is the present."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.alerts.judge import Seen
from headway.diagnosis.alerts.rehearse import firing_of_age, firings, firings_of_facts, highest, messages
from headway.diagnosis.alerts.telling import Notice, due
from headway.domain.alert import Comparison
from tests.builders import MINUTE, NOW
from tests.diagnosis.alerts.test_judge import JOB, Desk, a_gauge, a_rule

SECOND = timedelta(seconds=1)
sides = st.sampled_from(list(Comparison))


def at(minute: float) -> datetime:
    return NOW + minute * MINUTE


def test_each_separate_time_counts_and_a_pause_shorter_than_the_rule_asks_starts_anew() -> None:
    rule = a_rule("reading:x", lasting=2 * MINUTE)
    values = [0, 90, 90, 90, 0, 90, 0, 90, 90, 90, 90]
    past = [(at(minute), float(value)) for minute, value in enumerate(values)]
    assert firings(rule, past, at(11)) == [at(3), at(9)]


def test_what_still_holds_fires_when_it_has_held_for_long_enough() -> None:
    rule = a_rule("reading:x", lasting=5 * MINUTE)
    assert firings(rule, [(at(0), 90.0)], at(4)) == []
    assert firings(rule, [(at(0), 90.0)], at(5)) == [at(5)]


@given(sides, st.integers(0, 20), st.integers(0, 10), st.integers(0, 40))
def test_a_wait_would_have_fired_when_it_does(side: Comparison, threshold: int, lasting: int, lasted: int) -> None:
    rule = a_rule(comparison=side, threshold=float(threshold), lasting=lasting * SECOND)
    desk = Desk(rule)
    for second in range(lasted):
        desk.turn(NOW + second * SECOND, a_gauge(float(second)))
    fires = firing_of_age(rule, NOW, NOW + lasted * SECOND)
    shown = [record.fired_at for record in desk.fired]
    assert bool(shown) <= (fires is not None)
    if fires is not None and shown:
        assert timedelta(0) <= shown[0] - fires <= SECOND


def test_a_fact_that_lasts_fires_anew_only_once_it_was_over() -> None:
    rule = a_rule("fact:stalled", threshold=0.0)
    kinds = ["stalled", "stalled", "moving", "stalled", "attempt-ended", "moving"]
    told = [Seen(kind, JOB, at(minute)) for minute, kind in enumerate(kinds)]
    assert firings_of_facts(rule, told) == [at(0), at(3)]
    once = a_rule("fact:job-ended", threshold=0.0)
    assert firings_of_facts(once, [Seen("job-ended", JOB, at(0)), Seen("job-ended", JOB, at(1))]) == [at(0), at(1)]


def test_cards_that_are_read_one_after_another_are_one_value_the_highest() -> None:
    hot = [(at(minute), 90.0) for minute in range(6)]
    cold = [(at(minute + 0.1), 40.0) for minute in range(6)]
    together = highest({"hot": hot, "cold": cold})
    assert {value for _, value in together} == {90.0}
    assert firings(a_rule("reading:x", lasting=3 * MINUTE), together, at(6)) == [at(3)]
    assert highest({}) == []


@given(st.lists(st.integers(0, 200), max_size=12))
def test_so_many_messages_tell_of_them_as_are_sent(seconds: list[int]) -> None:
    times = sorted(NOW + second * SECOND for second in seconds)
    waiting = [Notice(number, "ops", made, "x") for number, made in enumerate(times)]
    told_at: dict[str, datetime] = {}
    sent = 0
    for second in range(400):
        now = NOW + second * SECOND
        for message in due([notice for notice in waiting if notice.made_at <= now], told_at, now):
            waiting = [notice for notice in waiting if notice not in message.notices]
            told_at["ops"] = now
            sent += 1
    assert waiting == []
    assert messages(times) == sent
