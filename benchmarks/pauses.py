"""P6 within one run: a training's steps a second while the platform runs beside it and while it is paused.

One rank of examples/tiny_gpt on core 0; the server, its gateway and the agent on core 1, stopped and let go in turn
every second. What a neighbour of the machine does to the rank so meets both sides of a pair alike, and a run has pairs
by the hundred, where whole runs in turn (`benchmarks.overhead`) differ by more than is to be measured. The figure is
the median ratio of the pairs, less what a save holds the rank up as often as is advised.
`python -m benchmarks.pauses [--json] [--pairs N]`.
"""

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from benchmarks import training
from benchmarks.intervals import median_interval
from benchmarks.overhead import ADVISED, ADVISED_TARGET, FIRST, command, cores, on_core
from benchmarks.server import Server, server, wait_for
from benchmarks.table import Goal, Result, machine, publish
from headway.registry.cadence import best

SPAN_S = 1.0
EDGE_S = 0.1
"""After each change nothing is counted for so long."""
LONG = 1 << 20
OURS = (b"headway.server.main", b"headway.agent.main", b"headway.gateway.main", b"envoy")


class Span(NamedTuple):
    """From when until when (seconds since the epoch) the platform ran, or was stopped."""

    begin: float
    end: float
    is_paused: bool


class Saving(NamedTuple):
    """Seconds a save holds the rank up, and how many the advice leaves between two."""

    blocking: float
    interval: float


def platform_of(here: Server) -> list[int]:
    """Every process of the platform; the rank and what started it are none."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
            folder = os.readlink(entry / "cwd") if words else ""
        except OSError:
            continue
        is_of_home = str(here.home).encode() in words or folder.startswith(str(here.home))
        if is_of_home and any(name in words for name in OURS):
            found.append(int(entry.name))
    return found


@contextmanager
def paused(processes: Sequence[int]) -> Iterator[None]:
    """Not one instruction of these runs within."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def spans(here: Server, pairs: int) -> list[Span]:
    """Stop the platform and let it go, in turn; whichever begins changes with each pair."""
    processes, done = platform_of(here), list[Span]()
    for number in range(2 * pairs):
        is_paused, begin = number % 4 in (0, 3), time.time()
        with paused(processes) if is_paused else nullcontext():
            time.sleep(SPAN_S)
            done.append(Span(begin, time.time(), is_paused))
    return done


def pace(times: Sequence[float], span: Span) -> float | None:
    """Steps a second in a span, by the rank's own time stamps; None where it made too few to tell."""
    inner = [at for at in times if span.begin + EDGE_S <= at <= span.end]
    return (len(inner) - 1) / (inner[-1] - inner[0]) if len(inner) > FIRST else None


def ratios(times: Sequence[float], measured: Sequence[Span]) -> list[float]:
    """Of each pair of spans, the pace beside the platform to that without."""
    found = []
    for one, other in zip(measured[::2], measured[1::2], strict=True):
        alone, beside = (one, other) if one.is_paused else (other, one)
        bare, ours = pace(times, alone), pace(times, beside)
        if bare and ours:
            found.append(ours / bare)
    return found


def measure(pairs: int) -> Result:
    """One long job, watched through all spans, then stopped."""
    of_rank, of_platform = cores()
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-") as folder:
        data = training.prepare_data(Path(folder))
        with on_core(of_platform), server("n1:1", 1, core=of_platform) as here:
            one_rank = {"nodes": 1, "devices_per_node": 1, "ranks_per_node": 1}
            training.register(here, data, command=command(of_rank), resources=one_rank, checkpoint=ADVISED)
            job = training.submit(here, LONG)
            told = here.home / "run" / f"{job}.1" / "n1" / "rank-0" / "events.jsonl"
            wait_for(lambda: training.events(told, "checkpoint-saved") or None, "the first save", 0.5)
            measured = spans(here, pairs)
            times = [event["t"] for event in training.events(told, "progress")]
            cadence = here.client.cadence(job)
            here.client.stop(job)
            wait_for(lambda: here.client.job(job)["job"]["ended_at"], "the end of the job", 0.5)
    costs, mtbf = (timedelta(seconds=cadence[name]) for name in ("blocking_s", "mtbf_s"))
    saving = Saving(costs.total_seconds(), best(costs, mtbf).total_seconds())
    return result(ratios(times, measured), saving)


def result(found: Sequence[float], saving: Saving) -> Result:
    """The table: what the platform beside costs, what saving costs, and what is left of both."""
    beside, cost = median_interval(found), saving.blocking / saving.interval
    whole = beside.median * (1 - cost)
    rows = [
        ("what", "ratio (interval)"),
        (f"beside the platform, {len(found)} pairs of {SPAN_S:g} s", str(beside)),
        (f"saving {saving.blocking:.3f} s every {saving.interval / 60:.0f} min, as advised", f"{1 - cost:.5f}"),
        ("both", f"{whole:.3f}"),
    ]
    figures = {"beside": asdict(beside), "saving": saving._asdict(), "ratio": whole}
    doubts = beside.doubts(ADVISED_TARGET)
    goal = Goal("ratio", whole, "at least", ADVISED_TARGET)
    return Result("P6", "steps/s of one rank within one run", rows, [goal], doubts, figures)


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.pauses", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--pairs", type=int, default=150, help="pairs of spans")
    given, here = parser.parse_args(), machine()
    publish(measure(given.pairs), given.json, here)


if __name__ == "__main__":
    main()
