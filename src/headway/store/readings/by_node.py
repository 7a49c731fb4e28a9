"""One quantity of all nodes of an attempt at once, each node's cards or ranks as one. Never writes.

A question over 64 nodes is about a hundred thousand rows and millions of packed readings: SQLite sums up the rows, and
of what is packed the sums are taken, as far as the buckets are long enough.
"""

import math
import sqlite3
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from headway.store.readings.file import from_null, time_of
from headway.store.readings.port import Grid, NodeMeans
from headway.store.readings.query import unpacked
from headway.store.readings.rollup import cut, step_of

# What a node or its cards measured comes before what its ranks did.
_SERIES = (
    "WITH mine AS (SELECT id, node, rank < 0 AND device >= 0 AS card FROM series WHERE attempt = :attempt AND"
    " name = :name AND (rank < 0) = (SELECT max(rank < 0) FROM series WHERE attempt = :attempt AND name = :name)) "
)
_ENDS = _SERIES + (
    "SELECT min((SELECT min(at) FROM recent WHERE series = id)), max((SELECT max(at) FROM recent WHERE series = id))"
    " FROM mine"
)
# CROSS JOIN keeps the order: each series, then its rows by their key.
_CHUNKS = _SERIES + (
    "SELECT node, chunk.id, since, until, card AND chunk.id >= (SELECT chunk FROM rolled_from)"
    " FROM mine CROSS JOIN chunk ON series = mine.id"
)
_SUM = "sum(count), CASE count(total) WHEN count(*) THEN sum(total) END"
_ROWS = _SERIES + (
    "SELECT node, min(at), count(*), CASE count(value) WHEN count(*) THEN sum(value) END"
    " FROM mine CROSS JOIN recent ON series = mine.id GROUP BY node, (at - :low) / :width"
)
_ROLLED = (
    f"SELECT node, min(at), {_SUM} FROM place CROSS JOIN rolled ON place = place.id"
    " WHERE attempt = :attempt AND name = :name AND rolled.width <= :step GROUP BY node, (at - :low) / :width"
)


class _Chunk(NamedTuple):
    """What a chunk of a node's card or rank says without being unpacked. `rolled`: its node's sums have it."""

    node: str
    id: int
    since: int
    until: int
    rolled: bool


class _Sums:
    """One node's readings summed up in equal buckets from `low` on: total and count of each. NaN makes a total NaN."""

    def __init__(self, low: int, width: int, count: int) -> None:
        self._low, self._width = low, width
        self.totals, self.counts = [0.0] * count, [0] * count

    def add(self, at: int, size: int, total: float | None) -> None:
        """Count in what lies in the bucket of `at`."""
        bucket = (at - self._low) // self._width
        self.totals[bucket] += from_null(total)
        self.counts[bucket] += size

    def spread(self, times: Sequence[int], values: Sequence[float]) -> None:
        """Count in readings in order of time."""
        begin, end = 0, len(times)
        while begin < end:
            bucket = (times[begin] - self._low) // self._width
            following = bisect_left(times, self._low + (bucket + 1) * self._width, begin, end)
            self.totals[bucket] += sum(values[begin:following])
            self.counts[bucket] += following - begin
            begin = following

    def mean(self, bucket: int) -> float | None:
        """Of one bucket; None of none, or of what is no number."""
        count, total = self.counts[bucket], self.totals[bucket]
        return None if count == 0 or math.isnan(total) else total / count


def grid(c: sqlite3.Connection, attempt: str, name: str, points: int) -> Grid:
    """Each node's means in at most `points` buckets, from the first reading to the last."""
    wanted: dict[str, object] = {"attempt": attempt, "name": name}
    chunks = list(map(_Chunk._make, c.execute(_CHUNKS, wanted)))
    ends = [*c.execute(_ENDS, wanted).fetchone(), *(end for one in chunks for end in (one.since, one.until))]
    known = [end for end in ends if end is not None]
    if not known:
        return Grid(name, (), ())
    low, width, step = cut(min(known), max(known), points)
    nodes: dict[str, _Sums] = defaultdict(lambda: _Sums(low, width, points))
    for query in (_ROWS, _ROLLED):
        for node, *summed in c.execute(query, wanted | {"low": low, "width": width, "step": step}):
            nodes[node].add(*summed)
    for one in chunks:
        if not one.rolled or step_of(one.since, one.until) > step:
            nodes[one.node].spread(*unpacked(c, one.id))
    buckets = [bucket for bucket in range(points) if any(sums.counts[bucket] for sums in nodes.values())]
    at = tuple(time_of(low + bucket * width) for bucket in buckets)
    return Grid(name, at, tuple(_row(nodes, node, buckets) for node in sorted(nodes)))


def _row(nodes: Mapping[str, _Sums], node: str, buckets: Iterable[int]) -> NodeMeans:
    return NodeMeans(node, tuple(map(nodes[node].mean, buckets)))
