"""Builds the scheduler's view: everything a plan depends on, at one moment and of one version."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, and_, func, select

from headway.domain.attempt import PREEMPTED, Outcome
from headway.domain.checkpoint import CheckpointState
from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Conditions
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.quota import QuotaTree
from headway.domain.resources import Node, NodeState
from headway.metering.months import month_of
from headway.scheduler.admissible import largest_possible
from headway.scheduler.policy import Policy
from headway.scheduler.predict import History, Traits
from headway.scheduler.snapshot import QueuedJob, RunningJob, Runtimes, Snapshot
from headway.store import grants, holds, nodes, quota_versions, schema, usage, windows, world
from headway.store.foreign import foreign
from headway.store.past import arrivals
from headway.store.usage import Hours

RUNS_A_TEMPLATE = 200
RUNS_IN_ALL = 2000
UTC = ZoneInfo("UTC")
PLAIN = Policy()
FURTHEST = timedelta(days=36525)

_a, _j = schema.attempts, schema.jobs
_cp = schema.checkpoints
_SAVED = (
    select(_cp.c.job, func.max(_cp.c.saved_at).label("saved_at"))
    .where(_cp.c.state == CheckpointState.VERIFIED)
    .group_by(_cp.c.job)
    .subquery()
)
_RUNNING = (
    select(
        _a.c.id.label("attempt"),
        _a.c.state,
        _a.c.job,
        _a.c.device_type,
        _a.c.placements,
        _a.c.placed_at,
        _a.c.started_at,
        _a.c.resume_step,
        _a.c.step,
        _a.c.step_at,
        _a.c.overtook,
        _j.c.total,
        _j.c.spec,
        _j.c.owner,
        _SAVED.c.saved_at,
    )
    .join(_j, _j.c.id == _a.c.job)
    .outerjoin(_SAVED, _SAVED.c.job == _a.c.job)
    .where(_a.c.state != AttemptState.ENDED)
    .order_by(_a.c.placed_at, _a.c.id)
)
_QUEUED = (
    select(
        *(_j.c.id, _j.c.spec, _j.c.owner, _j.c.submitted_at, _j.c.attempts, _j.c.reason, _j.c.total, _j.c.avoids),
        *(_a.c.step, _a.c.started_at, _a.c.step_at, _a.c.resume_step),
    )
    .outerjoin(_a, and_(_a.c.job == _j.c.id, _a.c.number == _j.c.attempts))
    .where(_j.c.state == JobState.QUEUED)
    .order_by(_j.c.submitted_at, _j.c.id)
)
_RANKED = (
    select(
        _j.c.template,
        _a.c.started_at,
        _a.c.ended_at,
        func.row_number().over(partition_by=_j.c.template, order_by=_a.c.ended_at.desc()).label("age"),
    )
    .join(_j, _j.c.id == _a.c.job)
    .where(_a.c.outcome == Outcome.SUCCEEDED, _a.c.started_at.is_not(None), _a.c.ended_at.is_not(None))
    .subquery()
)
_RUNS = select(_RANKED.c.template, _RANKED.c.started_at, _RANKED.c.ended_at).where(_RANKED.c.age <= RUNS_A_TEMPLATE)
_NEWEST = (
    select(_j.c.spec, _j.c.owner, _a.c.started_at, _a.c.ended_at)
    .join(_j, _j.c.id == _a.c.job)
    .where(_a.c.outcome == Outcome.SUCCEEDED, _a.c.started_at.is_not(None), _a.c.ended_at.is_not(None))
    .order_by(_a.c.ended_at.desc(), _a.c.id)
    .limit(RUNS_IN_ALL)
)


@dataclass(frozen=True, slots=True)
class Past:
    """What a plan knows of the past: decayed use of ended attempts, run times, submissions. All change slowly."""

    used: Hours = field(default_factory=dict)
    runtimes: Runtimes = field(default_factory=Runtimes)
    arrivals: tuple[QueuedJob, ...] = ()


def past(c: Connection, now: datetime, policy: Policy) -> Past:
    """Read the past: dearer than the rest of a snapshot, so that a loop may keep it for a while."""
    return Past(usage.posted(c, now, policy.half_life), runtimes(c), arrivals(c, now))


def take(
    c: Connection, now: datetime, policy: Policy = PLAIN, zone: ZoneInfo = UTC, known: Past | None = None
) -> Snapshot:
    """Everything a plan made now depends on. The version is read first: what changes later makes the plan stale.

    `zone` is where months are cut, for budgets; `known`: the past as it was read a moment ago.
    """
    version = world.version(c)
    before = past(c, now, policy) if known is None else known
    tree = quota_versions.tree(c, now)
    live = running(c, now)
    queued = [(row, row.spec.conditions) for row in c.execute(_QUEUED) if not row.spec.conditions.pinned]
    present = tuple(nodes.all(c))
    return Snapshot(
        version=version,
        now=now,
        nodes=present,
        running=(*live, *foreign(c, now, live)),
        queued=tuple(_queued(row, conditions, present) for row, conditions in queued),
        quotas={
            (branch.name, kind): entry.guaranteed
            for branch in tree.branches.values()
            if branch.is_project
            for kind, entry in branch.entries.items()
        },
        holds=tuple(holds.all(c, now)),
        tree=tree,
        grants=tuple(request.grant for request in grants.approved(c) if request.ends > now),
        usage=usage.added(before.used, usage.present(live, now, policy.half_life)),
        spent=_spent(c, tree, live, now, zone),
        finished=_finished(c, (conditions for _, conditions in queued)),
        windows=tuple(window.content for window in windows.ahead(c, now)),
        runtimes=before.runtimes,
        arrivals=before.arrivals,
        policy=policy,
    )


def running(c: Connection, now: datetime) -> tuple[RunningJob, ...]:
    """Every job that has devices."""
    return tuple(_running(row, now) for row in c.execute(_RUNNING))


def _spent(c: Connection, tree: QuotaTree, live: tuple[RunningJob, ...], now: datetime, zone: ZoneInfo) -> Hours:
    """This month's device-hours, where any branch has a budget."""
    budgets = (entry.budget for branch in tree.branches.values() for entry in branch.entries.values())
    if not any(budget.hard is not None or budget.soft is not None for budget in budgets):
        return {}
    month = month_of(now, zone)
    return usage.spent(c, tree, live, usage.Month(str(month), month.start(zone), now))


