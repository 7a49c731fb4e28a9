"""Decides how often a training saves: the interval that loses least, and what other intervals would lose.

A save keeps the training waiting for `blocking`; a fault loses what was done since the newest complete save. Young's
and Daly's interval balances the two from the mean time between failures. An advice is a value: nothing here saves, and
nothing here measures.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from statistics import median

from headway.registry.failure_rate import Belief

MEASURED = 20
"""The newest so many saves tell what a save costs: state and file system change in a long training."""
AS_GOOD = 1.02
"""A present interval that loses at most this times the least is left as it is: advice must not flutter."""
MINUTES = (0.5, 1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1440)
AROUND = 2
"""So many of `MINUTES` on either side of the advice stand in the trade."""


@dataclass(frozen=True, slots=True)
class Saved:
    """One save as it was measured. `first`: the first of its process, which also pays for buffers and caches."""

    blocking: timedelta
    writing: timedelta
    first: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """What a save costs: how long training waits, and how long after its beginning it counts. `saves` 0: assumed."""

    blocking: timedelta
    writing: timedelta
    saves: int = 0


ASSUMED = Cost(timedelta(seconds=10), timedelta(seconds=10))
"""Before the first save: what the target of a large fleet's saving costs (FAULTS.md §0, RSC)."""


class Edge(StrEnum):
    """Why an advice is not the interval that loses least."""

    SHORTEST = "shortest"
    LONGEST = "longest"
    WRITING = "writing"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The policy: no advice is shorter or longer."""

    shortest: timedelta = timedelta(minutes=1)
    longest: timedelta = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Choice:
    """One interval and what it costs: parts of the training time, and what one fault loses on average."""

    interval: timedelta
    save_share: float
    lost_share: float
    lost_per_fault: timedelta

    @property
    def share(self) -> float:
        """All that checkpoints and faults take beside the restarts, which no interval changes."""
        return self.save_share + self.lost_share


@dataclass(frozen=True, slots=True)
class Advice:
    """The interval to use and its trade. `edge`: which bound it lies at, if one; `kept`: the present one, as good."""

    choice: Choice
    trade: tuple[Choice, ...]
    cost: Cost
    belief: Belief
    mtbf: timedelta
    edge: Edge | None = None
    kept: bool = False

    @property
    def interval(self) -> timedelta:
        return self.choice.interval


def cost_of(saves: Sequence[Saved]) -> Cost:
    """What the newest saves cost, oldest first; a process's first save counts only where there are no others."""
    usual = [save for save in saves if not save.first] or list(saves)
    newest = usual[-MEASURED:]
    if not newest:
        return ASSUMED
    blocking, writing = (
        timedelta(seconds=median(getattr(save, name).total_seconds() for save in newest))
        for name in ("blocking", "writing")
    )
    return Cost(blocking, max(blocking, writing), len(newest))


def best(blocking: timedelta, mtbf: timedelta) -> timedelta:
    """Training time between two saves that loses least: Daly's higher order estimate of Young's √(2δM) (2006)."""
    delta, mean = blocking.total_seconds(), mtbf.total_seconds()
    if delta >= 2 * mean:
        return mtbf
    ratio = delta / (2 * mean)
    return timedelta(seconds=math.sqrt(2 * delta * mean) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - delta)


def price(interval: timedelta, cost: Cost, mtbf: timedelta) -> Choice:
    """What saving at this interval costs, faults falling at random (exponential times between them).

    A period of interval and save is done again until it passes whole: M·(e^((τ+δ)/M) − 1) for τ of training. Until a
    save counts, a fault goes back one further: `writing` beyond `blocking` is lost on top.
    """
    tau, mean = interval.total_seconds(), mtbf.total_seconds()
    delta, writing = cost.blocking.total_seconds(), cost.writing.total_seconds()
    takes = mean * math.expm1(min((tau + delta) / mean, 50.0))
    waits = max(0.0, writing - delta)
    return Choice(
        interval=interval,
        save_share=delta / tau,
        lost_share=(takes - delta) / tau - 1 + waits / mean,
        lost_per_fault=timedelta(seconds=(tau + delta) / 2 + waits),
    )


def advise(
    belief: Belief, nodes: int, cost: Cost, bounds: Bounds | None = None, present: timedelta | None = None
) -> Advice:
    """The interval for a job on so many nodes, and the trade around it; `present` is what it saves at now."""
    bounds = bounds or Bounds()
    mtbf = belief.mtbf(nodes)
    interval, edge = _within(best(cost.blocking, mtbf), cost, bounds)
    choice, kept = price(interval, cost, mtbf), False
    if present is not None and present != interval and _within(present, cost, bounds)[1] is None:
        there = price(present, cost, mtbf)
        if there.share <= AS_GOOD * choice.share:
            choice, edge, kept = there, None, True
    around = _around(choice.interval, present)
    trade = tuple(price(other, cost, mtbf) for other in around)
    return Advice(choice, trade, cost, belief, mtbf, edge, kept)


def _within(interval: timedelta, cost: Cost, bounds: Bounds) -> tuple[timedelta, Edge | None]:
    """The nearest interval the policy allows; a save has to be written before the next begins, whatever it allows."""
    within, edge = interval, None
    if within > bounds.longest:
        within, edge = bounds.longest, Edge.LONGEST
    if within < bounds.shortest:
        within, edge = bounds.shortest, Edge.SHORTEST
    if within < cost.writing:
        within, edge = cost.writing, Edge.WRITING
    return within, edge


def _around(advised: timedelta, present: timedelta | None) -> list[timedelta]:
    """The intervals of a trade, shortest first: the advised, the present, and what a person would say nearby."""
    plain = [timedelta(minutes=minutes) for minutes in MINUTES]
    shorter = [each for each in plain if each < advised][-AROUND:]
    longer = [each for each in plain if each > advised][:AROUND]
    own = [advised, *([present] if present is not None and present != advised else [])]
    return sorted({*own, *shorter, *longer})
