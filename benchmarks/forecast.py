"""Start times told at submission, on public traces, with the product's own forecast.

`python -m benchmarks.forecast --trace FILE.csv.gz --nodes N --policy easy|own [--sample K]` prints JSON last.
A job that waits is told a range when it is submitted, by a fresh run of all queued jobs until it has started; where the
last runs had jobs alike next to its place and are younger than 30 s, or than a part of the wait they had, by those. An
estimate is a job with a start in every draw of a run: all that wait share it, whether they were asked about or not.
"""

import json
from argparse import ArgumentParser
from collections import deque
from dataclasses import dataclass, field, replace
from math import ceil
from random import Random
from time import process_time

from benchmarks import trace
from benchmarks.neighbours import Neighbours
from headway.domain.ids import JobId
from headway.scheduler.calibrate import SLACK, Calibration
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.lines import Ask
from headway.scheduler.forecast import ahead_of
from headway.scheduler.lane import Reach
from headway.scheduler.policy import Policy
from headway.scheduler.predict import History, size_class
from headway.scheduler.replay import Past, Replay
from headway.scheduler.snapshot import QueuedJob, Snapshot

DRAWS = 20
STALE = 30.0
PART = 0.5
"""A run may be as old as this part of the wait that it tells."""
KEPT = 8
"""Newest runs that a job may be told by."""
ARRIVALS = 7 * 86400.0


@dataclass(slots=True)
class Told:
    """What a job was told at submission, in seconds of wait, and how it came out."""

    size: str
    passable: float
    raw: float
    p50: float
    p90: float
    actual: float | None = None


