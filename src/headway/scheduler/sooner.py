"""What would start a job sooner: variants of what was asked, each really put through the scheduler.

Decides which changes are worth trying and keeps those that help. It never changes the job, and promises nothing: each
variant has its own range, from the same draws as the job's own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.quota import Grant
from headway.domain.resources import Node, Request
from headway.scheduler.admissible import largest_possible
from headway.scheduler.forecast import forecast
from headway.scheduler.lane import Reach
from headway.scheduler.plan import Forecast
from headway.scheduler.snapshot import QueuedJob, Runtimes, Snapshot

FAR = datetime.max.replace(tzinfo=UTC)
WAITED = timedelta(days=30)
TICK = timedelta(microseconds=1)
LIMITS = tuple(timedelta(hours=hours) for hours in (12, 4, 1))
"""What a job without any limit could promise to keep to."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One change and when the job would start with it; `value` is what it would be.

    `change` is one of `fewer-nodes`, `start-small` (fewer nodes now; `then`: when the others could join), `other-type`,
    `other-engine`, `shorter-limit`, `grant`, `unprotected`.
    """

    change: str
    value: str
    forecast: Forecast
    then: Forecast | None = None


@dataclass(frozen=True, slots=True)
class _Trial:
    """What is tried: the job as changed, in the world as changed."""

    change: str
    value: str
    world: Snapshot
    job: QueuedJob


def sooner(snapshot: Snapshot, job: JobId, runtimes: Runtimes, draws: int = 20) -> tuple[Variant, ...]:
    """The variants of a queued job that start earlier than it would, the earliest first."""
    mine = next(queued for queued in snapshot.queued if queued.id == job)
    as_asked = _when(_range(snapshot, mine, runtimes, draws))
    helping = [
        Variant(trial.change, trial.value, range_)
        for trial in _trials(snapshot, mine)
        if _when(range_ := _range(trial.world, trial.job, runtimes, draws)) < as_asked
    ]
    smaller = next((variant for variant in helping if variant.change == "fewer-nodes"), None)
    if smaller:
        then = _rest(snapshot, mine, int(smaller.value), runtimes, draws)
        helping.append(Variant("start-small", f"{smaller.value} → {mine.request.nodes}", smaller.forecast, then))
    return tuple(sorted(helping, key=lambda variant: (_when(variant.forecast), variant.change, variant.value)))


def _range(snapshot: Snapshot, job: QueuedJob, runtimes: Runtimes, draws: int) -> Forecast:
    queue = tuple(job if queued.id == job.id else queued for queued in snapshot.queued)
    return _foretold(replace(snapshot, queued=queue), job.id, runtimes, draws)


def _rest(snapshot: Snapshot, job: QueuedJob, nodes: int, runtimes: Runtimes, draws: int) -> Forecast:
    """When the other nodes could join, with the job on `nodes` of them already first in line: both in one queue."""
    small = replace(job, request=replace(job.request, nodes=nodes))
    left = replace(job.request, nodes=job.request.nodes - nodes)
    rest = replace(job, id=JobId(f"{job.id}+"), request=left, submitted_at=job.submitted_at + TICK)
    queue = tuple(small if queued.id == job.id else queued for queued in snapshot.queued)
    return _foretold(replace(snapshot, queued=(*queue, rest)), rest.id, runtimes, draws)


def _foretold(snapshot: Snapshot, goal: JobId, runtimes: Runtimes, draws: int) -> Forecast:
    reach = Reach(first=len(snapshot.queued), seconds=0.0, goals=frozenset({goal}))
    return forecast(snapshot, runtimes, draws, reach=reach)[goal]


def _trials(snapshot: Snapshot, job: QueuedJob) -> Iterator[_Trial]:
    request = job.request
    nodes = request.nodes // 2
    while nodes >= 1:
        yield _Trial("fewer-nodes", str(nodes), snapshot, replace(job, request=replace(request, nodes=nodes)))
        nodes //= 2
    yield from _elsewhere(snapshot, job)
    for limit in [job.limit / part for part in (2, 4, 8)] if job.limit else LIMITS:
        yield _Trial("shorter-limit", str(limit), snapshot, replace(job, limit=limit))
    for device_type in sorted({n.device_type for n in snapshot.nodes if request.accepts(n.device_type)}):
        grant = Grant(job.project, device_type, request.devices, snapshot.now, snapshot.now + WAITED)
        granted = replace(snapshot, grants=(*snapshot.grants, grant))
        yield _Trial("grant", f"{request.devices} × {device_type}", granted, job)
    if job.protected:
        yield _Trial("unprotected", "", snapshot, replace(job, protected=False, preemptible=True))


def _elsewhere(snapshot: Snapshot, job: QueuedJob) -> Iterator[_Trial]:
    """On devices or engines that it does not accept as it is."""
    request = job.request
    for device_type in sorted({node.device_type for node in snapshot.nodes}):
        other = replace(request, device_types=(device_type,))
        if not request.accepts(device_type) and _could_run(snapshot.nodes, other):
            yield _Trial("other-type", device_type, snapshot, replace(job, request=other))
    for engine in sorted({node.engine for node in snapshot.nodes}):
        there = [node for node in snapshot.nodes if node.engine == engine]
        if job.engines and engine not in job.engines and _could_run(there, request):
            yield _Trial("other-engine", engine, snapshot, replace(job, engines=(engine,)))


def _could_run(nodes: Iterable[Node], request: Request) -> bool:
    try:
        largest_possible(nodes, request)
    except PlatformError:
        return False
    return True


def _when(forecast: Forecast) -> datetime:
    """To compare by: the late end of the range."""
    return forecast.p90 or FAR
