"""Down-sampling: a stretch of time cut into equal buckets, each summed up. Pure.

What is known of a whole chunk is used as it is when the chunk lies within one bucket, so that a long range costs about
as much as a short one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from headway.store.readings.chunk import Summary, join, summarize


class Buckets:
    """Summaries of the readings between two times in milliseconds, both included, in at most `count` buckets."""

    def __init__(self, since: int, until: int, count: int) -> None:
        self._since, self._until = since, until
        self._width = -(-(until - since + 1) // count)
        self._found: dict[int, Summary] = {}

    def takes_whole(self, first: int, last: int) -> bool:
        """Whether a run between two times lies within one bucket."""
        return self._since <= first and last <= self._until and self._bucket(first) == self._bucket(last)

    def add_summary(self, at: int, summary: Summary) -> None:
        """Count in a run that lies within the bucket of `at`."""
        number = self._bucket(at)
        self._found[number] = join(self._found.get(number), summary)

    def add(self, times: Sequence[int], values: Sequence[float]) -> None:
        """Count in readings in order of time; those outside are left out."""
        at, end = bisect_left(times, self._since), bisect_right(times, self._until)
        while at < end:
            edge = self._since + (self._bucket(times[at]) + 1) * self._width
            following = bisect_left(times, edge, at, end)
            self.add_summary(times[at], summarize(values[at:following]))
            at = following

    def summaries(self) -> list[tuple[int, Summary]]:
        """Each bucket that has readings: its start and their summary, in order."""
        return [(self._since + number * self._width, self._found[number]) for number in sorted(self._found)]

    def _bucket(self, at: int) -> int:
        return (at - self._since) // self._width