@dataclass(slots=True)
class Teller:
    """Watches a replay, tells every job that waits its range, and learns from every start."""

    sample: frozenset[JobId] | None
    arrivals: bool
    calibration: Calibration = field(default_factory=Calibration)
    told: dict[JobId, Told] = field(default_factory=dict)
    waiting: dict[JobId, Told] = field(default_factory=dict)
    runs: deque[Neighbours] = field(default_factory=lambda: deque(maxlen=KEPT))
    spent: float = 0.0
    looked: int = 0
    ranged: int = 0
    recent: list[QueuedJob] = field(default_factory=list)

    def __call__(self, replay: Replay, fresh: list[Past]) -> None:
        for past in [replay.runs[job] for job in [*self.waiting] if job not in replay.desk.lines.asks]:
            self._learn(past)
        if self.arrivals:
            self.recent += [past.job for past in fresh]
        new = [past.job.id for past in fresh if past.job.id in replay.desk.lines.asks]
        new = [job for job in new if self.sample is None or job in self.sample]
        if new:
            began = process_time()
            self._tell(replay, new)
            self.spent += process_time() - began

    def _learn(self, past: Past) -> None:
        told = self.waiting.pop(past.job.id)
        assert past.began is not None
        told.actual = past.began - past.submitted
        self.calibration.learn(told.size, told.raw, told.p90, told.actual, told.passable)

    def _tell(self, replay: Replay, new: list[JobId]) -> None:
        asks = [replay.desk.lines.asks[job] for job in new]
        seen = {ask.id: self._seen(ask, replay.now) for ask in asks}
        unseen = frozenset(job for job, waits in seen.items() if not waits)
        if unseen:
            self._look(replay, unseen)
        for ask in asks:
            waits = seen[ask.id] or self.runs[0].waits(ask, replay.now)
            raw, late = (waits[ceil(len(waits) * part) - 1] for part in (0.5, 0.9))
            passable = max(0.0, ask.counts_from - replay.now)
            size = size_class(ask.job.request.devices)
            told = Told(size, passable, raw, *self.calibration.range(size, raw, late, passable))
            self.told[ask.id] = self.waiting[ask.id] = told

    def _seen(self, ask: Ask, now: float) -> list[float]:
        """Its waits, by draw, as the newest run has them that knows and is young enough for them; else none."""
        for run in self.runs:
            if run.knows(ask):
                waits = run.waits(ask, now)
                return waits if run.age(now) <= max(STALE, PART * waits[len(waits) // 2]) else []
        return []

    def _look(self, replay: Replay, goals: frozenset[JobId]) -> None:
        """A fresh run, until these have started."""
        desk = replay.desk
        self.recent = [job for job in self.recent if desk.seconds(job.submitted_at) > replay.now - ARRIVALS]
        assert replay.history is not None
        reach = Reach(first=1 << 30, seconds=0.0, batch=0.05, goals=goals)
        ahead = ahead_of(desk, replay.history.runtimes, DRAWS, reach, self.recent)
        self.runs.appendleft(Neighbours(ahead))
        self.looked += 1
        self.ranged += sum(all(job in lane.starts for lane in ahead.lanes) for job in ahead.lanes[0].starts)


def main() -> None:
    """Replay one trace, tell every waiting job its range, and print how that came out."""
    parser = ArgumentParser(prog="benchmarks.forecast", description=__doc__)
    trace.options(parser)
    parser.add_argument("--policy", choices=("own", "easy"), default="easy")
    parser.add_argument("--sample", type=int, default=0, help="tell only so many of the jobs that wait; 0: all")
    args = parser.parse_args()
    rows = trace.read(args)
    if args.policy == "easy":  # Classic backfill knows no projects; histories still do, as a template.
        jobs = [
            replace(past, job=replace(past.job, project="all", template=past.job.project))
            for past in trace.past(rows, args.per)
        ]
        rows = [replace(row, project="all") for row in rows]
    else:
        jobs = trace.past(rows, args.per)
    snapshot = trace.cluster(args, trace.open_tree(rows), Policy(fifo=args.policy == "easy", reclaim=False))
    teller = Teller(_sampled(args.sample, jobs, snapshot), arrivals=args.policy == "own")
    history = History()
    Replay(Desk(replace(snapshot, runtimes=history.runtimes)), history, watch=teller).run(jobs)
    print(json.dumps(_summary(teller)))


def _sampled(count: int, jobs: list[Past], snapshot: Snapshot) -> frozenset[JobId] | None:
    if not count:
        return None
    dry, history = [replace(past) for past in jobs], History()
    Replay(Desk(replace(snapshot, runtimes=history.runtimes)), history).run(dry)
    waited = [past.job.id for past in dry if past.wait > 0]
    return frozenset(Random(7).sample(waited, min(count, len(waited))))


def _summary(teller: Teller) -> dict[str, float | int | None]:
    told = [t for t in teller.told.values() if t.actual]
    actual = [t.actual or 0.0 for t in told]
    errors = sorted(abs(t.p50 - wait) for t, wait in zip(told, actual, strict=True))
    near = [0.5 <= (t.p50 + SLACK) / (wait + SLACK) <= 2 for t, wait in zip(told, actual, strict=True)]
    held = [wait <= t.p90 for t, wait in zip(told, actual, strict=True)]
    n = max(1, len(told))
    return {
        "waited": len(told),
        "mae_s": round(sum(errors) / n, 1),
        "zero_mae_s": round(sum(actual) / n, 1),
        "raw_mae_s": round(sum(abs(t.raw - wait) for t, wait in zip(told, actual, strict=True)) / n, 1),
        "median_error_s": round(errors[n // 2], 1) if errors else 0.0,
        "within_2x": round(sum(near) / n, 4),
        "p90_cover": round(sum(held) / n, 4),
        "p90_width": round(sum(t.p90 for t in told) / max(1.0, sum(actual)), 3),
        "ms_per_estimate": round(1000 * teller.spent / max(1, teller.ranged), 2),
        "ms_per_job_told": round(1000 * teller.spent / n, 2),
        "shared_runs": teller.looked,
        "draws": DRAWS,
    }


if __name__ == "__main__":
    main()
