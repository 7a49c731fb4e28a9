"""Where readings are kept: Headway's store against plain SQLite rows and, where it is installed, DuckDB.

Every side gets the same reports of 35 readings (one node: 3 of the host, 4 of each of 8 cards, every 2 s) in the same
order: the first half one report a call, the second half 20 a call. The floor is a binary file that is only appended to.
Each side runs in a process of its own, one after the other; inserts are counted by CPU time, questions by the clock.
`python -m benchmarks.readings [--json] [--hours H]`.
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.reading_sides import ATTEMPT, SIDES, START
from headway.store.readings import Reading

NODES = 10
DEVICES = 8
EVERY_SECONDS = 2.0
BATCH = 20
KILLS = 5


@dataclass(frozen=True)
class Result:
    """One side. Questions: `util_percent` of a node's 8 cards in 500 points, over the last hour and over all."""

    label: str
    readings: int
    singly_per_s: float
    batched_per_s: float
    bytes_per_reading: float
    hour_ms: float
    all_ms: float
    peak_mib: float
    lost_by_kill: int


def reports(hours: float) -> Iterator[list[Reading]]:
    """What the agents of one attempt send: figures that wander as those of hosts and cards do."""
    draw = random.Random(7)
    level: dict[tuple[int, int | None, str], float] = {}

    def reading(node: int, device: int | None, at: datetime, name: str, unit: float) -> Reading:
        key = (node, device, name)
        level[key] = level.get(key, 60.0) + draw.gauss(0, 0.5)
        return Reading(ATTEMPT, f"n{node}", None, device, name, at, round(level[key] / unit) * unit)

    for tick in range(int(hours * 3600 / EVERY_SECONDS)):
        for node in range(NODES):
            at = START + timedelta(seconds=tick * EVERY_SECONDS + node * 0.01 + draw.random() * 0.004)
            host = [("cpu_percent", 0.1), ("memory_bytes", 1 / 4096), ("network_bytes_per_second", 1 / 65536)]
            card = [("util_percent", 1.0), ("memory_mib", 1.0), ("power_watts", 0.01), ("temperature_celsius", 1.0)]
            rows = [reading(node, None, at, *each) for each in host]
            yield rows + [reading(node, device, at, *each) for device in range(DEVICES) for each in card]


def measure(name: str, hours: float, answer: Connection) -> None:
    """Fill one side, ask it, and look at its disk and memory."""
    side, sent = SIDES[name], list(reports(hours))
    singly, batched = sent[: len(sent) // 2], sent[len(sent) // 2 :]
    batches = [[row for report in batched[at : at + BATCH] for row in report] for at in range(0, len(batched), BATCH)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        store = side(Path(folder))
        rates = [_rate(store.add, calls) for calls in (singly, batches)]
        end = START + timedelta(hours=hours)
        hour = _median_ms(lambda: store.ask("util_percent", end - timedelta(hours=1), end))
        whole = _median_ms(lambda: store.ask("util_percent", START, end))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        count = store.stored()
        store.close()
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    answer.send(Result(side.label, count, rates[0], rates[1], size / count, hour, whole, grown, 0))


def lost_by_kill(name: str) -> int:
    """How many readings are missing of those acknowledged by a process killed while it writes; the worst of 5."""
    worst = 0
    for number in range(KILLS):
        with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
            ours, theirs = multiprocessing.Pipe()
            child = _start(_fill, name, Path(folder), theirs)
            theirs.close()
            kept = 0
            while kept < 10_000 + 3_000 * number:
                kept = ours.recv()
            child.kill()
            child.join()
            while (latest := _received(ours)) is not None:
                kept = latest
            store = SIDES[name](Path(folder))
            worst = max(worst, kept - store.stored())
            store.close()
    return worst


def _fill(name: str, folder: Path, acknowledge: Connection) -> None:
    store, kept = SIDES[name](folder), 0
    for report in reports(24.0):
        store.add(report)
        kept += len(report)
        acknowledge.send(kept)


def _received(connection: Connection) -> int | None:
    try:
        found: int = connection.recv()
    except EOFError:
        return None
    return found


def _start(target: object, *arguments: object) -> multiprocessing.Process:
    child = multiprocessing.get_context("spawn").Process(target=target, args=arguments)  # type: ignore[arg-type]
    child.start()
    return child  # type: ignore[return-value]


def _rate(add: object, calls: list[list[Reading]]) -> float:
    begun = time.process_time()
    for rows in calls:
        add(rows)  # type: ignore[operator]
    return sum(map(len, calls)) / (time.process_time() - begun)


def _median_ms(ask: object) -> float:
    times = []
    for _ in range(9):
        begun = time.perf_counter()
        assert ask()  # type: ignore[operator]
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


def table(results: list[Result]) -> str:
    """The results as a Markdown table."""
    head = (
        "| side | inserts a CPU second, 35 a call | 700 a call | bytes a reading | one hour, ms | all, ms "
        "| memory grown, MiB | lost by kill -9 |"
    )
    body = [
        f"| {r.label} | {r.singly_per_s:,.0f} | {r.batched_per_s:,.0f} | {r.bytes_per_reading:.1f} | {r.hour_ms:.1f} "
        f"| {r.all_ms:.1f} | {r.peak_mib:.0f} | {r.lost_by_kill} |"
        for r in results
    ]
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *body])


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hours", type=float, default=4.0)
    options = parser.parse_args()
    results = []
    for name in SIDES:
        if name == "duckdb" and find_spec("duckdb") is None:
            continue
        ours, theirs = multiprocessing.Pipe()
        child = _start(measure, name, options.hours, theirs)
        theirs.close()
        result = ours.recv()
        child.join()
        results.append(Result(**{**asdict(result), "lost_by_kill": lost_by_kill(name)}))
    if options.json:
        print(json.dumps([asdict(result) for result in results]))
    else:
        print(f"{results[0].readings:,} readings of {options.hours:g} h, {os.cpu_count()} cores\n\n{table(results)}")


if __name__ == "__main__":
    main()
