"""A project's month as evidence: how long its jobs waited, how much of its own it used, how often attempts failed.

Read from the facts and the ledger alone, and every figure adds up from the job lines beside it. It judges nothing: what
more devices would have changed is rehearsed by the scheduler.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from statistics import fmean

from headway.domain.attempt import Outcome
from headway.domain.drill_events import DrillOrdered
from headway.domain.events import AttemptEnded, Fact, JobSubmitted, VerdictReached
from headway.domain.ids import AttemptId, JobId
from headway.domain.queue_events import PreemptionOrdered
from headway.metering.entries import Entry
from headway.metering.intervals import Wait
from headway.metering.ledger import SECOND, whole
from headway.metering.statement import Scope

BOUNDS = (60, 600, 3600, 6 * 3600, 86400)
"""Waits are counted up to these seconds, and beyond the last."""
UNKNOWN = "unknown"
FAILED = (Outcome.FAILED, Outcome.LOST)


@dataclass(frozen=True, slots=True)
class Promise:
    """Devices of one type that were the project's own from `since` to `until`: guaranteed or granted."""

    device_type: str
    devices: int
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Bin:
    """How many waits were at most `up_to_s` long and longer than the bin before; None: without bound."""

    up_to_s: int | None
    waits: int


@dataclass(frozen=True, slots=True)
class Waited:
    """Waits that ended with devices in the month, in seconds; None without any. A job that goes on after a failure or
    a preemption waits again. `waiting`: jobs that still wait at its end, or now."""

    starts: int
    wait_seconds: int
    mean_s: float | None
    p50_s: float | None
    p90_s: float | None
    max_s: float | None
    spread: tuple[Bin, ...]
    waiting: int


@dataclass(frozen=True, slots=True)
class Used:
    """Device-seconds of one type that the project had, and that were its own; `utilisation` above 1: it borrowed.

    `utilisation` None: nothing was its own.
    """

    device_type: str
    device_seconds: int
    own_device_seconds: int
    utilisation: float | None


@dataclass(frozen=True, slots=True)
class Failed:
    """Attempts that ended in the month. `rate`: failed of those that ended by themselves, None without any.

    Stopped, preempted and drilled ones count neither way. `device_seconds`: what the failed ones had in the month.
    """

    ended: int
    failed: int
    rate: float | None
    preempted: int
    drilled: int
    faults: Mapping[str, int]
    device_seconds: int


