"""When queued jobs will start: a range, from stepping the same `schedule` forward through virtual time.

Each draw gives every job one run time; all queued jobs share the draw's run. Decides nothing about the real queue, and
says `unknown` rather than invent a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import heapify, heappop, heappush
from math import ceil

from headway.domain.ids import JobId, attempt_id
from headway.scheduler.cycle import schedule
from headway.scheduler.draws import Lengths, draw_lengths
from headway.scheduler.plan import Forecast, NodesUnfit, QuotaReached, Reason, Start
from headway.scheduler.snapshot import QueuedJob, RunningJob, Runtimes, Snapshot

WORK = 200_000
"""Nodes and jobs one forecast looks at, over all cycles of all draws: seconds on one core, not minutes."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One draw: when jobs started, and why the others never did."""

    starts: Mapping[JobId, datetime]
    never: Mapping[JobId, str]


def forecast(snapshot: Snapshot, runtimes: Runtimes, draws: int = 20, *, work: int = WORK) -> Mapping[JobId, Forecast]:
    """The start-time range of every queued job, over `draws` runs through virtual time.

    Costs about as much as `work / (jobs + nodes)` plans; a start that is not reached within that is `too-far`.
    """
    drawn = [tuple(lengths.items()) for lengths in draw_lengths(snapshot, runtimes, draws)]
    distinct = dict.fromkeys(drawn)
    runs = {lengths: _step_through(snapshot, dict(lengths), work // len(distinct)) for lengths in distinct}
    return {job.id: _range(job.id, snapshot.now, [runs[lengths] for lengths in drawn]) for job in snapshot.queued}


def _range(job: JobId, as_of: datetime, runs: Sequence[_Run]) -> Forecast:
    times = sorted(run.starts[job] for run in runs if job in run.starts)
    median, late = ceil(len(runs) * 0.5) - 1, ceil(len(runs) * 0.9) - 1
    if late < len(times):
        return Forecast(job, as_of, times[median], times[late])
    return Forecast(job, as_of, unknown=next(run.never[job] for run in runs if job in run.never))


def _step_through(snapshot: Snapshot, lengths: Lengths, work: int) -> _Run:
    """Run cycles at `now` and whenever a job ends or a hold expires, until all have started or nothing more happens."""
    starts: dict[JobId, datetime] = {}
    running = {job.id: job for job in snapshot.running}
    ends = [(job.placed_at + length, job.id) for job in snapshot.running if (length := lengths[job.id]) is not None]
    heapify(ends)
    while True:
        plan = schedule(snapshot)
        queued = {job.id: job for job in snapshot.queued}
        for start in plan.starts:
            starts[start.job] = snapshot.now
            running[start.job] = _started(queued.pop(start.job), start, snapshot.now)
            if (length := lengths[start.job]) is not None:
                heappush(ends, (snapshot.now + length, start.job))
        work -= len(snapshot.nodes) + len(snapshot.running) + len(snapshot.queued)
        holds = tuple(hold for hold in snapshot.holds if hold.until > snapshot.now and hold.job not in starts)
        moments = [*(end for end, _ in ends[:1]), *(hold.until for hold in holds)]
        if not queued or not moments or work < 0:
            over = "too-far" if moments else None
            return _Run(starts, {w.job: over or _why_never(w.reason, bool(running)) for w in plan.waits})
        now = max(min(moments), snapshot.now)
        while ends and ends[0][0] <= now:
            del running[heappop(ends)[1]]
        snapshot = replace(
            snapshot, now=now, running=tuple(running.values()), queued=tuple(queued.values()), holds=holds
        )


def _started(job: QueuedJob, start: Start, now: datetime) -> RunningJob:
    return RunningJob(
        id=job.id,
        attempt=attempt_id(job.id, 1),
        name=job.name,
        project=job.project,
        owner=job.owner,
        priority=job.priority,
        device_type=start.device_type,
        placements=start.placements,
        placed_at=now,
        template=job.template,
        limit=job.limit,
    )


def _why_never(reason: Reason, something_runs_on: bool) -> str:
    """Nothing ends any more: what still runs has no known end, or the job cannot start as things are."""
    hopeless = isinstance(reason, NodesUnfit) or (isinstance(reason, QuotaReached) and reason.wanted > reason.quota)
    return "no-history" if something_runs_on and not hopeless else reason.code