def _finished(c: Connection, conditions: Iterable[Conditions]) -> dict[JobId, bool]:
    """Jobs that others wait for and that have ended: whether they succeeded."""
    wanted = sorted({job for one in conditions for job in (*one.after, *one.after_ok)})
    if not wanted:
        return {}
    rows = c.execute(select(_j.c.id, _j.c.state).where(_j.c.id.in_(wanted)))
    return {job: state == JobState.SUCCEEDED for job, state in rows if state.is_terminal}


def runtimes(c: Connection) -> Runtimes:
    """How long succeeded attempts ran, in seconds, sorted: the last 200 of each template, and of each kind of job."""
    seconds: dict[str, list[float]] = {}
    for template, started_at, ended_at in c.execute(_RUNS):
        seconds.setdefault(template, []).append((ended_at - started_at).total_seconds())
    return Runtimes({template: tuple(sorted(runs)) for template, runs in seconds.items()}, _by_kind(c))


def _by_kind(c: Connection) -> dict[tuple[str, ...], tuple[float, ...]]:
    history = History()
    for spec, owner, started_at, ended_at in reversed(c.execute(_NEWEST).all()):
        limit = None if spec.limit is None else spec.limit.total_seconds()
        traits = Traits(spec.template, spec.project, owner, spec.request.devices, limit)
        history.add(traits, (ended_at - started_at).total_seconds())
    return {kind: tuple(runs) for kind, runs in history.runtimes.by_kind.items()}


def _queued(row: Any, conditions: Conditions, present: Sequence[Node]) -> QueuedJob:
    """A job that was taken for another goes on later, but stands in line as it did before."""
    spec = row.spec
    return QueuedJob(
        id=row.id,
        name=spec.name,
        project=spec.project,
        owner=row.owner,
        priority=spec.priority,
        request=spec.request,
        submitted_at=row.submitted_at,
        template=spec.template,
        limit=spec.limit,
        resuming=row.attempts > 0 and row.reason != PREEMPTED,
        after=conditions.after,
        after_ok=conditions.after_ok,
        array=conditions.array,
        array_cap=conditions.array_cap,
        protected=conditions.protected,
        preemptible=not conditions.protected,
        engines=conditions.engines,
        excluded=frozenset(conditions.excluded) | _avoided(row, conditions, present),
        remaining=_remaining(row),
        not_before=conditions.not_before,
    )


def _avoided(row: Any, conditions: Conditions, present: Sequence[Node]) -> frozenset[str]:
    """The nodes that broke the job before, as long as those that are up without them have room for its gang."""
    if not row.avoids:
        return frozenset()
    left = [
        node
        for node in present
        if node.name not in row.avoids
        and node.name not in conditions.excluded
        and node.state is NodeState.UP
        and (not conditions.engines or node.engine in conditions.engines)
    ]
    try:
        largest_possible(left, row.spec.request)
    except PlatformError:
        return frozenset()
    return frozenset(row.avoids)


def _remaining(row: Any) -> timedelta | None:
    """What is left of a job that ran before, at the pace of its newest attempt."""
    if row.attempts == 0 or row.total is None or row.step is None or row.started_at is None or row.step_at is None:
        return None
    done = row.step - row.resume_step
    if done <= 0 or row.step_at <= row.started_at:
        return None
    left: timedelta = max(0, row.total - row.step) * ((row.step_at - row.started_at) / done)
    return left


def _running(row: Any, now: datetime) -> RunningJob:
    return RunningJob(
        id=row.job,
        attempt=row.attempt,
        name=row.spec.name,
        project=row.spec.project,
        owner=row.owner,
        priority=row.spec.priority,
        device_type=row.device_type,
        placements=row.placements,
        placed_at=row.placed_at,
        template=row.spec.template,
        limit=row.spec.limit,
        expected_end=_expected_end(row, now),
        array=row.spec.conditions.array,
        protected=row.spec.conditions.protected,
        preemptible=not row.spec.conditions.protected,
        saved_at=row.saved_at,
        stopping=row.state == AttemptState.STOPPING,
        overtook=row.overtook,
    )


def _expected_end(row: Any, now: datetime) -> datetime | None:
    """From the rate since the start, which counts the time before the first step too; never in the past.

    A program may name any total: an end more than a century away is unknown, and must not stop everybody's plan.
    """
    if row.step is None or row.total is None or row.started_at is None:
        return None
    seen_at = row.step_at or now
    done = row.step - row.resume_step
    if done <= 0 or seen_at <= row.started_at:
        return None
    pace: timedelta = (seen_at - row.started_at) / done
    left = row.total - row.step
    return None if left * pace.total_seconds() > FURTHEST.total_seconds() else max(now, seen_at + left * pace)
