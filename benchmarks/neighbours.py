"""The start of a job that came after the last shared run: that of its neighbours in line there.

Decides which queued jobs of the run stood where this one would have stood: of the same size, nearest in order.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, median

from headway.domain.ids import JobId
from headway.scheduler.desk.lines import Ask
from headway.scheduler.forecast import Ahead

Shape = tuple[int, int, float | None]


class Neighbours:
    """The queue of one shared run, by shape and in order."""

    def __init__(self, ahead: Ahead) -> None:
        self._ahead = ahead
        self._exact: dict[Shape, list[tuple[float, JobId]]] = defaultdict(list)
        self._sized: dict[tuple[int, int], list[tuple[float, JobId]]] = defaultdict(list)
        lines = ahead.desk.lines
        self._asks = dict(lines.asks)
        for ask in self._asks.values():
            line = lines.lines[ask.line]
            place = (ask.counts_from, ask.id)
            self._exact[line.nodes, line.wanted, line.length].append(place)
            self._sized[line.nodes, line.wanted].append(place)
        for places in (*self._exact.values(), *self._sized.values()):
            places.sort()

    def has(self, ask: Ask) -> bool:
        """Whether the job or others of its size were in the run."""
        return ask.job.id in self._asks or (ask.job.request.nodes, ask.job.request.devices_per_node) in self._sized

    def starts(self, ask: Ask) -> Sequence[float]:
        """When the job starts, by draw: its own place in the run if it was there, else its nearest neighbours'."""
        if ask.job.id in self._asks:
            return self._of([ask.job.id])
        lines, request = self._ahead.desk.lines.lines, ask.job.request
        length = lines[ask.line].length if ask.line < len(lines) else None
        exact = self._exact.get((request.nodes, request.devices_per_node, length))
        return self._of(self._near(exact or self._sized[request.nodes, request.devices_per_node], ask))

    def usual_wait(self) -> float:
        """The median of all waits still to come."""
        now = self._ahead.desk.now
        return median([s - now for lane in self._ahead.lanes for s in lane.starts.values()] or [0.0])

    def _near(self, places: Sequence[tuple[float, JobId]], ask: Ask) -> list[JobId]:
        at = bisect_left(places, (ask.counts_from, ask.id))
        return [job for _, job in places[max(0, at - 1) : at + 1]]

    def _of(self, jobs: Sequence[JobId]) -> list[float]:
        return [fmean(lane.starts.get(job, lane.stopped) for job in jobs) for lane in self._ahead.lanes]
