"""How much longer a job waits because shorter ones that come later are put before it.

A forward run knows the jobs that are there, not those that are still to come. For as long as a job counts as submitted
later than now, shorter ones may pass it and have a part of the room that it would have had: a wait of `w` so becomes
`w / (1 - part)`, up to that time, and what then is left of it takes as long as it takes. The part is learned from the
waits that came out, as what would have told them with the least absolute error. Decides nothing about any job.
"""

from bisect import insort
from collections import deque
from dataclasses import dataclass, field

KEPT = 100
"""Newest outcomes that the part is learned from: what comes differs from week to week."""
SUPPOSED = 0.4
"""The part before anything is learned; it counts as much as `KEPT` outcomes, so that no one week decides."""
MOST = 0.8
LEAST = 60.0
"""Seconds in which a job could be passed that an outcome must have, to say anything."""


@dataclass(slots=True)
class Passing:
    """The part, and the outcomes it is learned from: each with the seconds in which the job could be passed."""

    part: float = SUPPOSED
    _newest: deque[tuple[float, float]] = field(default_factory=deque)
    _ordered: list[tuple[float, float]] = field(default_factory=list)

    def delayed(self, wait: float, passable: float) -> float:
        """A wait that a run foretold, with those who come later; `passable`: for how long they can pass."""
        longer = wait / (1 - self.part)
        return longer if longer <= passable else wait + self.part * passable

    def learn(self, wait: float, passable: float, actual: float) -> None:
        """A job that a run foretold to wait for `wait` has started after `actual`."""
        while_passed = min(passable, actual)
        if while_passed < LEAST:
            return
        outcome = ((actual - wait) / while_passed, while_passed)
        if len(self._newest) == KEPT:
            self._ordered.remove(self._newest.popleft())
        self._newest.append(outcome)
        insort(self._ordered, outcome)
        known = len(self._newest)
        self.part = (KEPT * SUPPOSED + known * min(MOST, max(0.0, self._middle()))) / (KEPT + known)

    def _middle(self) -> float:
        """The median, each outcome weighted by the seconds it is about: that errs by the fewest seconds in all."""
        half, sum_ = sum(weight for _, weight in self._ordered) / 2, 0.0
        for part, weight in self._ordered:
            sum_ += weight
            if sum_ >= half:
                return part
        return SUPPOSED
