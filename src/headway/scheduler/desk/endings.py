"""When whose devices come free, by what is believed: the ends of one pool, in order.

New ends are sorted in when somebody looks and dropped ones skipped, since many change between two looks and few are
looked at. Decides nothing.
"""

from bisect import bisect_left
from collections.abc import Iterator
from heapq import merge

from headway.domain.ids import JobId

Spots = tuple[tuple[int, int], ...]
"""Devices by node: (node, devices)."""
Ending = tuple[float, JobId, Spots]
"""When whose devices come free, and which."""
FEW = 64
"""So many changes never make it worth sorting everything anew."""


class Endings:
    """Ends in order of time, then of job. A job has one at most."""

    __slots__ = ("_added", "_dropped", "_old", "_young")

    def __init__(self) -> None:
        self._old: list[Ending] = []
        self._young: list[Ending] = []
        self._added: dict[tuple[float, JobId], Spots] = {}
        self._dropped: set[tuple[float, JobId]] = set()

    def copy(self) -> "Endings":
        """Endings that change apart from these."""
        twin = Endings()
        twin._old = list(self)
        return twin

    def add(self, end: float, job: JobId, spots: Spots) -> None:
        """A job is believed to give these back at this time."""
        key = (end, job)
        if key in self._dropped:
            self._sort_anew()
        self._added[key] = spots

    def drop(self, end: float, job: JobId) -> None:
        """That is believed no more."""
        key = (end, job)
        if self._added.pop(key, None) is None:
            self._dropped.add(key)

    def overdue(self, now: float) -> list[Ending]:
        """Those before now, in order; they leave."""
        self._sort_in()
        past: list[Ending] = []
        for ends in (self._old, self._young):
            due = bisect_left(ends, (now,))
            past += ends[:due]
            del ends[:due]
        left = [ending for ending in past if ending[:2] not in self._dropped]
        self._dropped.difference_update([ending[:2] for ending in past])
        return sorted(left)

    def __iter__(self) -> Iterator[Ending]:
        """All of them in order; to be read before the next change."""
        self._sort_in()
        dropped = self._dropped
        for ending in merge(self._old, self._young) if self._young else self._old:
            if ending[:2] not in dropped:
                yield ending

    def _sort_in(self) -> None:
        if len(self._young) + len(self._added) > FEW + len(self._old) // 4 or len(self._dropped) > FEW + len(self._old):
            self._sort_anew()
        elif self._added:
            self._young += [(end, job, spots) for (end, job), spots in self._added.items()]
            self._young.sort()
            self._added.clear()

    def _sort_anew(self) -> None:
        self._old += self._young
        self._old += [(end, job, spots) for (end, job), spots in self._added.items()]
        self._old.sort()
        if self._dropped:
            self._old = [ending for ending in self._old if ending[:2] not in self._dropped]
        self._young = []
        self._added.clear()
        self._dropped.clear()
