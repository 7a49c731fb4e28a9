"""How long a job will run: by its own remaining steps, else by the history of jobs like it, else by its user's limit.

Decides which past runs a job is like: the narrowest kind with enough of them. Always quantiles, never a mean; given
that a job has run for a while already, only longer runs count.
"""

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache
from math import log2
from typing import NamedTuple

from headway.scheduler.snapshot import QueuedJob, RunningJob, Runtimes

ENOUGH = 8
"""Past runs a kind needs before it is believed."""
KEPT = 400
"""Newest runs kept of each kind: how long such a job may run."""
LATELY = 20
"""Newest runs that tell what is usual: people send the same job again and again, then another."""

Kind = tuple[str, ...]
_LATELY = "lately"


class Traits(NamedTuple):
    """What run times are told by: jobs with equal traits are predicted alike."""

    template: str
    project: str
    owner: str
    devices: int
    limit: float | None


def traits_of(job: QueuedJob | RunningJob) -> Traits:
    """The traits of a job."""
    if isinstance(job, QueuedJob):
        devices = job.request.nodes * job.request.devices_per_node
    else:
        devices = sum(len(placement.devices) for placement in job.placements)
    limit = None if job.limit is None else job.limit.total_seconds()
    return Traits(job.template, job.project, job.owner, devices, limit)


def kinds_of(traits: Traits) -> Iterator[Kind]:
    """The kinds a job belongs to, narrowest first. The exact number of devices is a fingerprint; a limit, where the
    user gave one, tells more than who asks."""
    template, project, owner, devices, bound = traits
    exact, limit = str(devices), _limit_class(bound)
    yield ("template", template, project, owner, exact, limit)
    yield ("owner", project, owner, exact, limit)
    yield ("project", project, exact, limit)
    size = size_class(devices)
    yield ("project", project, size, limit)
    if limit:
        yield ("size", size, limit)
        yield ("limit", limit)
    yield ("owner", project, owner, size)
    yield ("template", template, size)
    yield ("project", project, size)
    yield ("size", size)
    yield ("all",)


@cache
def size_class(devices: int) -> str:
    """`1`, `2-7`, `8`, `9-32` or `33+` devices: how forecasts and histories tell sizes apart."""
    if devices < 8:
        return "1" if devices == 1 else "2-7"
    return "8" if devices == 8 else "9-32" if devices <= 32 else "33+"


class Predictor:
    """Quantiles of run times in seconds."""

    def __init__(self, runtimes: Runtimes) -> None:
        self._runtimes = runtimes
        self._believed: dict[Traits, list[tuple[Kind, Sequence[float]]]] = {}

    def forget(self) -> None:
        """More may be known now."""
        self._believed.clear()

    def usual(self, traits: Traits, quantile: float) -> float | None:
        """How long such jobs ran lately, at the quantile; None: nobody knows."""
        kind, samples, _ = self._like(traits, 0.0)
        return _at(self._runtimes.by_kind.get((_LATELY, *kind), samples), 0, quantile, traits.limit)

    def quantile(self, traits: Traits, quantile: float) -> float | None:
        """How long such a job runs, at the quantile of all that is remembered; None: nobody knows."""
        return self.longer_than(traits, 0.0, quantile)

    def longer_than(self, traits: Traits, ran: float, quantile: float) -> float | None:
        """One quantile for a job that has run for `ran` seconds already, still counted from its start."""
        _, samples, first = self._like(traits, ran)
        return _at(samples, first, quantile, traits.limit)

    def samples(self, traits: Traits, ran: float = 0.0) -> Sequence[float]:
        """Sorted lengths of past runs of such jobs that ran longer than `ran`: of the narrowest kind with enough of
        those, as the few longest runs of a kind say little of a job that has outlived the others."""
        if not ran:
            return self._like(traits, ran)[1]
        believed = self._kinds(traits)
        for _, history in believed[:-1]:
            first = bisect_right(history, ran)
            if len(history) - first >= ENOUGH:
                return history[first:]
        history = believed[-1][1]
        return history[bisect_right(history, ran) :]

    def kind(self, traits: Traits) -> Kind:
        """The narrowest kind that is believed: jobs of one such kind and one limit are predicted alike."""
        return self._like(traits, 0.0)[0]

    def _like(self, traits: Traits, ran: float) -> tuple[Kind, Sequence[float], int]:
        """The narrowest believed kind with runs longer than `ran`, its runs, and the first of those that are."""
        by_kind = self._runtimes.by_kind
        if not ran:
            for kind in kinds_of(traits) if by_kind else ():
                history = by_kind.get(kind)
                if history is not None and len(history) >= ENOUGH:
                    return kind, history, 0
            return *self._of_template(traits), 0
        believed = self._kinds(traits)
        for kind, history in believed:
            if history and history[-1] > ran:
                return kind, history, bisect_right(history, ran)
        return *believed[-1], len(believed[-1][1])

    def _kinds(self, traits: Traits) -> list[tuple[Kind, Sequence[float]]]:
        """The believed kinds of a job, narrowest first, and last of all its template's runs."""
        believed = self._believed.get(traits)
        if believed is None:
            by_kind = self._runtimes.by_kind
            known = [(kind, by_kind[kind]) for kind in kinds_of(traits) if kind in by_kind] if by_kind else []
            believed = self._believed[traits] = [k for k in known if len(k[1]) >= ENOUGH]
            believed.append(self._of_template(traits))
        return believed

    def _of_template(self, traits: Traits) -> tuple[Kind, Sequence[float]]:
        """Where no kind has runs enough."""
        return ("", traits.template), self._runtimes.by_template.get(traits.template, ())


def _at(samples: Sequence[float], first: int, quantile: float, limit: float | None) -> float | None:
    """A quantile of the samples from the `first` on, at most the limit."""
    count = len(samples) - first
    if not count:
        return limit
    length = samples[first + min(count - 1, int(quantile * count))]
    return length if limit is None else min(length, limit)


class History:
    """Run times as jobs end, by kind: the newest `KEPT` of each and, apart, the newest `LATELY`; sorted. `runtimes` is
    a live view of the kinds with enough to be believed."""

    def __init__(self) -> None:
        self._newest: dict[Kind, deque[float]] = {}
        self._sorted: dict[Kind, list[float]] = {}
        self._believed: dict[Kind, Sequence[float]] = {}
        self.runtimes = Runtimes(by_kind=self._believed)

    def add(self, traits: Traits, seconds: float) -> None:
        """A job with these traits has succeeded after this long."""
        for kind in kinds_of(traits):
            self._add(kind, seconds, KEPT)
            self._add((_LATELY, *kind), seconds, LATELY)

    def _add(self, kind: Kind, seconds: float, most: int) -> None:
        newest = self._newest.setdefault(kind, deque())
        ordered = self._sorted.setdefault(kind, [])
        if len(newest) == most:
            del ordered[bisect_right(ordered, newest.popleft()) - 1]
        newest.append(seconds)
        insort(ordered, seconds)
        if len(newest) == ENOUGH:
            self._believed[kind] = ordered


@cache
def _limit_class(limit: float | None) -> str:
    return "" if not limit or limit <= 0 else str(round(2 * log2(limit)))


def seconds_of(length: timedelta | None) -> float | None:
    """A duration in seconds."""
    return None if length is None else length.total_seconds()
