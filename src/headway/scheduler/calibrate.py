"""Ranges that come true: each forecast is widened or narrowed by how earlier ones of its size class turned out.

Conformal: the late bound is the point forecast times a quantile of past (actual ÷ forecast), and that quantile's level
moves after every outcome until nine of ten starts come within the bound. Jobs that still wait count with the wait they
have had so far, if that is beyond their forecast already. Decides nothing about any job.
"""

from bisect import bisect_left, insort
from collections import defaultdict, deque
from dataclasses import dataclass, field

SLACK = 60.0
"""Seconds added to forecast and actual alike, so that waits of nothing compare."""
KEPT = 300
ENOUGH = 20
PACE = 0.02
"""How far one outcome moves the level."""
NEAR = (600.0, 7200.0, 43200.0)
"""Waits foretold up to here are of one class each."""
LEVELS = (0.5, 0.995)
COVER = 0.9


@dataclass(slots=True)
class _Class:
    """Outcomes of one size class: the newest ratios, in order of arrival and sorted."""

    newest: deque[float] = field(default_factory=deque)
    ordered: list[float] = field(default_factory=list)
    level: float = COVER
    held: int = 0
    told: int = 0

    def add(self, ratio: float) -> None:
        if len(self.newest) == KEPT:
            del self.ordered[bisect_left(self.ordered, self.newest.popleft())]
        self.newest.append(ratio)
        insort(self.ordered, ratio)

    def quantile(self, level: float) -> float:
        return self.ordered[min(len(self.ordered) - 1, int(level * len(self.ordered)))]


class Calibration:
    """What past forecasts of each class were worth. Waits in seconds."""

    def __init__(self) -> None:
        self._classes: dict[str, _Class] = defaultdict(_Class)

    def range(self, size: str, p50: float, p90: float) -> tuple[float, float]:
        """The calibrated point forecast and late bound, from those of the draws."""
        enough = (self._classes[name] for name in _classes(size, p50))
        known = next((known for known in enough if len(known.ordered) >= ENOUGH), None)
        if known is None:
            return p50, max(p90, 3 * p50 + SLACK)
        middle = (p50 + SLACK) * known.quantile(0.5) - SLACK
        late = (p50 + SLACK) * known.quantile(known.level) - SLACK
        return max(0.0, middle), max(0.0, middle, late)

    def learn(self, size: str, p50: float, late: float, actual: float) -> None:
        """A job started after `actual`; its draws had said `p50`, and `late` was the bound given for it."""
        missed = actual > late
        for name in _classes(size, p50):
            known = self._classes[name]
            known.add((actual + SLACK) / (p50 + SLACK))
            known.held += not missed
            known.told += 1
            level = known.level + PACE * ((1.0 if missed else 0.0) - (1 - COVER))
            known.level = min(LEVELS[1], max(LEVELS[0], level))

    def hit_rate(self, size: str) -> float | None:
        """How many of the starts of a size came within their bound; None before any."""
        known = self._classes[size]
        return known.held / known.told if known.told else None


def _classes(size: str, p50: float) -> tuple[str, str, str]:
    """Soon, today or later is foretold with errors of different kinds; then the size; then all."""
    return f"{size} {bisect_left(NEAR, p50)}", size, ""
