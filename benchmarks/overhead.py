"""P6: steps a second of a training under Headway against the same program by hand.

One rank of examples/tiny_gpt on core 0, whoever starts it; the server, its gateway and the agent on core 1. By hand the
server is paused, so that bare means without a platform. Steps a second are counted by the ranks' own time stamps from
step 10 to the last, so that starting up counts on neither side; checkpoints do, as often on both. With `--advised` only
the job saves, as advised but at least every half minute, so that it does so within a run: all that saving costs counts
against it. The figure is the median of the ratios of alternating pairs, with its interval.
`python -m benchmarks.overhead [--advised] [--json] [--quick] [--pairs N] [--steps N]`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks import training
from benchmarks.intervals import median_interval
from benchmarks.server import Server, server, wait_for
from benchmarks.table import Goal, Result, machine, publish
from headway.registry.cadence import best

TARGET, ADVISED_TARGET = 0.98, 0.99
FIRST = 10
RUN_S = 300.0
CHECKPOINT = {"every_steps": 100, "keep": 2}
ADVISED = {"advised": True, "shortest_minutes": 0.1, "longest_minutes": 0.5, "keep": 2}
NEVER = 1 << 30


def cores() -> tuple[int, int]:
    """The rank's core and the platform's. Raises RuntimeError where there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise RuntimeError("two cores are needed: one for the rank, one for the platform")
    return allowed[0], allowed[1]


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """This process stays off the rank's core within."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def command(core: int) -> list[str]:
    """The example's own command, on one core; by hand its placeholders are filled here."""
    words = ["{python}", "{source}/train.py", "--data", "{dataset}", "--steps", "{steps}"]
    return ["taskset", "-c", str(core), *words]


def steps_per_s(events: Path) -> float:
    """From step 10 to the last, by the rank's time stamps."""
    done = [event for event in training.events(events, "progress") if event["step"] >= FIRST]
    return float((done[-1]["step"] - done[0]["step"]) / (done[-1]["t"] - done[0]["t"]))


def bare(data: Path, steps: int, core: int, every: int) -> float:
    """The program by hand, with the environment an agent would give it; saving every so many steps and last."""
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-") as folder:
        rank = Path(folder) / "rank-0"
        rank.mkdir()
        policy = {"HEADWAY_CHECKPOINT_EVERY": every, "HEADWAY_CHECKPOINT_KEEP": CHECKPOINT["keep"]}
        env = training.by_hand(rank, {"RANK": "0", "WORLD_SIZE": "1", **{k: str(v) for k, v in policy.items()}})
        filled = {"python": sys.executable, "source": training.TINY_GPT, "dataset": data, "steps": steps}
        words = [word.format_map(filled) for word in command(core)]
        with (Path(folder) / "log").open("wb") as log:
            subprocess.run(words, env=env, stdout=log, stderr=log, check=True, timeout=RUN_S)
        return steps_per_s(rank / "events.jsonl")


def under_headway(here: Server, steps: int) -> tuple[float, str, int]:
    """The same as a job: its steps a second, its id, and how often it saved before its end."""
    job = training.submit(here, steps)
    wait_for(lambda: here.client.job(job)["job"]["ended_at"], "the end of the job", 0.5, RUN_S)
    state = here.client.job(job)["job"]["state"]
    if state != "succeeded":
        raise RuntimeError(f"the job ended {state}")
    told = here.home / "run" / f"{job}.1" / "n1" / "rank-0" / "events.jsonl"
    return steps_per_s(told), job, len(training.events(told, "checkpoint-saved")) - 1


def measure(pairs: int, steps: int, advised: bool) -> Result:
    """Alternate the sides; whichever begins changes with each pair."""
    of_rank, of_platform = cores()
    floors, ours, saves, interval = [], [], [], None
    policy, every = (ADVISED, NEVER) if advised else (CHECKPOINT, CHECKPOINT["every_steps"])
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-") as folder:
        data = training.prepare_data(Path(folder))
        with on_core(of_platform), server("n1:1", 1, core=of_platform) as here:
            one_rank = {"nodes": 1, "devices_per_node": 1, "ranks_per_node": 1}
            training.register(here, data, command=command(of_rank), resources=one_rank, checkpoint=policy)
            for number in range(2 * pairs):
                if number % 4 in (0, 3):
                    with here.paused():
                        floors.append(bare(data, steps, of_rank, every))
                else:
                    pace, job, saved = under_headway(here, steps)
                    ours.append(pace)
                    saves.append(saved)
                    interval = here.client.cadence(job) if advised else None
    return result(floors, ours, steps, notes_of(interval, saves), ADVISED_TARGET if advised else TARGET)


def notes_of(cadence: dict[str, Any] | None, saves: Sequence[int]) -> list[str]:
    """How often the job saved, and how often it would have by the advice alone."""
    if cadence is None:
        return []
    free = best(timedelta(seconds=cadence["blocking_s"]), timedelta(seconds=cadence["mtbf_s"]))
    return [
        f"saves in each run: {', '.join(map(str, saves))}, at most {ADVISED['longest_minutes'] * 60:g} s apart; "
        f"by the advice alone every {free.total_seconds() / 60:.0f} min, at {cadence['blocking_s']:.2f} s a save"
    ]


def result(
    floors: Sequence[float], ours: Sequence[float], steps: int, notes: Sequence[str] = (), target: float = TARGET
) -> Result:
    """The table, and the interval of the pairs' ratios."""
    ratio = median_interval([one / floor for one, floor in zip(ours, floors, strict=True)])
    rows = [
        ("side", "steps/s, median", "least to most", "ratio of pairs (interval)"),
        ("by hand", f"{statistics.median(floors):.2f}", _range(floors), "1"),
        ("Headway", f"{statistics.median(ours):.2f}", _range(ours), str(ratio)),
    ]
    figures = {"ratio": asdict(ratio), "floor_steps_per_s": list(floors), "headway_steps_per_s": list(ours)}
    title = f"steps/s of one rank, {len(ours)} alternating pairs of {steps} steps"
    doubts = [*notes, *ratio.doubts(target)]
    return Result("P6", title, rows, [Goal("ratio", ratio.median, "at least", target)], doubts, figures)


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; `--quick` takes two short pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--advised", action="store_true", help="against a program that never saves; the job as advised")
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="two short pairs: not a measurement")
    parser.add_argument("--pairs", type=int, help="pairs of runs (default 10)")
    parser.add_argument("--steps", type=int, help="steps of each run (default 800)")
    given = parser.parse_args(arguments)
    given.pairs = given.pairs or (2 if given.quick else 10)
    given.steps = given.steps or (60 if given.quick else 800)
    return given


def main() -> None:
    """Run and print the table."""
    given, here = parse(), machine()
    publish(measure(given.pairs, given.steps, given.advised), given.json, here)


if __name__ == "__main__":
    main()
