"""Readings in an SQLite file of their own: new ones as rows, older ones packed into chunks of a thousand.

A reading is safe from a kill of the process once `add` returns; a crash of the machine may cost the last seconds, as
there is no fsync for each call. It never holds readings in memory alone.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path

from headway.store.readings import chunk
from headway.store.readings.buckets import Buckets
from headway.store.readings.by_node import grid
from headway.store.readings.file import (
    SeriesRow,
    connect,
    from_null,
    from_optional,
    millis,
    millis_from,
    series_of,
    time_of,
    to_optional,
    transaction,
)
from headway.store.readings.port import Grid, Reading, Series
from headway.store.readings.query import find, points_of
from headway.store.readings.rollup import roll_up

CHUNK_ROWS = 1024
# The newest rows stay rows: an agent that sends a report again finds its readings there and changes nothing.
KEPT_ROWS = 64
_KNOWN_SERIES = 200_000
_EVER = (-(2**62), 2**62)
_NEWEST = (
    "SELECT at, value FROM (SELECT at, value FROM recent WHERE series = :id ORDER BY at DESC LIMIT 1) UNION ALL "
    "SELECT until, last FROM (SELECT until, last FROM chunk WHERE series = :id ORDER BY until DESC LIMIT 1)"
)


class Readings:
    """A `ReadingStore` in one SQLite file (WAL), made if missing. One process writes; its threads take turns."""

    def __init__(self, path: Path) -> None:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer, self._reader = connect(path), connect(path)
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._ids: dict[tuple[str, str, str, int, int], int] = {}
        self._counts: dict[int, int] = {}

    def add(self, rows: Sequence[Reading]) -> None:
        """See `ReadingStore.add`."""
        with self._write() as c:
            if len(self._ids) >= _KNOWN_SERIES:
                self._forget()
            entries = [(self._series_id(c, row), millis(row.at), float(row.value)) for row in rows]
            c.executemany("INSERT OR REPLACE INTO recent VALUES (?, ?, ?)", entries)
            for series, _, _ in entries:
                self._counts[series] += 1
                if self._counts[series] >= CHUNK_ROWS + KEPT_ROWS:
                    self._pack(c, series, KEPT_ROWS)

    def series(  # noqa: PLR0913
        self,
        attempt: str,
        name: str,
        *,
        node: str | None = None,
        rank: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        points: int = 500,
    ) -> list[Series]:
        """See `ReadingStore.series`."""
        low = _EVER[0] if since is None else millis_from(since)
        high = _EVER[1] if until is None else millis(until)

        def wanted(row: SeriesRow) -> bool:
            return (node is None or row.node == node) and (rank is None or row.rank == rank)

        with self._read() as c:
            every = [find(c, row, low, high) for row in series_of(c, attempt, name) if wanted(row)]
            found = [each for each in every if each.size]
            ends = [end for each in found for end in each.ends]
            low = min(ends, default=low) if since is None else low
            high = max(ends, default=high) if until is None else high
            return [points_of(c, each, Buckets(low, high, points), points) for each in found]

    def grid(self, attempt: str, name: str, *, points: int = 240) -> Grid:
        """See `ReadingStore.grid`."""
        with self._read() as c:
            return grid(c, attempt, name, points)

    def names(self, attempt: str) -> list[str]:
        """See `ReadingStore.names`."""
        with self._read() as c:
            return sorted({row.name for row in series_of(c, attempt)})

    def latest(self, attempt: str) -> list[Reading]:
        """See `ReadingStore.latest`."""
        with self._read() as c:
            found = [(row, c.execute(_NEWEST, {"id": row.id}).fetchall()) for row in series_of(c, attempt)]
        return [_reading(row, *max(pairs, key=lambda pair: pair[0])) for row, pairs in found if pairs]

    def pack(self, attempt: str) -> None:
        """See `ReadingStore.pack`."""
        with self._write() as c:
            for row in series_of(c, attempt):
                self._pack(c, row.id, 0)

    def prune(self, before: datetime) -> None:
        """See `ReadingStore.prune`."""
        with self._write() as c:
            c.execute("DELETE FROM chunk WHERE until < ?", (millis(before),))
            c.execute("DELETE FROM recent WHERE at < ?", (millis(before),))
            c.execute(
                "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE series = series.id)"
                " AND NOT EXISTS (SELECT 1 FROM recent WHERE series = series.id)"
            )
            c.execute("DELETE FROM rolled WHERE at + width <= ?", (millis(before),))
            c.execute("DELETE FROM place WHERE NOT EXISTS (SELECT 1 FROM rolled WHERE place = place.id)")
            self._forget()
        with self._writing:
            # `execute` would step once and so give back a single page.
            self._writer.executescript("PRAGMA incremental_vacuum")

    def close(self) -> None:
        """See `ReadingStore.close`."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    def _read(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self._reader, self._reading, "BEGIN")

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """What was learnt in a transaction that is rolled back is not true, so it is forgotten."""
        with transaction(self._writer, self._writing, "BEGIN IMMEDIATE") as c:
            try:
                yield c
            except BaseException:
                self._forget()
                raise

    def _forget(self) -> None:
        self._ids.clear()
        self._counts.clear()

    def _series_id(self, c: sqlite3.Connection, row: Reading) -> int:
        key = (row.attempt, row.name, row.node, from_optional(row.rank), from_optional(row.device))
        known = self._ids.get(key)
        if known is not None:
            return known
        c.execute("INSERT OR IGNORE INTO series (attempt, name, node, rank, device) VALUES (?, ?, ?, ?, ?)", key)
        where = "attempt = ? AND name = ? AND node = ? AND rank = ? AND device = ?"
        (found,) = c.execute(f"SELECT id FROM series WHERE {where}", key).fetchone()
        (self._counts[found],) = c.execute("SELECT count(*) FROM recent WHERE series = ?", (found,)).fetchone()
        self._ids[key] = found
        return int(found)

    def _pack(self, c: sqlite3.Connection, series: int, kept: int) -> None:
        """Move the oldest rows of a series into chunks, all but the newest `kept`."""
        query = "SELECT at, value FROM recent WHERE series = ? ORDER BY at"
        rows = [(at, from_null(value)) for at, value in c.execute(query, (series,))]
        self._counts[series] = len(rows)
        old = rows[: len(rows) - kept]
        if not old or (kept and len(old) < CHUNK_ROWS):
            return
        pieces = [old[at : at + CHUNK_ROWS] for at in range(0, len(old), CHUNK_ROWS)]
        c.executemany(
            "INSERT INTO chunk (series, since, until, count, minimum, total, maximum, last, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_chunk_row(series, piece) for piece in pieces],
        )
        for piece in pieces:
            roll_up(c, series, [at for at, _ in piece], [value for _, value in piece])
        c.execute("DELETE FROM recent WHERE series = ? AND at <= ?", (series, old[-1][0]))
        self._counts[series] -= len(old)


def _chunk_row(series: int, rows: list[tuple[int, float]]) -> tuple[object, ...]:
    times, values = [at for at, _ in rows], [value for _, value in rows]
    return series, times[0], times[-1], *chunk.summarize(values), values[-1], chunk.pack(times, values)


def _reading(row: SeriesRow, at: int, value: float | None) -> Reading:
    rank, device = to_optional(row.rank), to_optional(row.device)
    return Reading(row.attempt, row.node, rank, device, row.name, time_of(at), from_null(value))
