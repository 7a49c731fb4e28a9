"""The start of a job that came after the last shared run: that of its neighbours in line there.

Decides which queued jobs of the run stood where this one would have stood: of the same size, nearest in order.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from math import inf

from headway.domain.ids import JobId
from headway.scheduler.desk.lines import Ask
from headway.scheduler.forecast import Ahead

Shape = tuple[int, int, float | None]
Places = Sequence[tuple[float, JobId]]


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

    @property
    def at(self) -> float:
        """When the run was made, in seconds of the desk."""
        return self._ahead.desk.now

    @property
    def until(self) -> float:
        """How far every draw looked."""
        return min(lane.stopped for lane in self._ahead.lanes)

    def sides(self, ask: Ask, now: float) -> list[list[float]]:
        """Waits from `now` by draw (`inf`: longer than that draw looked) of the job itself if it was in the run; else
        of the one before its place and of the one behind it, where there was one, had it come when the run was made."""
        if ask.id in self._asks:
            return [self._waits(ask.id, now)]
        place = ask.counts_from - (now - self.at), ask.id
        exact, sized = self._places(ask)
        near = _near(exact, place)
        return [self._waits(job, self.at) for job in (near if len(near) == 2 else _near(sized, place) or near)]

    def surrounds(self, ask: Ask, now: float) -> bool:
        """Whether the job was in the run itself, or its place between two that were."""
        place = ask.counts_from - (now - self.at), ask.id
        return ask.id in self._asks or any(len(_near(places, place)) == 2 for places in self._places(ask))

    def told(self) -> int:
        """How many queued jobs the run gave a start in every draw."""
        return sum(all(job in lane.starts for lane in self._ahead.lanes) for job in self._asks)

    def turns(self) -> int:
        """What the run cost, in turns of all its draws."""
        return sum(lane.turns for lane in self._ahead.lanes)

    def _waits(self, job: JobId, since: float) -> list[float]:
        return [max(0.0, lane.starts.get(job, inf) - since) for lane in self._ahead.lanes]

    def _places(self, ask: Ask) -> tuple[Places, Places]:
        """Who asked for the same devices and length, and for the same devices, in order."""
        lines, size = self._ahead.desk.lines.lines, (ask.job.request.nodes, ask.job.request.devices_per_node)
        length = lines[ask.line].length if ask.line < len(lines) else None
        return self._exact.get((*size, length), ()), self._sized.get(size, ())


def _near(places: Places, place: tuple[float, JobId]) -> list[JobId]:
    """Who stands just before the place, and who just behind."""
    at = bisect_left(places, place)
    return [job for _, job in places[max(0, at - 1) : at + 1]]
