"""When queued jobs will start: a range, from stepping the desk forward through virtual time.

Each draw gives every job one run time; all queued jobs share the draw's run. Decides nothing about the real queue, and
says `unknown` rather than invent a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil

from headway.domain.ids import JobId
from headway.scheduler.desk.asks import rank
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.turn import Turn
from headway.scheduler.draws import Draws
from headway.scheduler.lane import DAY, Lane, Reach, look_ahead
from headway.scheduler.plan import (
    ApprovalPending,
    BudgetSpent,
    DependencyFailed,
    Forecast,
    NodesUnfit,
    QuotaReached,
    Reason,
)
from headway.scheduler.reasons import Reasons
from headway.scheduler.snapshot import QueuedJob, Runtimes, Snapshot

SMALL, LARGE = 300, 3000
"""Up to so many jobs every end is a moment of its own; beyond so many, moments are coarse."""
BATCH, COARSE_BATCH, COARSER = 0.03, 0.05, 0.06
"""Beyond that, the next so many of all ends count as one moment, and more the farther ahead: half as many again after
eight hours, more than twice as many after a day."""
HOPELESS = (NodesUnfit, QuotaReached, DependencyFailed, ApprovalPending, BudgetSpent)


@dataclass(frozen=True, slots=True)
class Ahead:
    """What all draws came to: one lane a draw, from one desk."""

    desk: Desk
    lanes: tuple[Lane, ...]

    def waits(self, job: JobId) -> list[float]:
        """Seconds from now to its start, over the draws that reached it, sorted."""
        return sorted(lane.starts[job] - self.desk.now for lane in self.lanes if job in lane.starts)

    def passable(self, job: JobId) -> float:
        """Seconds for which it counts as submitted later than now: shorter ones that come then are put before it."""
        ask = self.desk.lines.asks.get(job)
        return 0.0 if ask is None else max(0.0, ask.counts_from - self.desk.now)


def forecast(
    snapshot: Snapshot, runtimes: Runtimes, draws: int = 20, *, reach: Reach | None = None
) -> Mapping[JobId, Forecast]:
    """The start-time range of every queued job, over `draws` runs through virtual time.

    Jobs beyond the reach are `too-far`, with the time they will not start before.
    """
    desk = Desk(snapshot)
    ahead = ahead_of(desk, runtimes, draws, reach, snapshot.arrivals)
    reasons = _Nevers(ahead)
    return {job.id: _range(job.id, ahead, reasons) for job in snapshot.queued}


def ahead_of(
    desk: Desk,
    runtimes: Runtimes,
    draws: int = 20,
    reach: Reach | None = None,
    arrivals: Sequence[QueuedJob] = (),
) -> Ahead:
    """All draws from one desk, which stays as it is. `arrivals`: past submissions, oldest first; those of a higher
    class than somebody who waits come again. How many of the same class pass him is learned (see `passing`)."""
    desk = desk.copy()
    lowest = max((line.rank for line in map(desk.lines.lines.__getitem__, desk.lines.live)), default=0)
    arrivals = [job for job in arrivals if rank(job) < lowest]
    reach = _grained(reach or Reach(), len(desk.claims) + len(desk.lines.asks))
    drawn = Draws(desk, runtimes, draws)
    lanes = [look_ahead(desk.copy(), drawn, n, reach, coming(arrivals, desk, n, draws)) for n in range(draws)]
    return Ahead(desk, tuple(lanes))


def _grained(reach: Reach, jobs: int) -> Reach:
    """How many ends count as one moment, unless the reach says so itself."""
    if reach.batch or jobs <= SMALL:
        return reach
    return replace(reach, batch=BATCH if jobs <= LARGE else COARSE_BATCH, coarser=COARSER)


def coming(arrivals: Sequence[QueuedJob], desk: Desk, draw: int, draws: int) -> Iterator[tuple[float, QueuedJob]]:
    """Past submissions come again, round and round, each draw beginning at another point of the past: at another day
    where whole days are known, so that what came in the morning comes in the morning."""
    if len(arrivals) < 2:
        return
    ages = [desk.now - desk.seconds(job.submitted_at) for job in arrivals]
    days = int(ages[0] // DAY)
    span = days * DAY or ages[0] + ages[0] / len(ages)
    shift = 1 + draw * days // draws if days else draw / draws
    again = [((shift * (DAY if days else span) - age) % span, n) for n, age in enumerate(ages) if age <= span]
    for after, n in sorted(again):
        yield desk.now + after, _again(arrivals[n], desk, after, n)


def _again(job: QueuedJob, desk: Desk, after: float, number: int) -> QueuedJob:
    return replace(
        job, id=JobId(f"~{number}"), submitted_at=desk.moment(desk.now + after), after=(), after_ok=(), awaits=None
    )


def _range(job: JobId, ahead: Ahead, nevers: "_Nevers") -> Forecast:
    times, draws, desk = ahead.waits(job), len(ahead.lanes), ahead.desk
    median, late = ceil(draws * 0.5) - 1, ceil(draws * 0.9) - 1
    as_of = desk.moment(desk.now)
    if late < len(times):
        p50, p90 = (as_of + timedelta(seconds=times[place]) for place in (median, late))
        return Forecast(job, as_of, p50, p90, passable=timedelta(seconds=ahead.passable(job)))
    short = next(lane for lane in ahead.lanes if job not in lane.starts)
    if short.stuck:
        return Forecast(job, as_of, unknown=nevers.why(job, short))
    stopped = min(lane.stopped for lane in ahead.lanes if job not in lane.starts)
    return Forecast(
        job, as_of, unknown="too-far", not_before=desk.moment(min([stopped, *(desk.now + t for t in times)]))
    )


class _Nevers:
    """Why a job never starts in a lane where nothing ends any more."""

    def __init__(self, ahead: Ahead) -> None:
        self._ahead = ahead
        self._reasons: dict[int, Reasons] = {}

    def why(self, job: JobId, lane: Lane) -> str:
        """`no-history` where something runs on with no known end; else the reason itself."""
        assert isinstance(lane.last, Turn)
        desk = lane.last.desk
        if job in desk.gated:
            reason = desk.asking.gate(desk.gated[job], desk)
        else:
            known = self._reasons.setdefault(id(lane), Reasons(lane.last))
            ask = desk.lines.asks[job]
            reason = known.of(ask, desk.lines.lines[ask.line])
        assert reason is not None
        return "no-history" if desk.claims and not _is_hopeless(reason) else reason.code


def _is_hopeless(reason: Reason) -> bool:
    return isinstance(reason, HOPELESS) and not (isinstance(reason, QuotaReached) and reason.wanted <= reason.quota)