@dataclass(frozen=True, slots=True)
class JobLine:
    """What one job adds to the figures: `attempts` are those that ended in the month."""

    job: JobId
    name: str
    devices: int
    starts: int = 0
    wait_seconds: int = 0
    waiting: bool = False
    device_seconds: int = 0
    attempts: int = 0
    failed: int = 0
    preempted: int = 0
    drilled: int = 0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One project and month as known at `as_of`; every figure opens into `jobs`."""

    project: str
    month: str
    timezone: str
    as_of: datetime
    waited: Waited
    used: tuple[Used, ...]
    failed: Failed
    jobs: tuple[JobLine, ...]


def report(
    facts: Sequence[Fact], waits: Iterable[Wait], entries: Iterable[Entry], promises: Iterable[Promise], scope: Scope
) -> Report:
    """The report of one project and month.

    `facts` and `waits`: all of the project, whenever; `entries`: its month, what still runs counted (`month_entries`).
    """
    span = Span(scope.month.start(scope.zone), min(scope.month.end(scope.zone), whole(scope.as_of)))
    mine = list(entries)
    found = _Month(span)
    for fact in facts:
        found.read(fact)
    for wait in waits:
        found.wait(wait)
    for entry in mine:
        found.device_seconds[entry.job] += entry.device_seconds
    return Report(
        project=scope.project,
        month=str(scope.month),
        timezone=scope.zone.key,
        as_of=scope.as_of,
        waited=_waited([seconds for each in found.waits.values() for seconds in each], len(found.waiting)),
        used=tuple(_used(mine, promises, span)),
        failed=_failed(found, mine),
        jobs=tuple(found.lines()),
    )


@dataclass(frozen=True, slots=True)
class Span:
    """The part of the month that is over."""

    first: datetime
    last: datetime

    def has(self, at: datetime) -> bool:
        return self.first <= at < self.last

    def seconds(self, since: datetime, until: datetime) -> int:
        """Whole seconds of it between two moments."""
        return max(0, (min(until, self.last) - max(since, self.first)) // SECOND)


@dataclass(slots=True)
class _Month:
    """What the facts say of jobs and of the attempts that ended in the month."""

    span: Span
    submitted: dict[JobId, JobSubmitted] = field(default_factory=dict)
    ended: dict[AttemptId, AttemptEnded] = field(default_factory=dict)
    preempted: set[AttemptId] = field(default_factory=set)
    drilled: set[AttemptId] = field(default_factory=set)
    faults: dict[AttemptId, str] = field(default_factory=dict)
    waits: defaultdict[JobId, list[int]] = field(default_factory=lambda: defaultdict(list))
    waiting: set[JobId] = field(default_factory=set)
    device_seconds: Counter[JobId] = field(default_factory=Counter)

    def read(self, fact: Fact) -> None:
        """Take one fact in; the same one twice counts once."""
        if isinstance(fact, JobSubmitted):
            self.submitted.setdefault(fact.job, fact)
        elif isinstance(fact, AttemptEnded) and self.span.has(fact.at):
            self.ended.setdefault(fact.attempt, fact)
        elif isinstance(fact, PreemptionOrdered):
            self.preempted.add(fact.attempt)
        elif isinstance(fact, DrillOrdered):
            self.drilled.add(fact.attempt)
        elif isinstance(fact, VerdictReached):
            self.faults[fact.attempt] = fact.fault

    def wait(self, wait: Wait) -> None:
        """Waits count in the month in which they ended."""
        if wait.end is not None and wait.started and self.span.has(wait.end):
            self.waits[wait.job].append((whole(wait.end) - whole(wait.start)) // SECOND)
        elif wait.start < self.span.last and (wait.end is None or wait.end >= self.span.last):
            self.waiting.add(wait.job)

    def how(self, attempt: AttemptId) -> str:
        """`preempted`, `drilled`, `failed`, `succeeded` or `stopped`."""
        outcome = self.ended[attempt].outcome
        if attempt in self.preempted and outcome is not Outcome.SUCCEEDED:
            return "preempted"
        if outcome in FAILED:
            return "drilled" if attempt in self.drilled else "failed"
        return outcome.value

    def lines(self) -> Iterator[JobLine]:
        """Every job that waited, had devices or ended an attempt in the month, by its submission."""
        ends: defaultdict[JobId, list[AttemptId]] = defaultdict(list)
        for attempt, fact in self.ended.items():
            ends[fact.job].append(attempt)
        for job, submitted in self.submitted.items():
            if job not in self.waits and job not in self.waiting and job not in ends and not self.device_seconds[job]:
                continue
            hows = Counter(self.how(attempt) for attempt in ends[job])
            yield JobLine(
                job=job,
                name=submitted.name,
                devices=submitted.devices,
                starts=len(self.waits.get(job, ())),
                wait_seconds=sum(self.waits.get(job, ())),
                waiting=job in self.waiting,
                device_seconds=self.device_seconds[job],
                attempts=len(ends[job]),
                failed=hows["failed"],
                preempted=hows["preempted"],
                drilled=hows["drilled"],
                faults=tuple(self.faults.get(a, UNKNOWN) for a in ends[job] if self.how(a) == "failed"),
            )


def _waited(seconds: list[int], waiting: int) -> Waited:
    ordered, count = sorted(seconds), len(seconds)
    edges = [0, *(bisect_right(ordered, bound) for bound in BOUNDS), count]
    return Waited(
        starts=count,
        wait_seconds=sum(ordered),
        mean_s=fmean(ordered) if ordered else None,
        p50_s=ordered[count // 2] if ordered else None,
        p90_s=ordered[min(count - 1, int(0.9 * count))] if ordered else None,
        max_s=ordered[-1] if ordered else None,
        spread=tuple(
            Bin(up, after - before) for up, (before, after) in zip((*BOUNDS, None), pairwise(edges), strict=True)
        ),
        waiting=waiting,
    )


def _used(entries: Iterable[Entry], promises: Iterable[Promise], span: Span) -> Iterator[Used]:
    had, own = Counter[str](), Counter[str]()
    for entry in entries:
        had[entry.device_type] += entry.device_seconds
    for promise in promises:
        own[promise.device_type] += promise.devices * span.seconds(promise.since, promise.until)
    for kind in sorted(had | own):
        yield Used(kind, had[kind], own[kind], had[kind] / own[kind] if own[kind] else None)


def _failed(found: _Month, entries: Iterable[Entry]) -> Failed:
    hows = {attempt: found.how(attempt) for attempt in found.ended}
    counts = Counter(hows.values())
    by_themselves = counts["failed"] + counts["succeeded"]
    return Failed(
        ended=len(hows),
        failed=counts["failed"],
        rate=counts["failed"] / by_themselves if by_themselves else None,
        preempted=counts["preempted"],
        drilled=counts["drilled"],
        faults=dict(Counter(found.faults.get(a, UNKNOWN) for a, how in hows.items() if how == "failed").most_common()),
        device_seconds=sum(entry.device_seconds for entry in entries if hows.get(entry.attempt) == "failed"),
    )
