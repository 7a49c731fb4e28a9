"""How often jobs of a pool fail, learned from what was seen there, however little that is.

A belief is a Gamma distribution over the rate: as if so many failures had been seen in so many node-days. It starts
from a published fleet's figure, which weighs as little as half a failure, and takes what the pool, the jobs of this
size and this job have shown, in this order: each closer look outweighs the wider ones before it. It counts nothing
itself: records are handed in.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

DAY_S = 86400.0
LOUDEST = 8.0
"""A wider record speaks for a closer one like at most so many failures: their rates differ by more than chance."""


@dataclass(frozen=True, slots=True)
class Record:
    """So many failures in so much node time: one node for a day, or two for half a day, are one node-day."""

    failures: int
    node_days: float


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of the rate, as if `failures` (need not be whole) had been seen in `node_days`."""

    failures: float
    node_days: float

    @property
    def per_node_day(self) -> float:
        """The expected rate. An interval chosen by it loses least on average over the whole belief."""
        return self.failures / self.node_days

    def between(self, z: float = 1.645) -> tuple[float, float]:
        """The rates per node-day that 90 % of the belief lies between (Wilson and Hilferty 1931)."""
        spread = z / (3 * self.failures**0.5)
        middle = 1 - 1 / (9 * self.failures)
        low, high = (max(0.0, middle + side) ** 3 * self.per_node_day for side in (-spread, spread))
        return low, high

    def mtbf(self, nodes: int) -> timedelta:
        """Mean time between failures of a job on so many nodes, at most 10,000 years."""
        return timedelta(seconds=min(DAY_S / (self.per_node_day * nodes), 3.2e11))


PRIOR = Belief(0.5, 0.5 / 6.5e-3)
"""6.5 failures per 1,000 node-days (Meta's RSC-1, arXiv:2410.21680), worth half a failure: rates differ 100-fold."""


def learn(records: Iterable[Record], prior: Belief = PRIOR) -> Belief:
    """The belief after `records`, widest first; no failure and no time may be in two of them."""
    belief = prior
    for record in records:
        wider = _quieter(belief)
        belief = Belief(wider.failures + record.failures, wider.node_days + record.node_days)
    return belief


def _quieter(belief: Belief) -> Belief:
    """The same rate, with no more weight than `LOUDEST` failures."""
    part = min(1.0, LOUDEST / belief.failures)
    return Belief(belief.failures * part, belief.node_days * part)
