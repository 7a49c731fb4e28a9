"""What alert rules are held against now: waits, silences, nodes, pools, budgets and readings, each of one subject."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from sqlalchemy import Connection

from headway.diagnosis.alerts.judge import Gauge
from headway.domain.alert import READING, AlertRule, Subject
from headway.domain.attempt import Attempt
from headway.domain.ids import JobId
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.domain.recovery_events import RecoveryDecided
from headway.domain.resources import NodeState
from headway.metering.months import month_of
from headway.server.operations.jobs.drill_reminders import ages
from headway.server.operations.nodes.node_reports import key_of
from headway.server.platform import Platform
from headway.store import agents, attempts, facts, jobs, nodes, quota_versions, snapshot, usage


def measure(platform: Platform, c: Connection, rules: Iterable[AlertRule], now: datetime) -> list[Gauge]:
    """Every gauge that some rule watches."""
    watched = {rule.watches for rule in rules}
    live = attempts.live(c)
    owners = {job.id: job for job in jobs.in_states(c, *(state for state in JobState if not state.is_terminal))}
    found: list[Gauge] = []
    if "queue-wait" in watched:
        found += _waits(c, owners.values(), now)
    if "silence" in watched:
        found += _silences(c, live, owners, now)
    if "node-silence" in watched:
        found += _node_silences(platform, c, live, now)
    if watched & {"node-down", "idle-devices"}:
        found += _machines(c, live)
    if "budget" in watched:
        found += _budgets(platform, c, now)
    if "drill-age" in watched:
        found += _drill_ages(c, now)
    names = {name.removeprefix(READING) for name in watched if name.startswith(READING)}
    if names:
        found += _job_readings(platform, live, owners, names)
        found += _node_readings(platform, c, names)
    return found


def subject_of(job: Job) -> Subject:
    """A job as alerts name it."""
    return Subject("job", job.id, job.spec.project)


def queued_since(c: Connection, job: Job) -> datetime:
    """When it last came into the queue: what broke or was taken waits anew from the decision that it goes on."""
    decided = facts.last(c, job.id, RecoveryDecided) if job.attempts else None
    return job.submitted_at if decided is None else decided.at


def _waits(c: Connection, some: Iterable[Job], now: datetime) -> Iterator[Gauge]:
    for job in some:
        if job.state is JobState.QUEUED:
            yield Gauge("queue-wait", subject_of(job), (now - queued_since(c, job)).total_seconds())


def _silences(c: Connection, live: Iterable[Attempt], owners: dict[JobId, Job], now: datetime) -> Iterator[Gauge]:
    moved = attempts.moved_at(c)
    for attempt in live:
        if attempt.id in moved and attempt.job in owners:
            yield Gauge("silence", subject_of(owners[attempt.job]), (now - moved[attempt.id]).total_seconds())


def _node_silences(platform: Platform, c: Connection, live: Iterable[Attempt], now: datetime) -> Iterator[Gauge]:
    """Since its daemon or the agent of a job there last spoke; of a node that never had either nothing is known."""
    heard: dict[str, datetime] = {}
    for attempt in live:
        for part in agents.of_attempt(c, attempt.id):
            if part.ended_at is None:
                heard[part.node] = max(part.last_at, heard.get(part.node, part.last_at))
    for node in nodes.all(c):
        for reading in platform.readings.latest(key_of(node.name)):
            heard[node.name] = max(reading.at, heard.get(node.name, reading.at))
    for name, at in heard.items():
        yield Gauge("node-silence", Subject("node", name), (now - at).total_seconds())


def _machines(c: Connection, live: Iterable[Attempt]) -> Iterator[Gauge]:
    taken: dict[str, int] = defaultdict(int)
    for attempt in live:
        for placement in attempt.placements:
            taken[placement.node] += len(placement.devices)
    free: dict[str, int] = defaultdict(int)
    for node in nodes.all(c):
        yield Gauge("node-down", Subject("node", node.name), float(node.state is NodeState.DOWN))
        idle = node.devices - taken[node.name] if node.state is NodeState.UP else 0
        free[f"{node.engine}/{node.device_type}"] += max(0, idle)
    for pool, devices in free.items():
        yield Gauge("idle-devices", Subject("pool", pool), float(devices))


def _drill_ages(c: Connection, now: datetime) -> Iterator[Gauge]:
    for each in ages(c, now):
        yield Gauge("drill-age", Subject("template", each.template, each.project), float(each.days))


def _budgets(platform: Platform, c: Connection, now: datetime) -> Iterator[Gauge]:
    tree = quota_versions.tree(c, now)
    zone = platform.settings.zone
    month = month_of(now, zone)
    span = usage.Month(str(month), month.start(zone), now)
    spent = usage.spent(c, tree, snapshot.running(c, now), span)
    for branch in tree.branches.values():
        for kind, entry in branch.entries.items():
            most = entry.budget.hard if entry.budget.hard is not None else entry.budget.soft
            if most:
                project = branch.name if branch.is_project else None
                subject = Subject("branch", f"{branch.name}/{kind}", project)
                yield Gauge("budget", subject, spent.get((branch.name, kind), 0.0) / most)


def _job_readings(
    platform: Platform, live: Iterable[Attempt], owners: dict[JobId, Job], names: set[str]
) -> Iterator[Gauge]:
    """The highest of an attempt's ranks, nodes and cards."""
    for attempt in live:
        if attempt.job in owners:
            yield from _highest(platform, attempt.id, names, subject_of(owners[attempt.job]))


def _node_readings(platform: Platform, c: Connection, names: set[str]) -> Iterator[Gauge]:
    """The highest of a node's cards, as its daemon measures them."""
    for node in nodes.all(c):
        yield from _highest(platform, key_of(node.name), names, Subject("node", node.name))


def _highest(platform: Platform, key: str, names: set[str], subject: Subject) -> Iterator[Gauge]:
    highest: dict[str, float] = {}
    for reading in platform.readings.latest(key):
        if reading.name in names:
            highest[reading.name] = max(reading.value, highest.get(reading.name, reading.value))
    for name, value in highest.items():
        yield Gauge(READING + name, subject, value)
