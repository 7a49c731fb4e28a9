"""How often to save a checkpoint: the interval at which saving and redoing together cost least.

J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974, and its higher-order
refinement by J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future
Generation Computer Systems 22, 2006, equation 37. Pure arithmetic: it measures neither costs nor failures.
"""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil, sqrt


@dataclass(frozen=True, slots=True)
class Advice:
    """An interval and its trade: the shares of time spent on saving and on redoing what a failure loses."""

    interval: timedelta
    interval_steps: int
    saving_share: float
    redoing_share: float


def young(save: timedelta, between_failures: timedelta) -> timedelta:
    """First order: the square root of 2δM, for a save that blocks for δ and a mean time M between failures."""
    return timedelta(seconds=sqrt(2 * save.total_seconds() * between_failures.total_seconds()))


def daly(save: timedelta, between_failures: timedelta) -> timedelta:
    """Higher order: the time of work between two saves; M itself where a save takes as long as 2M or longer."""
    if save >= 2 * between_failures:
        return between_failures
    part = sqrt(save / (2 * between_failures))
    return young(save, between_failures) * (1 + part / 3 + part**2 / 9) - save


def mean_time_between_failures(node_time: timedelta, failures: int, nodes: int) -> timedelta | None:
    """M for a job on `nodes` nodes, from a pool's record of node-time and failures; None without a failure."""
    return node_time / failures / nodes if failures else None


def advise(save: timedelta, between_failures: timedelta, step: timedelta) -> Advice:
    """The best interval as whole steps (at least one), and what it costs."""
    steps = max(1, ceil(daly(save, between_failures) / step))
    interval = steps * step
    return Advice(
        interval=interval,
        interval_steps=steps,
        saving_share=save / (interval + save),
        redoing_share=min(1.0, interval / (2 * between_failures)),
    )
