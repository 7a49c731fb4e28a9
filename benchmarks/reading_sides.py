"""The sides that `benchmarks.readings` compares, all with the same verbs. DuckDB is loaded only when asked for."""

import sqlite3
import struct
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from headway.store.readings import Reading, Readings

START = datetime(2026, 12, 1, tzinfo=UTC)
ATTEMPT = "j-bench.1"
ASKED_NODE = "n3"
POINTS = 500


class Side(Protocol):
    """A place for readings; opening a folder again finds what is there."""

    label: str

    def __init__(self, folder: Path) -> None: ...
    def add(self, rows: Sequence[Reading]) -> None: ...
    def ask(self, name: str, since: datetime, until: datetime) -> int: ...
    def stored(self) -> int: ...
    def close(self) -> None: ...


class Floor:
    """20 bytes a reading appended to one file; a question reads and unpacks all of it."""

    label = "binary file (floor)"
    _format = struct.Struct("<Iqd")

    def __init__(self, folder: Path) -> None:
        self._path = folder / "readings.bin"
        self._file = self._path.open("ab", buffering=0)
        self._ids: dict[tuple[str, int | None, str], int] = {}

    def add(self, rows: Sequence[Reading]) -> None:
        pack = self._format.pack
        self._file.write(b"".join(pack(_id(self._ids, row), _millis(row.at), row.value) for row in rows))

    def ask(self, name: str, since: datetime, until: datetime) -> int:
        wanted = {number for (node, _, each), number in self._ids.items() if node == ASKED_NODE and each == name}
        low, high = _millis(since), _millis(until)
        width = max(1, (high - low) // POINTS)
        buckets: dict[tuple[int, int], float] = {}
        for series, at, value in self._format.iter_unpack(self._path.read_bytes()):
            if series in wanted and low <= at <= high:
                buckets[series, (at - low) // width] = max(value, buckets.get((series, (at - low) // width), value))
        return len(buckets)

    def stored(self) -> int:
        return self._path.stat().st_size // self._format.size

    def close(self) -> None:
        self._file.close()


class Headway:
    """`headway.store.readings.Readings`, as the server uses it."""

    label = "Headway: SQLite rows, then chunks"

    def __init__(self, folder: Path) -> None:
        self._store = Readings(folder / "readings.sqlite")
        self.add = self._store.add
        self.close = self._store.close

    def ask(self, name: str, since: datetime, until: datetime) -> int:
        found = self._store.series(ATTEMPT, name, node=ASKED_NODE, since=since, until=until, points=POINTS)
        return sum(len(series.points) for series in found)

    def stored(self) -> int:
        found = [each for name in self._store.names(ATTEMPT) for each in self._store.series(ATTEMPT, name)]
        return sum(point.count for series in found for point in series.points)


class Rows:
    """One row a reading in SQLite, with the same settings and key as Headway's recent rows."""

    label = "SQLite, rows"
    _insert = "INSERT OR REPLACE INTO r VALUES (?, ?, ?)"
    _divide = "/"

    def __init__(self, folder: Path) -> None:
        self._c: Any = sqlite3.connect(folder / "rows.sqlite", isolation_level=None)
        self._c.execute("PRAGMA journal_mode = WAL").fetchall()
        self._c.execute("PRAGMA synchronous = NORMAL")
        self._c.execute(
            "CREATE TABLE IF NOT EXISTS r (series INTEGER, t INTEGER, value REAL, PRIMARY KEY (series, t))"
            " WITHOUT ROWID"
        )
        self._ids: dict[tuple[str, int | None, str], int] = {}

    def add(self, rows: Sequence[Reading]) -> None:
        self._c.execute("BEGIN")
        self._c.executemany(self._insert, [(_id(self._ids, row), _millis(row.at), row.value) for row in rows])
        self._c.execute("COMMIT")

    def ask(self, name: str, since: datetime, until: datetime) -> int:
        wanted = [number for (node, _, each), number in self._ids.items() if node == ASKED_NODE and each == name]
        low, high = _millis(since), _millis(until)
        query = (
            f"SELECT series, (t - {low}) {self._divide} {max(1, (high - low) // POINTS)} AS bucket, "
            "min(value), avg(value), max(value) FROM r "
            f"WHERE series IN ({', '.join(map(str, wanted))}) AND t BETWEEN {low} AND {high} GROUP BY series, bucket"
        )
        return len(self._c.execute(query).fetchall())

    def stored(self) -> int:
        (count,) = self._c.execute("SELECT count(*) FROM r").fetchone()
        return int(count)

    def close(self) -> None:
        self._c.close()


class DuckDB(Rows):
    """One row a reading in DuckDB, inserted as lists, the quickest way without Arrow; one thread, like the others."""

    label = "DuckDB, rows"
    _divide = "//"

    def __init__(self, folder: Path) -> None:
        import duckdb  # type: ignore[import-not-found,unused-ignore]

        self._c = duckdb.connect(str(folder / "readings.duckdb"), config={"threads": 1})
        self._c.execute("CREATE TABLE IF NOT EXISTS r (series INTEGER, t BIGINT, value DOUBLE)")
        self._ids = {}

    def add(self, rows: Sequence[Reading]) -> None:
        columns = [[_id(self._ids, row) for row in rows], [_millis(r.at) for r in rows], [r.value for r in rows]]
        self._c.execute("INSERT INTO r SELECT unnest(?::INTEGER[]), unnest(?::BIGINT[]), unnest(?::DOUBLE[])", columns)


SIDES: dict[str, type[Side]] = {"floor": Floor, "headway": Headway, "rows": Rows, "duckdb": DuckDB}


def _id(ids: dict[tuple[str, int | None, str], int], row: Reading) -> int:
    return ids.setdefault((row.node, row.device, row.name), len(ids))


def _millis(at: datetime) -> int:
    return int(at.timestamp() * 1000)
