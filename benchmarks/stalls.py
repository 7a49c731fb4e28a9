"""False stalls over simulated hours of healthy trainings, and how soon hangs put into such trainings are called.

`python -m benchmarks.stalls [--json] [--hours N] [--hangs N]`. A simulated clock: the detector is the server's own,
what it sees is made up by `benchmarks/healthy.py`. The limit for a hang is max(5 x the 99th percentile of its step
times, 60 s) after its last sign of life. Beside it stands what silence of steps and log alone would have called.
"""

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from statistics import median

from benchmarks.healthy import BEGIN, STOPPED, TICK_S, WAIT, Seen, Site, Stretch, script
from benchmarks.table import Goal, Result, machine, publish
from headway.diagnosis.stall.signs import Patience, Signs
from headway.diagnosis.stall.watch import Stall, Watch

RUN_HOURS = 12.0
HOURS = 1000.0
HANGS = 200
SEED = 5


@dataclass(frozen=True)
class Healthy:
    """One healthy run: its simulated hours, the stalls called in it, and how often silence alone would have called."""

    seed: int
    hours: float
    false: tuple[tuple[str, Stall], ...]
    by_silence: int


@dataclass(frozen=True)
class Hang:
    """One hang: seconds from its last sign of life until it was called (None: never), and what was allowed."""

    seed: int
    kind: str
    seconds: float | None
    limit_s: float


def healthy(seed: int, hours: float) -> Healthy:
    """Watch one healthy run to its end."""
    random = Random(seed)
    seen, watch, silence = Seen(Site.random(random), random), Watch(Patience(), BEGIN), Silence()
    false: list[tuple[str, Stall]] = []
    for stretch in script(random, hours):
        for signs in seen.of(stretch):
            called = watch.see(signs)
            false += [(stretch.kind, called)] if isinstance(called, Stall) else []
            silence.see(signs, watch)
    return Healthy(seed, seen.seconds / 3600, tuple(false), silence.calls)


class Silence:
    """The plain detector: steps and log silent for longer than the limit, whatever the machines do."""

    def __init__(self) -> None:
        self.calls = 0
        self._moved, self._log, self._called = BEGIN, 0, False

    def see(self, signs: Signs, watch: Watch) -> None:
        """Count a call where silence becomes longer than the limit."""
        if signs.steps or signs.log_bytes > self._log or not watch.rhythm.is_learnt:
            self._moved, self._log, self._called = signs.at, signs.log_bytes, False
        elif not self._called and signs.at - self._moved > limit_of(watch):
            self.calls, self._called = self.calls + 1, True


def limit_of(watch: Watch) -> timedelta:
    """The target's limit for this run."""
    return max(5 * watch.rhythm.slowest(), timedelta(seconds=60))


def hang(seed: int) -> Hang:
    """Put a hang into a run that makes steps, and watch until it is called or an hour has passed."""
    random = Random(f"hang {seed}")
    site, kind = Site.random(random), random.choice((WAIT, STOPPED))
    seen, watch = Seen(site, random, gaps=False), Watch(Patience(), BEGIN)
    moved = BEGIN
    for signs in seen.of(Stretch("steps", random.uniform(40, 400) * site.step_s)):
        watch.see(signs)
        moved = signs.at if signs.steps else moved
    limit = limit_of(watch)
    called = _until_called(watch, seen.of(Stretch("hang", 3600, kind, WAIT)))
    seconds = None if called is None else (called - moved).total_seconds()
    return Hang(seed, f"{kind}, cards {site.cards}", seconds, limit.total_seconds())


def _until_called(watch: Watch, signs: Iterable[Signs]) -> datetime | None:
    for one in signs:
        if isinstance(called := watch.see(one), Stall):
            return called.at
    return None


def measure(hours: float, hangs: int) -> Result:
    """Both halves."""
    began = time.process_time()
    runs = [healthy(SEED + number, RUN_HOURS) for number in range(round(hours / RUN_HOURS))]
    hung = [hang(SEED + number) for number in range(hangs)]
    spent = time.process_time() - began
    total, false = sum(run.hours for run in runs), sum(len(run.false) for run in runs)
    late = [one for one in hung if one.seconds is None or one.seconds > one.limit_s]
    kinds = sorted({one.kind for one in hung})
    rows = [
        ("what", "number", "result"),
        ("healthy hours", f"{total:,.0f}", f"{false} false stalls"),
        ("the same, silence alone", f"{total:,.0f}", f"{sum(run.by_silence for run in runs)} false stalls"),
        *((f"hang: {kind}", str(sum(one.kind == kind for one in hung)), _told(hung, kind)) for kind in kinds),
    ]
    goals = [
        Goal("healthy hours", total, "at least", 1000),
        Goal("false stalls", false, "at most", 0),
        Goal("hangs called in time, share", 1 - len(late) / max(1, len(hung)), "at least", 1),
    ]
    notes = [f"{spent:.0f} s of processor time; a tick is {TICK_S:g} s"]
    figures = {"healthy_hours": total, "false_stalls": false, "hangs": [vars(one) for one in hung]}
    return Result("stalls", f"a simulated clock, seeds from {SEED}", rows, goals, notes, figures)


def _told(hung: Sequence[Hang], kind: str) -> str:
    shares = [one.seconds / one.limit_s for one in hung if one.kind == kind and one.seconds is not None]
    missed = sum(one.kind == kind and one.seconds is None for one in hung)
    shown = f"median {median(shares):.2f}, worst {max(shares):.2f} of the limit" if shares else ""
    return f"{shown}; {missed} never called" if missed else shown


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="few hours: to see that it works")
    parser.add_argument("--hours", type=float, help=f"simulated hours of healthy runs (default {HOURS:g})")
    parser.add_argument("--hangs", type=int, default=HANGS, help=f"hangs (default {HANGS})")
    given, here = parser.parse_args(), machine()
    hours = given.hours or (2 * RUN_HOURS if given.quick else HOURS + 2 * RUN_HOURS)
    publish(measure(hours, given.hangs), given.json, here)


if __name__ == "__main__":
    main()
