"""When rules fire: their conditions on measured values and on facts, held against the records that stand open.

The same values judged again change nothing, so that a turn may be repeated after a crash.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan

from headway.domain.alert import AlertRecord, AlertRule, Comparison, Subject

ENDED_BY: Mapping[str, tuple[str, ...]] = {"stalled": ("moving", "attempt-ended"), "agent-lost": ("attempt-started",)}
"""Facts that last: what ends each, for the same subject. Any other fact is over at once."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value of one subject now."""

    name: str
    subject: Subject
    value: float


@dataclass(frozen=True, slots=True)
class Seen:
    """A fact about one subject; `node`: the node it names, if it does."""

    kind: str
    subject: Subject
    at: datetime
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """A condition that began to hold; `fired`: for long enough already; `over`: as soon as it was seen."""

    rule: AlertRule
    subject: Subject
    at: datetime
    value: float | None
    fired: bool
    over: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """What becomes of an open record: it `fires`, it is `over` (one that never fired is forgotten), or it got worse."""

    record: AlertRecord
    at: datetime
    value: float | None
    worst: float | None
    fires: bool = False
    over: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """Everything that changes."""

    begun: tuple[Begun, ...] = ()
    moved: tuple[Moved, ...] = ()


def judge_gauges(
    rules: Iterable[AlertRule], open: Sequence[AlertRecord], gauges: Sequence[Gauge], now: datetime
) -> Judged:
    """Hold every rule that has a threshold against what was measured now.

    A subject that is no longer measured (its job ended, its node was taken away) has no condition left to hold.
    """
    standing = {(record.rule, record.subject.key): record for record in open}
    begun, moved = [], []
    for rule in rules:
        if rule.fact is not None:
            continue
        holding = {g.subject.key: g for g in gauges if watches(rule, g.name, g.subject) and _holds(rule, g.value)}
        for key, gauge in holding.items():
            record = standing.get((rule.name, key))
            if record is None:
                begun.append(Begun(rule, gauge.subject, now, gauge.value, fired=not rule.lasting))
            elif (change := _goes_on(rule, record, gauge.value, now)) is not None:
                moved.append(change)
        over = [r for (name, key), r in standing.items() if name == rule.name and key not in holding]
        moved += [Moved(record, now, record.value, record.worst, over=True) for record in over]
    return Judged(tuple(begun), tuple(moved))


def judge_facts(rules: Iterable[AlertRule], open: Sequence[AlertRecord], seen: Sequence[Seen]) -> Judged:
    """Hold every rule that watches facts against those that are new, in their order."""
    standing = {(record.rule, record.subject.key): record for record in open}
    fresh: dict[tuple[str, str], Begun] = {}
    done: list[Begun] = []
    moved = []
    for fact in seen:
        for rule in rules:
            key = (rule.name, fact.subject.key)
            if rule.fact is not None and fact.kind in ENDED_BY.get(rule.fact, ()):
                if key in fresh:
                    begun = fresh.pop(key)
                    done.append(Begun(rule, begun.subject, begun.at, None, fired=True, over=True))
                elif (record := standing.pop(key, None)) is not None:
                    moved.append(Moved(record, fact.at, None, None, over=True))
            elif rule.fact == fact.kind and watches(rule, rule.watches, fact.subject, fact.node):
                begun = Begun(rule, fact.subject, fact.at, None, fired=True, over=fact.kind not in ENDED_BY)
                if begun.over:
                    done.append(begun)
                elif key not in standing:
                    fresh.setdefault(key, begun)
    return Judged((*done, *fresh.values()), tuple(moved))


def watches(rule: AlertRule, name: str, subject: Subject, node: str | None = None) -> bool:
    """Whether a value or fact of this name, about this subject, is one that the rule looks at."""
    scope = rule.scope
    if rule.watches != name or (scope.project is not None and subject.project != scope.project):
        return False
    if scope.job is not None and (subject.kind, subject.name) != ("job", scope.job):
        return False
    return scope.node is None or scope.node in (node, subject.name if subject.kind == "node" else None)


def _holds(rule: AlertRule, value: float) -> bool:
    return not isnan(value) and rule.holds(value)


def _goes_on(rule: AlertRule, record: AlertRecord, value: float, now: datetime) -> Moved | None:
    before = value if record.worst is None else record.worst
    worst = max(before, value) if rule.comparison is Comparison.ABOVE else min(before, value)
    fires = record.fired_at is None and now - record.began >= rule.lasting
    # A value that only creeps on is not written at every turn.
    creeps = record.worst is not None and abs(worst - record.worst) <= 0.1 * abs(record.worst)
    return None if creeps and not fires else Moved(record, now, value, worst, fires=fires)
