"""When rules fire and when they are over."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.alerts.judge import Gauge, Seen, judge_facts, judge_gauges
from headway.diagnosis.alerts.rehearse import firings
from headway.domain.alert import AlertRecord, AlertRule, Comparison, Scope, Subject
from tests.builders import HOUR, MINUTE, NOW

JOB = Subject("job", "j-1", "nlp")


def a_rule(watches: str = "queue-wait", **fields: Any) -> AlertRule:
    return AlertRule(
        **({"name": "long", "watches": watches, "author": "ann", "created_at": NOW, "threshold": 60.0} | fields)
    )


def a_gauge(value: float, subject: Subject = JOB, name: str = "queue-wait") -> Gauge:
    return Gauge(name, subject, value)


class Desk:
    """What the server does with a judgement, in memory."""

    def __init__(self, *rules: AlertRule) -> None:
        self.rules = rules
        self.records: list[AlertRecord] = []

    @property
    def open(self) -> list[AlertRecord]:
        return [record for record in self.records if record.ended_at is None]

    @property
    def fired(self) -> list[AlertRecord]:
        return [record for record in self.records if record.fired_at is not None]

    def turn(self, now: datetime, *gauges: Gauge) -> None:
        judged = judge_gauges(self.rules, self.open, gauges, now)
        for begun in judged.begun:
            fired_at = begun.at if begun.fired else None
            record = AlertRecord(f"a{len(self.records)}", begun.rule.name, begun.subject, begun.at, fired_at)
            self.records.append(replace(record, value=begun.value, worst=begun.value))
        for moved in judged.moved:
            self.records.remove(moved.record)
            if moved.over and moved.record.fired_at is None:
                continue
            fired_at = moved.at if moved.fires else moved.record.fired_at
            ended_at = moved.at if moved.over else None
            self.records.append(replace(moved.record, fired_at=fired_at, ended_at=ended_at, worst=moved.worst))


def test_a_condition_fires_once_it_has_held_for_long_enough_and_ends_with_it() -> None:
    desk = Desk(a_rule(lasting=5 * MINUTE))
    for minute in range(8):
        desk.turn(NOW + minute * MINUTE, a_gauge(100.0 + minute))
    (record,) = desk.fired
    assert (record.began, record.fired_at, record.ended_at) == (NOW, NOW + 5 * MINUTE, None)
    desk.turn(NOW + 9 * MINUTE, a_gauge(10.0))
    (record,) = desk.fired
    assert record.ended_at == NOW + 9 * MINUTE


def test_what_recovers_in_time_never_fires() -> None:
    desk = Desk(a_rule(lasting=5 * MINUTE))
    for minute, value in enumerate((100.0, 100.0, 10.0, 100.0, 100.0)):
        desk.turn(NOW + 2 * minute * MINUTE, a_gauge(value))
    assert desk.fired == []


def test_a_subject_that_is_gone_ends_its_alert() -> None:
    desk = Desk(a_rule())
    desk.turn(NOW, a_gauge(100.0))
    desk.turn(NOW + MINUTE)
    assert [record.ended_at for record in desk.fired] == [NOW + MINUTE]


def test_nan_is_on_no_side() -> None:
    desk = Desk(a_rule(), a_rule(name="low", comparison=Comparison.BELOW))
    desk.turn(NOW, a_gauge(float("nan")))
    assert desk.records == []


def test_only_the_scope_is_looked_at() -> None:
    other = Subject("job", "j-2", "vision")
    desk = Desk(a_rule(scope=Scope(project="nlp")), a_rule(name="one", scope=Scope(job="j-2")))
    desk.turn(NOW, a_gauge(100.0), a_gauge(100.0, other))
    assert {(record.rule, record.subject.name) for record in desk.fired} == {("long", "j-1"), ("one", "j-2")}


@given(st.lists(st.sampled_from([0.0, 100.0]), min_size=1, max_size=30), st.integers(0, 5))
def test_turning_again_changes_nothing_and_the_past_fires_as_the_present_did(values: list[float], lasting: int) -> None:
    rule = a_rule(lasting=lasting * MINUTE)
    desk = Desk(rule)
    times = [NOW + n * MINUTE for n in range(len(values))]
    for at, value in zip(times, values, strict=True):
        desk.turn(at, a_gauge(value))
        before = list(desk.records)
        desk.turn(at, a_gauge(value))
        assert desk.records == before
    assert len(desk.open) == (values[-1] > rule.threshold)
    # Each value stands until the next, so that the past knows a moment more than a turn at that moment did.
    assert len(firings(rule, list(zip(times, values, strict=True)), times[-1])) >= len(desk.fired)


def test_a_fact_is_over_at_once_unless_it_lasts() -> None:
    rules = [a_rule("fact:job-ended", threshold=0.0), a_rule("fact:stalled", name="stall", threshold=0.0)]
    seen = [Seen("stalled", JOB, NOW), Seen("stalled", JOB, NOW + MINUTE), Seen("job-ended", JOB, NOW + HOUR)]
    judged = judge_facts(rules, [], seen)
    assert [(begun.rule.name, begun.at, begun.over) for begun in judged.begun] == [
        ("long", NOW + HOUR, True),
        ("stall", NOW, False),
    ]
    standing = AlertRecord("a1", "stall", JOB, NOW, NOW)
    judged = judge_facts(rules, [standing], [Seen("moving", JOB, NOW + HOUR)])
    assert [(moved.record, moved.at, moved.over) for moved in judged.moved] == [(standing, NOW + HOUR, True)]


def test_a_stall_that_began_and_ended_in_one_turn_is_on_record() -> None:
    rule = a_rule("fact:stalled", threshold=0.0)
    judged = judge_facts([rule], [], [Seen("stalled", JOB, NOW), Seen("moving", JOB, NOW + timedelta(seconds=1))])
    assert [(begun.at, begun.over) for begun in judged.begun] == [(NOW, True)]


def test_a_rule_about_a_node_hears_facts_that_name_it() -> None:
    rule = a_rule("fact:agent-lost", threshold=0.0, scope=Scope(node="n2"))
    seen = [Seen("agent-lost", JOB, NOW, "n1"), Seen("agent-lost", JOB, NOW, "n2")]
    assert len(judge_facts([rule], [], seen[:1]).begun) == 0
    assert len(judge_facts([rule], [], seen).begun) == 1
