"""Run times for a forecast: deterministic draws, spread evenly over what the template's past jobs took.

Over all draws each job meets every quantile once (a Latin hypercube); which draw meets which is scrambled by the job's
id, so that jobs do not all run long in the same draw. Never random: same snapshot, same draws.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import timedelta
from hashlib import blake2b
from math import exp
from statistics import NormalDist

from headway.domain.ids import JobId
from headway.scheduler.snapshot import QueuedJob, RunningJob, Runtimes, Snapshot

SPREAD = 0.2
"""How far the time left, foretold from a job's own pace, may be off: the standard deviation of its logarithm. Its pace
so far says nothing of pauses, evaluations and an early end, so the range is never a point."""

Lengths = Mapping[JobId, timedelta | None]
"""By job: how long it has its devices, from placement to end. None: unknown."""


def draw_lengths(snapshot: Snapshot, runtimes: Runtimes, draws: int) -> Iterator[Lengths]:
    """Run times of all running and queued jobs, draw by draw."""
    jobs: tuple[RunningJob | QueuedJob, ...] = (*snapshot.running, *snapshot.queued)
    strata = {job.id: _scrambled(job.id, draws) for job in jobs}
    for draw in range(draws):
        yield {job.id: _length(job, snapshot, runtimes, (strata[job.id][draw] + 0.5) / draws) for job in jobs}


def _length(job: RunningJob | QueuedJob, snapshot: Snapshot, runtimes: Runtimes, quantile: float) -> timedelta | None:
    """What the job says itself; else its history, given that it has run this long already; else its limit."""
    ran = 0.0
    if isinstance(job, RunningJob):
        if job.expected_end is not None:
            left = max(job.expected_end, snapshot.now) - snapshot.now
            return snapshot.now - job.placed_at + left * exp(SPREAD * NormalDist().inv_cdf(quantile))
        ran = (snapshot.now - job.placed_at).total_seconds()
    history = runtimes.by_template.get(job.template, ())
    longer = history[bisect_right(history, ran) :]
    if not longer:
        return job.limit
    length = timedelta(seconds=longer[int(quantile * len(longer))])
    return length if job.limit is None else min(length, job.limit)


def _scrambled(job: JobId, draws: int) -> list[int]:
    return sorted(range(draws), key=lambda draw: blake2b(f"{job}/{draw}".encode(), digest_size=8).digest())
