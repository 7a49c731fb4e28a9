"""Past use for fair share and budgets, from the ledger and from what still runs. Decides no order and no wait."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, func, select

from headway.domain.quota import QuotaTree
from headway.scheduler.share import decayed
from headway.scheduler.snapshot import RunningJob
from headway.store import schema

_ledger = schema.ledger
REMEMBERED = 6
"""Half-lives that are looked back: what is older counts less than a 64th."""
_RECENT = select(_ledger.c.project, _ledger.c.device_type, _ledger.c.start, _ledger.c.end, _ledger.c.devices).where(
    _ledger.c.end > bindparam("since")
)
_MONTH = (
    select(_ledger.c.project, _ledger.c.device_type, func.sum(_ledger.c.device_seconds))
    .where(_ledger.c.month == bindparam("month"))
    .group_by(_ledger.c.project, _ledger.c.device_type)
)

Run = tuple[str, str, datetime, datetime, int]
Hours = dict[tuple[str, str], float]


def posted(c: Connection, now: datetime, half_life: timedelta) -> Hours:
    """Device-hours of ended attempts by (project, device type), each hour worth half after a half-life."""
    rows = c.execute(_RECENT, {"since": now - REMEMBERED * half_life})
    return decayed(((*row,) for row in rows), now, half_life)


def present(running: Iterable[RunningJob], now: datetime, half_life: timedelta) -> Hours:
    """The same of what still runs."""
    return decayed(_runs(running, now), now, half_life)


def added(*parts: Hours) -> Hours:
    """Sums by key."""
    total: Hours = defaultdict(float)
    for part in parts:
        for key, hours in part.items():
            total[key] += hours
    return dict(total)


@dataclass(frozen=True, slots=True)
class Month:
    """A month up to now; `name` as in the ledger."""

    name: str
    begins: datetime
    now: datetime


def spent(c: Connection, tree: QuotaTree, running: Iterable[RunningJob], month: Month) -> Hours:
    """The month's device-hours of every branch, what still runs included."""
    rows = c.execute(_MONTH, {"month": month.name})
    hours: Hours = {(project, kind): seconds / 3600 for project, kind, seconds in rows}
    for project, kind, start, end, devices in _runs(running, month.now):
        span = max(timedelta(0), end - max(start, month.begins))
        hours[project, kind] = hours.get((project, kind), 0.0) + devices * (span / timedelta(hours=1))
    return _summed(tree, hours)


def _summed(tree: QuotaTree, hours: Hours) -> Hours:
    """With every department's own, the sum of what is below it."""
    total: Hours = defaultdict(float)
    for (project, kind), part in hours.items():
        for name in [branch.name for branch in tree.path(project)] or [project]:
            total[name, kind] += part
    return dict(total)


def _runs(running: Iterable[RunningJob], now: datetime) -> Iterator[Run]:
    for job in running:
        devices = sum(len(placement.devices) for placement in job.placements)
        yield job.project, job.device_type, min(job.placed_at, now), now, devices
