"""One quantity of all nodes of an attempt at once, each node's cards or ranks as one. Never writes.

A question over 64 nodes is about a hundred thousand rows and millions of packed readings: SQLite sums up the rows, and
of what is packed the sums are taken, as far as the buckets are long enough.
"""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from headway.store.readings.buckets import Buckets
from headway.store.readings.chunk import Summary
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
    "SELECT node, chunk.id, since, until, count, total, card AND chunk.id >= (SELECT chunk FROM rolled_from)"
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
    size: int
    total: float | None
    rolled: bool


def grid(c: sqlite3.Connection, attempt: str, name: str, points: int) -> Grid:
    """Each node's means in at most `points` buckets, from the first reading to the last."""
    wanted: dict[str, object] = {"attempt": attempt, "name": name}
    chunks = list(map(_Chunk._make, c.execute(_CHUNKS, wanted)))
    ends = [*c.execute(_ENDS, wanted).fetchone(), *(end for one in chunks for end in (one.since, one.until))]
    known = [end for end in ends if end is not None]
    if not known:
        return Grid(name, (), ())
    low, high, step = cut(min(known), max(known), points)
    nodes: dict[str, Buckets] = defaultdict(partial(Buckets, low, high, points))
    wanted |= {"low": low, "width": Buckets(low, high, points).width, "step": step or 0}
    for query in (_ROWS, _ROLLED):
        for node, at, size, total in c.execute(query, wanted):
            nodes[node].add_summary(at, _sum(size, total))
    _add_chunks(c, nodes, [one for one in chunks if not (one.rolled and step_of(one.since, one.until) <= (step or 0))])
    return _told(name, nodes)


def _add_chunks(c: sqlite3.Connection, nodes: Mapping[str, Buckets], chunks: list[_Chunk]) -> None:
    for one in chunks:
        buckets = nodes[one.node]
        if buckets.takes_whole(one.since, one.until):
            buckets.add_summary(one.since, _sum(one.size, one.total))
        else:
            buckets.add(*unpacked(c, one.id))


def _sum(size: int, total: float | None) -> Summary:
    """A summary without bounds: of a grid only the means are told."""
    return Summary(size, math.nan, from_null(total), math.nan)


def _told(name: str, nodes: Mapping[str, Buckets]) -> Grid:
    found = {node: dict(nodes[node].summaries()) for node in sorted(nodes)}
    moments = sorted({at for summaries in found.values() for at in summaries})
    rows = tuple(NodeMeans(node, tuple(_mean(found[node].get(at)) for at in moments)) for node in found)
    return Grid(name, tuple(map(time_of, moments)), rows)


def _mean(summary: Summary | None) -> float | None:
    return None if summary is None or math.isnan(summary.total) else summary.total / summary.size
