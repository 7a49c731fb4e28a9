"""How often an alert rule would have fired in the days before, by the facts and readings that are kept."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.diagnosis.alerts.judge import watches
from headway.diagnosis.alerts.rehearse import times_fired
from headway.domain.alert import READING, AlertRule
from headway.domain.events import AttemptPlaced, JobSubmitted
from headway.domain.ids import JobId
from headway.server.operations.alerts.alert_turns import seen
from headway.server.operations.alerts.gauges import subject_of
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs

SOME = 2000


def would_have_fired(platform: Platform, c: Connection, rule: AlertRule, now: datetime, span: timedelta) -> int | None:
    """How many times; None for what no history is kept of."""
    since = now - span
    if rule.fact is not None:
        told = (one for fact in facts.all(c, kinds=(rule.fact,)) if fact.at >= since and (one := seen(c, fact)))
        return sum(watches(rule, rule.watches, one.subject, one.node) for one in told)
    if rule.watches == "queue-wait":
        return _waits(c, rule, since, now)
    if rule.watches.startswith(READING):
        return _readings(platform, c, rule, since, now)
    return None


def _waits(c: Connection, rule: AlertRule, since: datetime, now: datetime) -> int:
    """Each job waits once: from its submission until its first attempt is placed, or it ends."""
    submitted: dict[JobId, JobSubmitted] = {}
    over: dict[JobId, datetime] = {}
    for fact in facts.all(c, kinds=(JobSubmitted.kind, AttemptPlaced.kind, "job-ended")):
        job = getattr(fact, "job", None)
        if isinstance(fact, JobSubmitted):
            submitted[fact.job] = fact
        elif job is not None:
            over.setdefault(job, fact.at)
    count = 0
    for job, fact in submitted.items():
        found, ended = jobs.get(c, job), over.get(job, now)
        if found is None or ended < since or not watches(rule, rule.watches, subject_of(found)):
            continue
        count += (ended - fact.at).total_seconds() > rule.threshold + rule.lasting.total_seconds()
    return count if rule.comparison == "above" else 0


def _readings(platform: Platform, c: Connection, rule: AlertRule, since: datetime, now: datetime) -> int:
    name, count = rule.watches.removeprefix(READING), 0
    for attempt in attempts.since(c, since):
        job = jobs.get(c, attempt.job)
        if job is None or not watches(rule, rule.watches, subject_of(job)):
            continue
        values: dict[datetime, float] = {}
        for series in platform.readings.series(attempt.id, name, since=since, points=SOME):
            for point in series.points:
                values[point.at] = max(point.maximum, values.get(point.at, point.maximum))
        count += times_fired(rule, sorted(values.items()), attempt.ended_at or now)
    return count
