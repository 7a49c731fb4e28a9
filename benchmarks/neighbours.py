"""The start of a job that came after the last shared run: that of its neighbours in line there.

Decides which queued jobs of the run stood where this one would have stood: of the same shape and length, nearest in
order.
"""

from bisect import bisect_left
from collections import defaultdict
from statistics import fmean

from headway.domain.ids import JobId
from headway.scheduler.desk.lines import Ask
from headway.scheduler.forecast import Ahead

Shape = tuple[int, int, float | None]


class Neighbours:
    """The queue of one shared run, by shape and in order."""

    def __init__(self, ahead: Ahead) -> None:
        self._ahead = ahead
        self._places: dict[Shape, list[tuple[float, JobId]]] = defaultdict(list)
        lines = ahead.desk.lines
        self._asks = dict(lines.asks)
        for ask in self._asks.values():
            line = lines.lines[ask.line]
            self._places[line.nodes, line.wanted, line.length].append((ask.counts_from, ask.id))
        for places in self._places.values():
            places.sort()

    def age(self, now: float) -> float:
        """Seconds since the run."""
        return now - self._ahead.desk.now

    def knows(self, ask: Ask) -> bool:
        """Whether the job, or one alike next to its place, started in every draw."""
        jobs = self._near(ask)
        return bool(jobs) and all(job in lane.starts for lane in self._ahead.lanes for job in jobs)

    def waits(self, ask: Ask, now: float) -> list[float]:
        """Seconds from now until the job starts, over the draws, sorted: its own place in the run if it was there,
        else its nearest neighbours'. A draw that ends before it has started tells when it ended."""
        jobs = self._near(ask)
        starts = [fmean(lane.starts.get(job, lane.stopped) for job in jobs) for lane in self._ahead.lanes]
        return sorted(max(0.0, start - now) for start in starts)

    def _near(self, ask: Ask) -> list[JobId]:
        if ask.id in self._asks:
            return [ask.id]
        lines, request = self._ahead.desk.lines.lines, ask.job.request
        length = lines[ask.line].length if ask.line < len(lines) else None
        places = self._places.get((request.nodes, request.devices_per_node, length), [])
        at = bisect_left(places, (ask.counts_from, ask.id))
        return [job for _, job in places[max(0, at - 1) : at + 1]]
