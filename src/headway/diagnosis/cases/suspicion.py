"""How much a node (or a card) fails beyond its pool's norm, said so that one unlucky day proves nothing.

Faults are taken to come at a constant rate while a node is in use (a Poisson process). The pool's rate, measured on
all others, is the mean of an exponential prior; the node's own faults and days in use turn it into a Gamma posterior,
and the suspicion is the probability that the node's rate is more than twice the norm. It closes no node by itself.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import exp

TYPICAL_RATE = 0.005
"""Faults a node-day before anything was seen: in the middle of the published 0.1 to 20 per 1,000 node-days."""
TYPICAL_DAYS = 200.0
"""How many node-days of experience that guess is worth."""
TIMES_THE_NORM = 2.0
WATCH, SUSPECT = 0.6, 0.85


class Level(StrEnum):
    """What the suspicion asks of an operator: nothing, a look, a retest."""

    NORMAL = "normal"
    WATCH = "watch"
    SUSPECT = "suspect"


@dataclass(frozen=True, slots=True)
class Record:
    """Faults that count, and days in use."""

    faults: int = 0
    days: float = 0.0

    def __add__(self, other: "Record") -> "Record":
        return Record(self.faults + other.faults, self.days + other.days)

    def __sub__(self, other: "Record") -> "Record":
        return Record(self.faults - other.faults, max(0.0, self.days - other.days))


@dataclass(frozen=True, slots=True)
class Suspicion:
    """`score` 0..1; `rate` and `norm` in faults a day in use: its own best estimate, and the pool's without it."""

    score: float
    level: Level
    rate: float
    norm: float


def norm_of(others: Record) -> float:
    """The rate of all others, in faults a day in use, leaning on `TYPICAL_RATE` while there is little experience."""
    return (TYPICAL_RATE * TYPICAL_DAYS + others.faults) / (TYPICAL_DAYS + others.days)


def suspect(own: Record, others: Record) -> Suspicion:
    """Compare one with all others of its pool.

    With the prior Gamma(1, 1/norm) the posterior after k faults in d days is Gamma(1 + k, 1/norm + d); for whole shapes
    P(rate > x) is the Poisson sum of k + 1 terms with mean x (1/norm + d). A record without faults is never suspect.
    """
    norm = norm_of(others)
    scale = 1 / norm + own.days
    mean = TIMES_THE_NORM * norm * scale
    score = _poisson_cdf(own.faults, mean) if own.faults else 0.0
    level = Level.SUSPECT if score >= SUSPECT else Level.WATCH if score >= WATCH else Level.NORMAL
    return Suspicion(score, level, (1 + own.faults) / scale, norm)


def _poisson_cdf(most: int, mean: float) -> float:
    term = total = exp(-mean)
    for k in range(1, most + 1):
        term *= mean / k
        total += term
    return min(1.0, total)
