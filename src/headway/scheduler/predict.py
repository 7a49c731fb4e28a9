"""How long a job will run: by its own remaining steps, else by the history of jobs like it, else by its user's limit.

Decides which past runs a job is like: the narrowest kind with enough of them. Always quantiles, never a mean; given
that a job has run for a while already, only longer runs count.
"""

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from math import log2

from headway.scheduler.snapshot import QueuedJob, RunningJob, Runtimes

ENOUGH = 20
"""Past runs a kind needs before it is believed."""
KEPT = 400
"""Newest runs kept of each kind."""

Kind = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Traits:
    """What run times are told by: jobs with equal traits are predicted alike."""

    template: str
    project: str
    owner: str
    devices: int
    limit: float | None


def traits_of(job: QueuedJob | RunningJob) -> Traits:
    """The traits of a job."""
    if isinstance(job, QueuedJob):
        devices = job.request.devices
    else:
        devices = sum(len(placement.devices) for placement in job.placements)
    limit = None if job.limit is None else job.limit.total_seconds()
    return Traits(job.template, job.project, job.owner, devices, limit)


def kinds_of(traits: Traits) -> Iterator[Kind]:
    """The kinds a job belongs to, narrowest first."""
    size, limit = size_class(traits.devices), _limit_class(traits.limit)
    template, project, owner = traits.template, traits.project, traits.owner
    yield ("template", template, project, owner, size, limit)
    yield ("owner", project, owner, size, limit)
    yield ("project", project, size, limit)
    yield ("owner", project, owner, size)
    yield ("template", template, size)
    yield ("size", size, limit)
    yield ("project", project, size)
    yield ("size", size)
    yield ("all",)


def size_class(devices: int) -> str:
    """`1`, `2-7`, `8`, `9-32` or `33+` devices: how forecasts and histories tell sizes apart."""
    if devices < 8:
        return "1" if devices == 1 else "2-7"
    return "8" if devices == 8 else "9-32" if devices <= 32 else "33+"


class Predictor:
    """Quantiles of run times in seconds."""

    def __init__(self, runtimes: Runtimes) -> None:
        self._runtimes = runtimes

    def quantiles(self, traits: Traits, wanted: Sequence[float]) -> list[float | None]:
        """How long such a job runs, at each wanted quantile; None: nobody knows."""
        samples = self.samples(traits)
        return [_at(samples, quantile, traits.limit) for quantile in wanted]

    def longer_than(self, traits: Traits, ran: float, quantile: float) -> float | None:
        """One quantile for a job that has run for `ran` seconds already, still counted from its start."""
        return _at(self.samples(traits, ran), quantile, traits.limit)

    def samples(self, traits: Traits, ran: float = 0.0) -> Sequence[float]:
        """Sorted lengths of past runs of such jobs that ran longer than `ran`."""
        for history in self._histories(traits):
            longer = history[bisect_right(history, ran) :] if ran else history
            if longer:
                return longer
        return ()

    def _histories(self, traits: Traits) -> Iterator[Sequence[float]]:
        by_kind = self._runtimes.by_kind
        for kind in kinds_of(traits) if by_kind else ():
            history = by_kind.get(kind, ())
            if len(history) >= ENOUGH:
                yield history
        yield self._runtimes.by_template.get(traits.template, ())


def _at(samples: Sequence[float], quantile: float, limit: float | None) -> float | None:
    if not samples:
        return limit
    length = samples[min(len(samples) - 1, int(quantile * len(samples)))]
    return length if limit is None else min(length, limit)


class History:
    """Run times as jobs end, by kind: the newest `KEPT` of each, sorted. `runtimes` is a live view of it."""

    def __init__(self) -> None:
        self._newest: dict[Kind, deque[float]] = {}
        self._sorted: dict[Kind, list[float]] = {}
        views: Mapping[Kind, Sequence[float]] = self._sorted
        self.runtimes = Runtimes(by_kind=views)

    def add(self, traits: Traits, seconds: float) -> None:
        """A job with these traits has succeeded after this long."""
        for kind in kinds_of(traits):
            newest = self._newest.setdefault(kind, deque())
            ordered = self._sorted.setdefault(kind, [])
            if len(newest) == KEPT:
                del ordered[bisect_right(ordered, newest.popleft()) - 1]
            newest.append(seconds)
            insort(ordered, seconds)


@cache
def _limit_class(limit: float | None) -> str:
    return "" if not limit or limit <= 0 else str(round(2 * log2(limit)))


def seconds_of(length: timedelta | None) -> float | None:
    """A duration in seconds."""
    return None if length is None else length.total_seconds()
