"""How often an alert rule would have fired in the days before, by the facts and readings that are kept."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.diagnosis.alerts.judge import ENDED_BY, watches
from headway.diagnosis.alerts.rehearse import Past, firing_of_age, firings, firings_of_facts, highest
from headway.domain.alert import READING, AlertRule, Comparison, Subject
from headway.domain.events import AttemptPlaced, JobEnded, JobSubmitted
from headway.domain.hold_events import JobReleased
from headway.domain.ids import JobId
from headway.domain.recovery_events import RecoveryDecided
from headway.server.operations.alerts.alert_turns import seen
from headway.server.operations.alerts.gauges import subject_of
from headway.server.operations.nodes.node_reports import key_of
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs, nodes

SOME = 5_000
"""Points of one series; in fewer, one short peak would seem to last."""


def would_have_fired(
    platform: Platform, c: Connection, rule: AlertRule, now: datetime, span: timedelta
) -> list[datetime] | None:
    """When, oldest first; None for what no history is kept of."""
    since = now - span
    if rule.fact is not None:
        kinds = (rule.fact, *ENDED_BY.get(rule.fact, ()))
        told = [one for fact in facts.all(c, kinds=kinds) if (one := seen(c, fact))]
        times = firings_of_facts(rule, told)
    elif rule.watches == "queue-wait":
        times = list(_waits(c, rule, now))
    elif rule.watches.startswith(READING):
        times = list(_readings(platform, c, rule, since, now))
    else:
        return None
    return sorted(at for at in times if since <= at <= now)


def _waits(c: Connection, rule: AlertRule, now: datetime) -> Iterator[datetime]:
    """Every time that a job waited: since it came into the queue, at first or again, until it was placed or ended."""
    began: dict[JobId, datetime] = {}
    begins = (JobSubmitted.kind, RecoveryDecided.kind, JobReleased.kind)
    for fact in facts.all(c, kinds=(*begins, AttemptPlaced.kind, JobEnded.kind)):
        if isinstance(fact, JobSubmitted | JobReleased) or (isinstance(fact, RecoveryDecided) and fact.resume):
            began.setdefault(fact.job, fact.at)
        elif isinstance(fact, AttemptPlaced | JobEnded) and (start := began.pop(fact.job, None)) is not None:
            yield from _wait(c, rule, fact.job, start, fact.at)
    for job, start in began.items():
        yield from _wait(c, rule, job, start, now)


def _wait(c: Connection, rule: AlertRule, job: JobId, began: datetime, ended: datetime) -> Iterator[datetime]:
    found, at = jobs.get(c, job), firing_of_age(rule, began, ended)
    if at is not None and found is not None and watches(rule, rule.watches, subject_of(found)):
        yield at


def _readings(platform: Platform, c: Connection, rule: AlertRule, since: datetime, now: datetime) -> Iterator[datetime]:
    """Each attempt's and each node's own, as the rule looks at them while they are measured."""
    for attempt in attempts.since(c, since):
        job = jobs.get(c, attempt.job)
        if job is not None and watches(rule, rule.watches, subject_of(job)):
            yield from firings(rule, _past(platform, attempt.id, rule, since), attempt.ended_at or now)
    for node in nodes.all(c):
        if watches(rule, rule.watches, Subject("node", node.name)):
            yield from firings(rule, _past(platform, key_of(node.name), rule, since), now)


def _past(platform: Platform, key: str, rule: AlertRule, since: datetime) -> Past:
    """The highest of its series; of several readings in one point the one that the rule may fire on."""
    above = rule.comparison is Comparison.ABOVE
    found = platform.readings.series(key, rule.watches.removeprefix(READING), since=since, points=SOME)
    return highest(
        {
            (one.node, one.rank, one.device): [(p.at, p.maximum if above else p.minimum) for p in one.points]
            for one in found
        }
    )
