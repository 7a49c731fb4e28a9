"""What would start a job sooner: variants of what was asked, each really put through the scheduler.

Decides which changes are worth trying and keeps those that help. It never changes the job, and promises nothing: each
variant has its own range, from the same draws as the job's own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.quota import Grant
from headway.domain.resources import Request
from headway.scheduler.admissible import largest_possible
from headway.scheduler.forecast import forecast
from headway.scheduler.lane import Reach
from headway.scheduler.plan import Forecast
from headway.scheduler.snapshot import QueuedJob, Runtimes, Snapshot

FAR = datetime.max.replace(tzinfo=UTC)
WAITED = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Variant:
    """One change and when the job would start with it. `change` is one of `fewer-nodes`, `other-type`, `shorter-limit`,
    `grant`; `value` what it would be."""

    change: str
    value: str
    forecast: Forecast


def sooner(snapshot: Snapshot, job: JobId, runtimes: Runtimes, draws: int = 20) -> tuple[Variant, ...]:
    """The variants of a queued job that start earlier than it would, the earliest first."""
    mine = next(queued for queued in snapshot.queued if queued.id == job)
    as_asked = _range(snapshot, mine, runtimes, draws)
    tried = [
        Variant(change, value, _range(changed, asked, runtimes, draws))
        for change, value, changed, asked in _variants(snapshot, mine)
    ]
    helping = [variant for variant in tried if _when(variant.forecast) < _when(as_asked)]
    return tuple(sorted(helping, key=lambda variant: (_when(variant.forecast), variant.change, variant.value)))


def _range(snapshot: Snapshot, job: QueuedJob, runtimes: Runtimes, draws: int) -> Forecast:
    queue = tuple(job if queued.id == job.id else queued for queued in snapshot.queued)
    changed = replace(snapshot, queued=queue)
    return forecast(changed, runtimes, draws, reach=Reach(first=len(queue), seconds=0.0, goal=job.id))[job.id]


def _variants(snapshot: Snapshot, job: QueuedJob) -> Iterator[tuple[str, str, Snapshot, QueuedJob]]:
    request = job.request
    nodes = request.nodes // 2
    while nodes >= 1:
        yield "fewer-nodes", str(nodes), snapshot, replace(job, request=replace(request, nodes=nodes))
        nodes //= 2
    for device_type in sorted({node.device_type for node in snapshot.nodes}):
        if not request.accepts(device_type):
            other = replace(request, device_types=(device_type,))
            if _could_run(snapshot, other):
                yield "other-type", device_type, snapshot, replace(job, request=other)
    if job.limit is not None:
        for part in (2, 4, 8):
            yield "shorter-limit", str(job.limit / part), snapshot, replace(job, limit=job.limit / part)
    for device_type in sorted({n.device_type for n in snapshot.nodes if request.accepts(n.device_type)}):
        grant = Grant(job.project, device_type, request.devices, snapshot.now, snapshot.now + WAITED)
        granted = replace(snapshot, grants=(*snapshot.grants, grant))
        yield "grant", f"{request.devices} × {device_type}", granted, job


def _could_run(snapshot: Snapshot, request: Request) -> bool:
    try:
        largest_possible(snapshot.nodes, request)
    except PlatformError:
        return False
    return True


def _when(forecast: Forecast) -> datetime:
    """To compare by: the late end of the range."""
    return forecast.p90 or FAR
