"""How long this attempt's steps take, learnt from the steps it told. Another attempt begins with nothing learnt."""

from collections import deque
from datetime import datetime, timedelta
from math import ceil
from statistics import median

REMEMBERED = 512
LEARNT = 8
"""So many steps make a rhythm: the first compile, warm up, and are no measure of the others."""
RECENT = 3


class Rhythm:
    """The newest step times of one attempt, in seconds."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)
        self._anchor: tuple[datetime, int] | None = None
        self._slowest: timedelta | None = None

    @property
    def has_begun(self) -> bool:
        """Whether any step was told."""
        return self._anchor is not None

    @property
    def is_learnt(self) -> bool:
        """Whether enough steps were seen to speak of a rhythm."""
        return len(self._seconds) >= LEARNT

    def step(self, at: datetime, step: int) -> bool:
        """Note that a step was told; whether it is news. A lower step begins anew: a resume repeats steps."""
        if self._anchor is None or step < self._anchor[1]:
            self._anchor = (at, step)
            return True
        before, reached = self._anchor
        if step == reached:
            return False
        if at > before:
            self._seconds.append((at - before).total_seconds() / (step - reached))
            self._slowest = None
        self._anchor = (at, step)
        return True

    def pause(self, at: datetime) -> None:
        """What lies between the last step and now was no step: the next one is measured from here."""
        if self._anchor is not None:
            self._anchor = (max(at, self._anchor[0]), self._anchor[1])

    def slowest(self) -> timedelta:
        """The 99th percentile of the step times (nearest rank); zero while there are none."""
        if self._slowest is None:
            ordered = sorted(self._seconds)
            self._slowest = timedelta(seconds=ordered[ceil(0.99 * len(ordered)) - 1]) if ordered else timedelta()
        return self._slowest

    def usual(self) -> float | None:
        """The median step time in seconds, the newest few left out; None while there is no rhythm."""
        before = list(self._seconds)[:-RECENT]
        return median(before) if len(before) >= LEARNT else None

    def recent(self) -> float | None:
        """The median of the newest few step times in seconds."""
        newest = list(self._seconds)[-RECENT:]
        return median(newest) if len(newest) == RECENT else None
