"""P1: one plan, one forecast and one event on a very large cluster, on one core.

`python -m benchmarks.cycle --nodes 12800 --running 10000 --queued 50000 --json` prints one JSON object. Times are CPU
seconds of this single-threaded process, the garbage collector set as the server sets it. The cluster is full, its jobs
of mixed shapes, limits and histories, in 200 projects with guarantees, borrowing and fair share.
"""

import json
import resource
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from time import process_time

from headway.domain.ids import JobId, attempt_id
from headway.domain.job import Priority
from headway.domain.quota import Branch, Entry, QuotaTree
from headway.domain.resources import Node, Placement, Request
from headway.scheduler.cycle import schedule
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.turn import Turn
from headway.scheduler.forecast import forecast
from headway.scheduler.predict import History, traits_of
from headway.scheduler.snapshot import QueuedJob, RunningJob, Runtimes, Snapshot
from headway.server.collector import relax

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
DRAWS = 20
SHAPES = [(1, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 8), (2, 8), (4, 8), (8, 8), (16, 8), (32, 8)]
HOURS = (0.5, 1, 2, 4, 8, 12, 24, 48, 72, 168)
CLASSES = (Priority.NORMAL, Priority.NORMAL, Priority.NORMAL, Priority.HIGH, Priority.LOW)


def a_large_snapshot(nodes: int, running: int, queued: int, projects: int = 200) -> Snapshot:
    """A full cluster with a long queue; the same every time."""
    random = Random(1)
    names = [f"p{number:03}" for number in range(projects)]
    share = nodes * 8 // projects // 4
    branches = {name: Branch(name, f"d{n % 10}", True, {"h200": Entry(share, None)}) for n, name in enumerate(names)}
    branches |= {f"d{n}": Branch(f"d{n}", None, False, {"h200": Entry(nodes * 8 // 10, None)}) for n in range(10)}
    history = History()
    waiting = tuple(_queued(number, names, random) for number in range(queued))
    for job in waiting:
        assert job.limit is not None
        history.add(traits_of(job), job.limit.total_seconds() * random.random() ** 2)
    return Snapshot(
        version=1,
        now=NOW,
        nodes=tuple(Node(f"n{number:05}", "slurm", "h200", 8) for number in range(nodes)),
        running=tuple(_running(nodes, running, names, random)),
        queued=waiting,
        tree=QuotaTree(branches),
        usage={(name, "h200"): random.expovariate(1 / 5000) for name in names},
        runtimes=Runtimes(by_kind=history.runtimes.by_kind),
    )


def _queued(number: int, names: list[str], random: Random) -> QueuedJob:
    nodes, devices = random.choice(SHAPES)
    return QueuedJob(
        id=JobId(f"q{number:06}"),
        name=f"q{number}",
        project=random.choice(names),
        owner=f"u{random.randrange(1000)}",
        priority=random.choice(CLASSES),
        request=Request(nodes, devices, devices),
        submitted_at=NOW - timedelta(seconds=random.randrange(86400 * 3)),
        template=f"t{random.randrange(20)}",
        limit=timedelta(hours=random.choice(HOURS)),
    )


def _running(nodes: int, running: int, names: list[str], random: Random) -> Iterator[RunningJob]:
    """Jobs on all nodes: gangs of whole nodes, and two halves where there are jobs enough."""
    spread = max(1, nodes // max(1, running))
    halves = max(0, min(nodes, running - nodes // 2))
    at = number = 0
    while at < nodes and number < running:
        if number < 2 * (halves // 2):
            place = (Placement(f"n{at:05}", tuple(range(4)) if number % 2 == 0 else tuple(range(4, 8))),)
            at += number % 2
        else:
            left = -(-(nodes - at) // max(1, running - number))
            wide = max(spread, left)
            place = tuple(Placement(f"n{n:05}", tuple(range(8))) for n in range(at, min(nodes, at + wide)))
            at += wide
        ran = timedelta(seconds=random.randrange(3600 * 20))
        yield _one(number, place, ran, names, random)
        number += 1


def _one(number: int, place: tuple[Placement, ...], ran: timedelta, names: list[str], random: Random) -> RunningJob:
    job = JobId(f"r{number:06}")
    return RunningJob(
        id=job,
        attempt=attempt_id(job, 1),
        name=job,
        project=random.choice(names),
        owner=f"u{random.randrange(1000)}",
        priority=Priority.NORMAL,
        device_type="h200",
        placements=place,
        placed_at=NOW - ran,
        template=f"t{random.randrange(20)}",
        limit=ran + timedelta(hours=random.choice(HOURS)),
        saved_at=NOW - ran * random.random(),
    )


def main() -> None:
    """Measure, and print."""
    parser = ArgumentParser(prog="benchmarks.cycle", description=__doc__)
    parser.add_argument("--nodes", type=int, default=12800)
    parser.add_argument("--running", type=int, default=10000)
    parser.add_argument("--queued", type=int, default=50000)
    parser.add_argument("--json", action="store_true", help="nothing but the JSON object")
    args = parser.parse_args()
    snapshot = a_large_snapshot(args.nodes, args.running, args.queued)
    relax()
    began = process_time()
    plan = schedule(snapshot)
    plan_s = process_time() - began
    assert len(plan.starts) + len(plan.waits) == args.queued
    events = _events(snapshot)
    began = process_time()
    told = forecast(snapshot, snapshot.runtimes, DRAWS)
    said = {
        "plan_s": round(plan_s, 3),
        "forecast_s": round(process_time() - began, 2),
        "draws": DRAWS,
        "ranged": sum(range_.p50 is not None for range_ in told.values()),
        "incremental_ms": round(1000 * sorted(events)[len(events) // 2], 1),
        "incremental_worst_ms": round(1000 * max(events), 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "running": len(snapshot.running),
        "preemptions": len(plan.preemptions),
    }
    print(json.dumps(said))


def _events(snapshot: Snapshot) -> list[float]:
    """CPU seconds of the cycle after each of a few ends, on a desk that is kept."""
    desk = Desk(snapshot)
    desk.advance(0.0)
    Turn(desk).run(promise_all=True)
    spent = []
    for number, job in enumerate([*desk.claims][:21], start=1):
        began = process_time()
        desk.finish(job)
        desk.advance(float(number))
        Turn(desk).run()
        spent.append(process_time() - began)
    return spent


if __name__ == "__main__":
    main()
