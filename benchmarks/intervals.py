"""Medians and how sure they are, from order statistics: no distribution is assumed, nothing is drawn at random."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A median between two of the values it was taken from, and the chance that the true one lies there."""

    median: float
    low: float
    high: float
    coverage: float

    def doubts(self, target: float) -> list[str]:
        """A sentence where the target lies within the interval, so that the median alone decides nothing."""
        across = self.low < target < self.high
        return [f"the interval reaches across the target of {target:g}: not decided by this run"] if across else []

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f} to {self.high:.3f}, {self.coverage:.0%})"


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """The narrowest symmetric pair of order statistics that covers the median at `level`.

    With fewer than six values no pair does at 95 %: then the least and the greatest, and their true coverage.
    """
    ordered, count = sorted(values), len(values)
    out = max((k for k in range(count // 2) if _coverage(count, k) >= level), default=0)
    return Interval(statistics.median(ordered), ordered[out], ordered[count - 1 - out], _coverage(count, out))


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie (nearest rank)."""
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def _coverage(count: int, out: int) -> float:
    """The chance that the true median lies between the values at `out` from either end: a binomial sum."""
    tail = sum(math.comb(count, below) for below in range(out + 1))
    return 1 - 2 * tail / 2**count if count else 0.0
