"""How fast an attempt moves and how long it still takes, from the steps it reported. Reads no clock: time left counts
from the newest sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

RECENT = 32
"""How many of the newest intervals count."""
FURTHEST = timedelta(days=36525)
"""More time left than this is unknown: a program may name any total."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A step and when it was reached."""

    at: datetime
    step: int


@dataclass(frozen=True, slots=True)
class Rate:
    """Steps a second and the time left after the newest sample; None: unknown, never invented."""

    steps_per_s: float | None = None
    left: timedelta | None = None


def rate(samples: Sequence[Sample], total: int | None = None) -> Rate:
    """The median pace of the newest intervals, so that a pause for a checkpoint or a late report does not bend it.

    `samples` in order of arrival. A step lower than the one before it begins anew: what a resume repeats is not counted
    twice. Late or repeated reports (no step or no time between) are passed over.
    """
    paces = _paces(samples)[-RECENT:]
    if not paces:
        return Rate()
    seconds_per_step = median(paces)
    return Rate(1 / seconds_per_step, _left(samples[-1].step, total, seconds_per_step))


def _left(step: int, total: int | None, seconds_per_step: float) -> timedelta | None:
    seconds = None if total is None else max(0, total - step) * seconds_per_step
    return None if seconds is None or seconds > FURTHEST.total_seconds() else timedelta(seconds=seconds)


def _paces(samples: Sequence[Sample]) -> list[float]:
    """Seconds per step between neighbouring samples, since the newest step backwards."""
    paces: list[float] = []
    anchor = samples[0] if samples else None
    for before, after in pairwise(samples):
        if after.step < before.step:
            paces, anchor = [], after
        elif anchor and after.step > anchor.step and after.at > anchor.at:
            paces.append((after.at - anchor.at).total_seconds() / (after.step - anchor.step))
            anchor = after
    return paces
