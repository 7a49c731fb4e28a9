"""Ranges that come true: the late bound of each forecast is set by how earlier ones turned out.

Conformal: errors of a forecast grow as its square root (a wait adds up many run times), so each error counts in those
units; the late bound is the forecast plus a quantile of past errors, by how far ahead it looks and by size. The
quantile's level starts at nine of ten and rises while more starts than one of ten come late. The middle is what the
draws said with what comes later (see `passing`), and moves from there only as far as three of five past errors agree.
Decides nothing about any job.
"""

from bisect import bisect_left, insort
from collections import defaultdict, deque
from dataclasses import dataclass, field
from math import sqrt

from headway.scheduler.passing import Passing

SLACK = 60.0
"""Seconds added to a forecast, so that a wait of nothing has a unit too."""
KEPT = 4000
"""Newest outcomes kept of each class."""
ENOUGH = 20
ENOUGH_OF_SIZE = 100
"""Outcomes a class, and one of a size in it, needs before it counts."""
PACE = 0.01
"""How far one outcome moves the level."""
NEAR = (600.0, 7200.0, 43200.0)
"""Waits foretold up to here are of one class each: soon, today and later differ in how they are foretold."""
COVER = 0.9
AGREED = 0.6
HIGHEST = 0.998


@dataclass(slots=True)
class _Class:
    """Outcomes of one class: the newest errors, in order of arrival and sorted."""

    newest: deque[float] = field(default_factory=deque)
    ordered: list[float] = field(default_factory=list)
    level: float = COVER

    def add(self, error: float, *, missed: bool) -> None:
        if len(self.newest) == KEPT:
            del self.ordered[bisect_left(self.ordered, self.newest.popleft())]
        self.newest.append(error)
        insort(self.ordered, error)
        level = self.level + PACE * ((1.0 if missed else 0.0) - (1 - COVER))
        self.level = min(HIGHEST, max(COVER, level))

    @property
    def late(self) -> float:
        return self._at(self.level)

    @property
    def agreed(self) -> float:
        """How far three of five errors lie to one side at least."""
        return max(0.0, self._at(1 - AGREED)) + min(0.0, self._at(AGREED))

    def _at(self, level: float) -> float:
        return self.ordered[min(len(self.ordered) - 1, int(level * len(self.ordered)))]


class Calibration:
    """What past forecasts of each class were worth. Waits in seconds."""

    def __init__(self) -> None:
        self._classes: dict[str, _Class] = defaultdict(_Class)
        self._passing = Passing()

    def range(self, size: str, p50: float, p90: float, passable: float = 0.0) -> tuple[float, float]:
        """The point forecast and the calibrated late bound, from those of the draws. `passable`: for how long shorter
        jobs that come later may be put before it."""
        p50, p90 = self._passing.delayed(p50, passable), self._passing.delayed(p90, passable)
        far, of_size, whole = (self._classes[name] for name in _classes(size, p50))
        known = [far] if len(far.ordered) >= ENOUGH else [whole] if len(whole.ordered) >= ENOUGH else []
        known += [of_size] if len(of_size.ordered) >= ENOUGH_OF_SIZE else []
        if not known:
            return p50, max(p90, 2 * p50 + SLACK)
        unit = sqrt(p50 + SLACK)
        middle = max(0.0, p50 + known[0].agreed * unit)
        return middle, max(middle, p50 + max(one.late for one in known) * unit)

    def learn(self, size: str, p50: float, late: float, actual: float, passable: float = 0.0) -> None:
        """A job started after `actual`; its draws had said `p50`, and `late` was the bound given for it."""
        self._passing.learn(p50, passable, actual)
        p50 = self._passing.delayed(p50, passable)
        error, missed = (actual - p50) / sqrt(p50 + SLACK), actual > late
        for name in _classes(size, p50):
            self._classes[name].add(error, missed=missed)


def _classes(size: str, p50: float) -> tuple[str, str, str]:
    far = str(bisect_left(NEAR, p50))
    return far, f"{far} {size}", ""
