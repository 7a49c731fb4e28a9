"""How near the advised checkpoint interval comes to the best one: failures and saves in simulation.

`python -m benchmarks.cadence [--quick] [--json]`. Time between failures is exponential. Lost is every second that is
not training that counts: saving, and what a failure throws away; restarts are left out, as no interval changes them.
The floor is the best fixed interval for the very same failures, found by search with hindsight. Two sides: the rate
known from the start, and the rate learned failure by failure, the first save's cost unknown, from the published prior.
"""

import math
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from random import Random

from benchmarks.table import Goal, Result, publish
from headway.registry.cadence import ASSUMED, Bounds, Cost, advise
from headway.registry.failure_rate import DAY_S, Belief, Record, learn

RATES = (0.1, 0.5, 2.0, 6.5, 20.0)
"""Failures per 1,000 node-days."""
COSTS = (0.5, 30.0, 300.0)
"""Seconds a save blocks the training."""
NODES = (4, 512)
FAILURES = 20
"""A learner is watched over so many failures of its pool."""
LIVES = 200
WITHIN = 1.05
FREE = Bounds(timedelta(seconds=1), timedelta(days=90))
AGAIN = 1.05
"""A learner asks again when what it has seen of the pool has grown by this factor, and after every failure."""
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the grid: failures per 1,000 node-days, seconds a save blocks, nodes."""

    rate: float
    blocking: float
    nodes: int

    @property
    def mtbf(self) -> float:
        return DAY_S * 1000 / (self.rate * self.nodes)

    @property
    def cost(self) -> Cost:
        wait = timedelta(seconds=self.blocking)
        return Cost(wait, wait, saves=1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Lost time over that of the best fixed interval, with the rate known and with the rate learned."""

    cell: Cell
    best_s: float
    known_s: float
    known: float
    learned: float


def lost_fixed(gaps: Sequence[float], interval: float, blocking: float) -> float:
    """Seconds lost at one interval: all but the whole periods' training."""
    period = interval + blocking
    return sum(gap - gap // period * interval for gap in gaps)


def lost_learning(gaps: Sequence[float], cell: Cell) -> float:
    """Seconds lost by a job that starts with the prior and asks again as it learns."""
    lost = seen = 0.0
    cost, interval = ASSUMED, None
    for failures, gap in enumerate(gaps):
        into = kept = 0.0
        while into < gap:
            belief = learn([Record(failures, seen / DAY_S * cell.nodes)])
            interval = advise(belief, cell.nodes, cost, FREE, interval).interval
            period = interval.total_seconds() + cell.blocking
            until_asked = max(period, (AGAIN - 1) * seen) if cost is not ASSUMED else period
            periods = int(min(gap - into, until_asked) // period)
            if not periods:
                seen += gap - into
                break
            cost = cell.cost
            into += periods * period
            seen += periods * period
            kept += periods * interval.total_seconds()
        lost += gap - kept
    return lost


def search(gaps: Sequence[float], blocking: float, mtbf: float) -> tuple[float, float]:
    """The interval that loses least for these failures, and what it loses: golden section in its logarithm."""
    middle = math.log(math.sqrt(2 * blocking * mtbf))
    low, high = middle - 1.5, middle + 1.5
    steps = [low + (high - low) * i / 24 for i in range(25)]
    losses = [lost_fixed(gaps, math.exp(step), blocking) for step in steps]
    near = losses.index(min(losses))
    low, high = steps[max(0, near - 1)], steps[min(24, near + 1)]
    found = {math.exp(steps[near]): losses[near]}
    for _ in range(12):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        ends = [lost_fixed(gaps, math.exp(x), blocking) for x in (left, right)]
        found |= {math.exp(left): ends[0], math.exp(right): ends[1]}
        low, high = (low, right) if ends[0] < ends[1] else (left, high)
    interval = min(found, key=found.__getitem__)
    return interval, found[interval]


def outcome(cell: Cell, lives: int, seed: int) -> Outcome:
    """One cell: the same failures for the best, the known and the learning side."""
    random = Random(seed)
    all_lives = [[random.expovariate(1 / cell.mtbf) for _ in range(FAILURES)] for _ in range(lives)]
    gaps = [gap for life in all_lives for gap in life]
    best_s, least = search(gaps, cell.blocking, cell.mtbf)
    truth = Belief(1e6, 1e9 / cell.rate)
    known_s = advise(truth, cell.nodes, cell.cost, FREE).interval.total_seconds()
    known = lost_fixed(gaps, known_s, cell.blocking)
    learned = sum(lost_learning(life, cell) for life in all_lives)
    return Outcome(cell, best_s, known_s, known / least, learned / least)


def result(lives: int) -> Result:
    """The whole grid."""
    cells = [Cell(*place) for place in product(RATES, COSTS, NODES)]
    outcomes = [outcome(cell, lives, seed) for seed, cell in enumerate(cells)]
    known, learned = (max(getattr(each, side) for each in outcomes) for side in ("known", "learned"))
    head = ("per 1,000 node-days", "save (s)", "nodes", "best (min)", "advised (min)", "known ×", "learned ×")
    return Result(
        name="cadence",
        title="lost time at the advised interval over that at the best fixed one",
        rows=[head, *map(_row, outcomes)],
        goals=[
            Goal("worst cell, rate known", known, "at most", WITHIN),
            Goal(f"worst cell, rate learned over {FAILURES} failures", learned, "at most", WITHIN),
        ],
        notes=[f"{lives} lives of {FAILURES} failures a cell; best: a fixed interval chosen with hindsight"],
        figures={"worst_known": known, "worst_learned": learned, "cells": len(outcomes), "failures": FAILURES},
    )


def _row(each: Outcome) -> tuple[str, ...]:
    cell = each.cell
    minutes = (f"{each.best_s / 60:.1f}", f"{each.known_s / 60:.1f}")
    return (
        f"{cell.rate:g}",
        f"{cell.blocking:g}",
        str(cell.nodes),
        *minutes,
        f"{each.known:.3f}",
        f"{each.learned:.3f}",
    )


def main() -> int:
    """Print the grid."""
    parser = ArgumentParser(prog="python -m benchmarks.cadence", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few lives: to see that it works, not to measure")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    publish(result(3 if given.quick else LIVES), given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
