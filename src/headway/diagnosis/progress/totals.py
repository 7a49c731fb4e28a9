"""Which total is that of training, among bars that carry no label. Context decides: what was announced, which bar has a
loss in it or beside it, which one came first."""

from collections import Counter

INSIDE, BESIDE = 100, 10
"""What each kind of evidence for a total weighs against one refresh of its bar."""
MOST = 1024
"""Totals that are remembered."""
CERTAIN = 3
"""How many times the evidence of the first total another must have to take its place."""


class Totals:
    """Remembers the totals of unlabelled bars; `best()` is worth a second reading of the same log."""

    def __init__(self, known: int | None = None) -> None:
        self.known = known
        self.announced: int | None = None
        self.training: set[int] = set() if known is None else {known}
        self.votes: Counter[int] = Counter()
        self.first: int | None = None
        self.last: int | None = None
        self.moving: set[int] = set()

    def announce(self, total: int) -> None:
        """A line said beforehand how many steps there will be."""
        self.announced = total

    def saw_loss(self) -> None:
        """A loss was printed while the last bar was under way. Behind a full one it would be the mean of an epoch."""
        if self.last is not None:
            self.votes[self.last] += BESIDE

    def counts(self, step: int, total: int, has_loss: bool) -> bool:
        """Whether a bar at `step` of `total` is that of training."""
        is_first = total not in self.votes
        if is_first and len(self.votes) >= MOST:
            return False
        self.votes[total] += 1 + (INSIDE if has_loss else 0)
        if has_loss or not (is_first and step == total):
            self.moving.add(total)
        self.last = total if step < total else None
        is_training = self._is_training(step, total, has_loss, is_first)
        if is_training:
            self.training.add(total)
            self.first = self.first if self.first is not None else total
        return is_training

    def _is_training(self, step: int, total: int, has_loss: bool, is_first: bool) -> bool:
        if has_loss or total in self.training:
            return True
        if self.known is not None:
            return False
        if self.announced is not None:
            return total == self.announced
        return not self.training and not (is_first and step == total)

    def best(self) -> int | None:
        """The total that all of the evidence speaks for; a bar that was only ever seen full is none of training."""
        if self.announced is not None and self.votes[self.announced]:
            return self.announced
        likely = max(self.moving, key=lambda total: self.votes[total], default=None)
        if likely is None or self.first is None or self.votes[likely] > CERTAIN * self.votes[self.first]:
            return likely
        return self.first
