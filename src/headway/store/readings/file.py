"""The SQLite file of readings: its tables, connections and transactions, and how values are written in it.

Times are milliseconds since the epoch, "no rank" and "no device" are -1, and NaN is NULL, as SQLite has none.
"""

import math
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS series (
    id INTEGER PRIMARY KEY, attempt TEXT NOT NULL, name TEXT NOT NULL, node TEXT NOT NULL,
    rank INTEGER NOT NULL, device INTEGER NOT NULL, UNIQUE (attempt, name, node, rank, device));
CREATE TABLE IF NOT EXISTS recent (
    series INTEGER NOT NULL, at INTEGER NOT NULL, value REAL, PRIMARY KEY (series, at)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunk (
    id INTEGER PRIMARY KEY, series INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL,
    count INTEGER NOT NULL, minimum REAL, total REAL, maximum REAL, last REAL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS chunk_of_series ON chunk (series, until);
CREATE INDEX IF NOT EXISTS chunk_by_age ON chunk (until);
CREATE TABLE IF NOT EXISTS place (
    id INTEGER PRIMARY KEY, attempt TEXT NOT NULL, name TEXT NOT NULL, node TEXT NOT NULL,
    UNIQUE (attempt, name, node));
CREATE TABLE IF NOT EXISTS rolled (
    place INTEGER NOT NULL, width INTEGER NOT NULL, at INTEGER NOT NULL, count INTEGER NOT NULL, total REAL,
    PRIMARY KEY (place, width, at)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rolled_from (chunk INTEGER NOT NULL);
INSERT INTO rolled_from SELECT coalesce(max(id), 0) + 1 FROM chunk WHERE NOT EXISTS (SELECT 1 FROM rolled_from);
"""


class SeriesRow(NamedTuple):
    """A row of `series`."""

    id: int
    attempt: str
    name: str
    node: str
    rank: int
    device: int


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, made if missing, for use under a lock from any thread."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    for setting in ("auto_vacuum = INCREMENTAL", "journal_mode = WAL", "synchronous = NORMAL"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.executescript(_SCHEMA)
    return connection


@contextmanager
def transaction(c: sqlite3.Connection, lock: threading.Lock, begin: str) -> Iterator[sqlite3.Connection]:
    """One transaction on a connection that threads share by a lock; rolled back on any error."""
    with lock:
        c.execute(begin)
        try:
            yield c
        except BaseException:
            c.execute("ROLLBACK")
            raise
        c.execute("COMMIT")


def series_of(c: sqlite3.Connection, attempt: str, name: str | None = None) -> list[SeriesRow]:
    """The series of an attempt, of one name or all, in the order they are listed in."""
    query = (
        "SELECT id, attempt, name, node, rank, device FROM series WHERE attempt = :attempt"
        " AND (:name IS NULL OR name = :name) ORDER BY name, node, rank, device"
    )
    return [SeriesRow._make(row) for row in c.execute(query, {"attempt": attempt, "name": name})]


def millis(at: datetime) -> int:
    """Aware time to milliseconds since the epoch."""
    return (at - _EPOCH) // _MILLISECOND


def millis_from(at: datetime) -> int:
    """The first millisecond that is not before an aware time."""
    return -((_EPOCH - at) // _MILLISECOND)


def time_of(at: int) -> datetime:
    """Milliseconds since the epoch to UTC."""
    return _EPOCH + at * _MILLISECOND


def from_optional(number: int | None) -> int:
    """A rank or device as it is written."""
    return -1 if number is None else number


def to_optional(number: int) -> int | None:
    """A rank or device as it was meant."""
    return None if number < 0 else number


def from_null(value: float | None) -> float:
    """A value as it was measured."""
    return math.nan if value is None else value
