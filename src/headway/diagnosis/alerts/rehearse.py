"""How often a rule would have fired, and in how many messages it would have been told: its condition held against the
past by the rules of the present.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from headway.diagnosis.alerts.judge import Seen, judge_facts
from headway.diagnosis.alerts.telling import GATHER, PAUSE
from headway.domain.alert import AlertRecord, AlertRule, Comparison

Past = Sequence[tuple[datetime, float]]
"""One subject's values over time, oldest first; each stands until the next."""


def firings(rule: AlertRule, past: Past, until: datetime) -> list[datetime]:
    """When the condition had held for as long as the rule says; the last value stands until `until`."""
    times: list[datetime] = []
    began: datetime | None = None
    for at, value in past:
        if not rule.holds(value):
            if began is not None and began + rule.lasting < at:
                times.append(began + rule.lasting)
            began = None
        elif began is None:
            began = at
    if began is not None and began + rule.lasting <= until:
        times.append(began + rule.lasting)
    return times


def firing_of_age(rule: AlertRule, began: datetime, ended: datetime) -> datetime | None:
    """When it would have fired on what grew by a second a second from `began` to `ended`, as a wait does."""
    crosses = began + timedelta(seconds=rule.threshold)
    holds, over = (max(began, crosses), ended) if rule.comparison is Comparison.ABOVE else (began, min(crosses, ended))
    fires = holds + rule.lasting
    return fires if fires < over else None


def firings_of_facts(rule: AlertRule, told: Iterable[Seen]) -> list[datetime]:
    """When it would have fired on these facts, in their order; one that lasts fires anew only once it was over."""
    times: list[datetime] = []
    standing: dict[str, AlertRecord] = {}
    for fact in told:
        judged = judge_facts([rule], list(standing.values()), [fact])
        for begun in judged.begun:
            times.append(begun.at)
            if not begun.over:
                standing[begun.subject.key] = AlertRecord("", rule.name, begun.subject, begun.at, begun.at)
        for moved in judged.moved:
            standing.pop(moved.record.subject.key, None)
    return times


def highest(series: Mapping[object, Past]) -> list[tuple[datetime, float]]:
    """The highest of several series at each moment that any of them changes; each value stands until its next."""
    latest: dict[object, float] = {}
    found: dict[datetime, float] = {}
    changes = sorted((at, number) for number, past in enumerate(series.values()) for at, _ in past)
    values = [dict(past) for past in series.values()]
    for at, number in changes:
        latest[number] = values[number][at]
        found[at] = max(latest.values())
    return list(found.items())


def messages(times: Iterable[datetime]) -> int:
    """How many messages to one channel tell of alerts that fired at these times, gathered and paced as they are."""
    count, sent = 0, None
    for at in sorted(times):
        if sent is not None and at <= sent:
            continue
        sent = at + GATHER if sent is None else max(at + GATHER, sent + PAUSE)
        count += 1
    return count
