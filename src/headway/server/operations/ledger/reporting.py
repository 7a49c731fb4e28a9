"""A project's month as evidence for more devices: what was so, and what its waits would have been with more nodes."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from headway.domain.grant import GrantState
from headway.domain.quota import Project
from headway.domain.quota_version import QuotaVersion
from headway.metering.intervals import intervals, waits
from headway.metering.months import parse_month
from headway.metering.report import Promise, Report, report
from headway.metering.statement import Scope, month_entries
from headway.scheduler.replay import Past
from headway.server.operations.ledger.usage import KINDS, WAIT_KINDS
from headway.server.operations.people.directory import require_project
from headway.store import facts, grants, ledger, past, quota_versions

REPORTED = KINDS | WAIT_KINDS | {"preemption-ordered", "drill-ordered", "verdict-reached"}
FOREVER = datetime.max.replace(tzinfo=UTC)
GRANTED = (GrantState.APPROVED, GrantState.EXPIRED)


def report_of(c: Connection, project: str, month: str, timezone: str, as_of: datetime) -> Report:
    """The project's month up to `as_of`. Raises `invalid-field`, `not-found`."""
    known = require_project(c, project)
    scope = Scope(project, parse_month(month), ZoneInfo(timezone), as_of)
    told = facts.all(c, project=project, kinds=REPORTED)
    entries = month_entries(ledger.entries(c, project=project), intervals(told), scope)
    promises = [*_guaranteed(quota_versions.all(c), known, scope), *_granted(c, known)]
    return report(told, waits(told), entries, promises, scope)


def jobs_of(c: Connection, month: str, timezone: str, as_of: datetime) -> list[Past]:
    """Every job of any project submitted in a month, to be played again."""
    asked, zone = parse_month(month), ZoneInfo(timezone)
    return past.jobs(c, asked.start(zone), min(asked.end(zone), as_of))


def _guaranteed(versions: Sequence[QuotaVersion], project: Project, scope: Scope) -> Iterator[Promise]:
    """What each table of the month guaranteed the project, from when until when: of those that have come the newest."""
    dated = [(v.in_force_from, v) for v in versions if v.in_force_from is not None and v.approved_at is not None]
    edges = sorted({since for since, _ in dated})
    over = project.closed_at or FOREVER
    first, last = scope.month.start(scope.zone), scope.month.end(scope.zone)
    for since, until in pairwise([*edges, max([over, *edges])]):
        if until <= first or since >= last:
            continue
        newest = max((v for came, v in dated if came <= since), key=lambda v: v.number)
        branch = newest.tree.branches.get(project.name)
        for kind, entry in branch.entries.items() if branch else ():
            yield Promise(kind, entry.guaranteed, since, min(until, over))


def _granted(c: Connection, project: Project) -> Iterator[Promise]:
    over = project.closed_at or FOREVER
    for asked in grants.all(c, [project.name]):
        if asked.state in GRANTED and asked.decided_at is not None:
            since = max(asked.begins, asked.decided_at)
            yield Promise(asked.device_type, asked.devices, since, min(asked.ends, over))
