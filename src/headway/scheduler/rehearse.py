"""A rehearsal: past jobs under a proposed quota table, or with more nodes, and what that would have meant.

Everything goes through the same desk and turns as the real queue. Decides only how the outcome is told.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from headway.domain.resources import Request
from headway.scheduler.desk.desk import Desk
from headway.scheduler.predict import History
from headway.scheduler.replay import Past, Replay
from headway.scheduler.snapshot import Snapshot

WIDE = 8
"""More devices than one usual node has: reported apart, since wide jobs wait for others to clear away."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Waits in seconds; `slowdown` is (wait + run time) ÷ run time, runs under a minute counted as one.

    `utilisation`: the share of all devices that these jobs had, until the last submission, when the trace runs dry;
    None where all came at once.
    """

    jobs: int
    mean_wait: float
    p50_wait: float
    p90_wait: float
    max_wait: float
    slowdown: float
    evictions: int
    utilisation: float | None


@dataclass(frozen=True, slots=True)
class Supply:
    """What there was to use: so many devices for so many seconds."""

    seconds: float
    devices: int

    def share(self, device_seconds: float) -> float | None:
        """The part of it that so much is; None where there was nothing."""
        return device_seconds / (self.seconds * self.devices) if self.seconds * self.devices else None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of it, as a whole, of wide jobs, and by project."""

    whole: Outcome
    wide: Outcome | None
    by_project: Mapping[str, Outcome]
    breach: float


def rehearse(past: Sequence[Past], snapshot: Snapshot, *, guarantees: bool = False) -> tuple[Rehearsal, Replay]:
    """Replay the jobs on the snapshot's nodes under its tree and policy; what runs and waits in it is left out."""
    history = History()
    empty = replace(snapshot, running=(), queued=(), holds=(), runtimes=history.runtimes)
    run = Replay(Desk(empty), history, guarantees=guarantees)
    run.run(past)
    return outcome_of(past, run), run


def outcome_of(past: Sequence[Past], run: Replay) -> Rehearsal:
    """What came of a replay."""
    by_project: dict[str, list[Past]] = defaultdict(list)
    for job in past:
        by_project[job.job.project].append(job)
    wide = [job for job in past if job.job.request.devices > WIDE]
    supply = Supply(past[-1].submitted, sum(pool.devices for pool in run.desk.pools))
    return Rehearsal(
        whole=_outcome(past, supply),
        wide=_outcome(wide, supply) if wide else None,
        by_project={project: _outcome(jobs, supply) for project, jobs in sorted(by_project.items())},
        breach=run.breach,
    )


def fairness(outcomes: Mapping[str, Outcome], least: int = 100) -> float | None:
    """Jain's index over the projects' slowdowns (those with `least` jobs): 1 is equal; None with fewer than two."""
    slow = [outcome.slowdown for outcome in outcomes.values() if outcome.jobs >= least]
    return sum(slow) ** 2 / (len(slow) * sum(x * x for x in slow)) if len(slow) > 1 else None


def shape(devices: int, per_node: int) -> Request:
    """A trace's number of devices as equal shares of as few nodes as hold them, rounded up."""
    nodes = -(-devices // per_node)
    each = -(-devices // nodes)
    return Request(nodes=nodes, devices_per_node=each, ranks_per_node=each)


def _outcome(jobs: Sequence[Past], supply: Supply) -> Outcome:
    waits = sorted(job.wait for job in jobs)
    return Outcome(
        jobs=len(jobs),
        mean_wait=fmean(waits),
        p50_wait=waits[len(waits) // 2],
        p90_wait=waits[min(len(waits) - 1, int(0.9 * len(waits)))],
        max_wait=waits[-1],
        slowdown=fmean(max(1.0, (job.wait + job.length) / max(job.length, 60.0)) for job in jobs),
        evictions=sum(job.evictions for job in jobs),
        utilisation=supply.share(sum(job.held_until(supply.seconds) for job in jobs)),
    )
