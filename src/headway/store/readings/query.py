"""Reading one quantity over time: which chunks and rows lie in a stretch of time, and their points. Never writes."""

import sqlite3
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from headway.store.readings import chunk
from headway.store.readings.buckets import Buckets
from headway.store.readings.chunk import Summary
from headway.store.readings.file import SeriesRow, from_null, time_of, to_optional
from headway.store.readings.port import Point, Series

Run = tuple[list[int], list[float]]


class _Chunk(NamedTuple):
    """What a chunk says without being unpacked."""

    id: int
    since: int
    until: int
    summary: Summary


@dataclass(frozen=True, slots=True)
class Found:
    """One series' readings in a stretch of time: chunks that lie in it whole, still packed, and runs of the rest."""

    row: SeriesRow
    chunks: list[_Chunk]
    runs: list[Run]

    @property
    def size(self) -> int:
        """How many readings these are."""
        return sum(each.summary.size for each in self.chunks) + sum(len(times) for times, _ in self.runs)

    @property
    def ends(self) -> list[int]:
        """The times of the first and last readings of each part."""
        packed = [end for each in self.chunks for end in (each.since, each.until)]
        return packed + [end for times, _ in self.runs for end in (times[0], times[-1])]


def find(c: sqlite3.Connection, row: SeriesRow, low: int, high: int) -> Found:
    """Find a series' readings between two times in milliseconds, both included."""
    chunks, runs = [], []
    query = (
        "SELECT id, since, until, count, minimum, total, maximum FROM chunk"
        " WHERE series = ? AND until >= ? AND since <= ? ORDER BY since"
    )
    for number, since, until, size, *bounds in c.execute(query, (row.id, low, high)).fetchall():
        if low <= since and until <= high:
            chunks.append(_Chunk(number, since, until, Summary(size, *map(from_null, bounds))))
        else:
            runs.append(unpacked(c, number))
    query = "SELECT at, value FROM recent WHERE series = ? AND at BETWEEN ? AND ? ORDER BY at"
    rows = c.execute(query, (row.id, low, high)).fetchall()
    runs.append(([at for at, _ in rows], [from_null(value) for _, value in rows]))
    return Found(row, chunks, [run for each in runs if (run := _cut(each, low, high))[0]])


def points_of(c: sqlite3.Connection, found: Found, buckets: Buckets, points: int) -> Series:
    """Return a series reading by reading if they are few enough, else in buckets."""
    if found.size <= points:
        summaries = _one_by_one(c, found)
    else:
        for each in found.chunks:
            if buckets.takes_whole(each.since, each.until):
                buckets.add_summary(each.since, each.summary)
            else:
                buckets.add(*unpacked(c, each.id))
        for run in found.runs:
            buckets.add(*run)
        summaries = buckets.summaries()
    row = found.row
    return Series(
        row.attempt,
        row.node,
        to_optional(row.rank),
        to_optional(row.device),
        row.name,
        tuple(_point(at, summary) for at, summary in summaries),
    )


def _one_by_one(c: sqlite3.Connection, found: Found) -> list[tuple[int, Summary]]:
    values: dict[int, float] = {}
    for times, numbers in (*(unpacked(c, each.id) for each in found.chunks), *found.runs):
        values.update(zip(times, numbers, strict=True))
    return [(at, chunk.summarize([values[at]])) for at in sorted(values)]


def _point(at: int, summary: Summary) -> Point:
    return Point(time_of(at), summary.minimum, summary.total / summary.size, summary.maximum, summary.size)


def unpacked(c: sqlite3.Connection, number: int) -> Run:
    """Return the times and values of a chunk."""
    (body,) = c.execute("SELECT body FROM chunk WHERE id = ?", (number,)).fetchone()
    return chunk.unpack(body)


def _cut(run: Run, low: int, high: int) -> Run:
    times, values = run
    first, end = bisect_left(times, low), bisect_right(times, high)
    return times[first:end], values[first:end]
