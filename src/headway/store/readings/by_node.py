"""One quantity of all nodes of an attempt at once, each node's cards or ranks as one. Never writes.

A question over 64 nodes reads a hundred thousand rows: SQLite sums them up, a row a node and bucket.
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

# What a node or its cards measured comes before what its ranks did.
_PLACES = (
    "WITH place AS (SELECT id, node FROM series WHERE attempt = :attempt AND name = :name AND (rank < 0) ="
    " (SELECT max(rank < 0) FROM series WHERE attempt = :attempt AND name = :name)) "
)
_ENDS = _PLACES + (
    "SELECT min((SELECT min(at) FROM recent WHERE series = id AND at >= :low)),"
    " max((SELECT max(at) FROM recent WHERE series = id AND at <= :high)) FROM place"
)
# CROSS JOIN keeps the order: each place, then its rows by their key.
_CHUNKS = _PLACES + (
    "SELECT node, chunk.id, since, until, count, minimum, total, maximum FROM place CROSS JOIN chunk"
    " ON series = place.id WHERE until >= :low AND since <= :high"
)
_ROWS = _PLACES + (
    "SELECT node, min(at), count(*), min(value),"
    " CASE count(value) WHEN count(*) THEN sum(value) END, max(value)"
    " FROM place CROSS JOIN recent ON series = place.id WHERE at BETWEEN :low AND :high"
    " GROUP BY node, (at - :low) / :width"
)
_EVER = (-(2**62), 2**62)
Wanted = dict[str, object]


class _Chunk(NamedTuple):
    """What a chunk of a node's card or rank says without being unpacked."""

    node: str
    id: int
    since: int
    until: int
    summary: Summary


def grid(c: sqlite3.Connection, attempt: str, name: str, span: tuple[int | None, int | None], points: int) -> Grid:
    """Each node's means in at most `points` buckets of a span in milliseconds; None: from the first, to the last."""
    low, high = (ever if edge is None else edge for edge, ever in zip(span, _EVER, strict=True))
    wanted: Wanted = {"attempt": attempt, "name": name, "low": low, "high": high}
    chunks = [
        _Chunk(node, number, since, until, Summary(size, *map(from_null, bounds)))
        for node, number, since, until, size, *bounds in c.execute(_CHUNKS, wanted)
    ]
    ends = [*c.execute(_ENDS, wanted).fetchone(), *(end for one in chunks for end in (one.since, one.until))]
    known = [end for end in ends if end is not None]
    if not known:
        return Grid(name, (), ())
    low, high = (min(known) if span[0] is None else low), (max(known) if span[1] is None else high)
    nodes: dict[str, Buckets] = defaultdict(partial(Buckets, low, high, points))
    wanted |= {"low": low, "high": high, "width": Buckets(low, high, points).width}
    for node, at, size, *bounds in c.execute(_ROWS, wanted):
        nodes[node].add_summary(at, Summary(size, *map(from_null, bounds)))
    _add_chunks(c, nodes, chunks)
    return _told(name, nodes)


def _add_chunks(c: sqlite3.Connection, nodes: Mapping[str, Buckets], chunks: list[_Chunk]) -> None:
    for one in chunks:
        buckets = nodes[one.node]
        if buckets.takes_whole(one.since, one.until):
            buckets.add_summary(one.since, one.summary)
        else:
            buckets.add(*unpacked(c, one.id))


def _told(name: str, nodes: Mapping[str, Buckets]) -> Grid:
    found = {node: dict(summaries) for node in sorted(nodes) if (summaries := nodes[node].summaries())}
    moments = sorted({at for summaries in found.values() for at in summaries})
    rows = tuple(NodeMeans(node, tuple(_mean(found[node].get(at)) for at in moments)) for node in found)
    return Grid(name, tuple(map(time_of, moments)), rows)


def _mean(summary: Summary | None) -> float | None:
    return None if summary is None or math.isnan(summary.total) else summary.total / summary.size
