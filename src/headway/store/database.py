"""One database, SQLite or PostgreSQL: connections, transactions and migrations.

It decides how writers take turns and what a reader sees; it knows no table. Writers are serial (a lock in this process,
`BEGIN IMMEDIATE` or an advisory lock between processes), so that numbers given in a transaction, above all those of
facts, appear in the order in which they were given. Readers see one moment and never wait for a writer.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError

from headway.domain.errors import PlatformError

BUSY_TIMEOUT_MS = 60_000
READERS = 8
MORE_READERS = 40
WRITERS_TURN = text("SELECT pg_advisory_xact_lock(4712)")


class Database:
    """One database: SQLite (WAL) or PostgreSQL by SQLAlchemy URL. Safe to use from several threads at once."""

    def __init__(self, url: str) -> None:
        """Raises `invalid-field` unless the URL names a SQLite file or a PostgreSQL database."""
        target = _target(url)
        self._sqlite = target.drivername == "sqlite"
        self._turn = threading.Lock()
        self._writer: int | None = None
        opened = _open_sqlite(target) if self._sqlite else _open_postgresql(target)
        self._reads, self._writes = opened

    def migrate(self) -> None:
        """Bring the tables to the newest form. Safe to repeat, and by two processes at once."""
        from headway.store.migrate import upgrade

        with self.write() as c:
            upgrade(c)

    def check(self) -> None:
        """Raise `database-older` or `database-newer` unless the tables are in this version's form. Changes nothing."""
        from headway.store.migrate import check

        with self.read() as c:
            check(c)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one moment and cannot write."""
        with self._reads.connect() as c, c.begin():
            yield c

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction, alone among writers: committed at the end, undone by any error."""
        if self._writer == threading.get_ident():
            raise RuntimeError("this thread is writing already: pass its connection on")
        with self._turn:
            self._writer = threading.get_ident()
            try:
                with self._writes.begin() as c:
                    if not self._sqlite:
                        c.execute(WRITERS_TURN)
                    yield c
            finally:
                self._writer = None

    def close(self) -> None:
        """Close every connection that is not in use."""
        self._reads.dispose()
        self._writes.dispose()


def _target(url: str) -> URL:
    try:
        target = make_url(url)
    except ArgumentError:
        target = None
    kind = target.get_backend_name() if target else ""
    if target and kind == "sqlite" and target.database not in (None, "", ":memory:"):
        return target.set(drivername="sqlite")
    if target and kind == "postgresql":
        return target.set(drivername="postgresql+psycopg")
    shown = target.render_as_string(hide_password=True) if target else "(not a URL)"
    rule = "sqlite:///PATH | postgresql://USER@HOST/NAME"
    raise PlatformError("invalid-field", field="database", value=shown, rule=rule)


def _open_sqlite(url: URL) -> tuple[Engine, Engine]:
    _create_private(Path(str(url.database)))
    options: dict[str, Any] = {"connect_args": {"isolation_level": None, "timeout": BUSY_TIMEOUT_MS / 1000}}
    reads = create_engine(url, pool_size=READERS, max_overflow=MORE_READERS, **options)
    writes = create_engine(url, pool_size=1, max_overflow=0, **options)
    event.listen(reads, "connect", _prepare_reader)
    event.listen(writes, "connect", _prepare_writer)
    event.listen(reads, "begin", lambda c: c.exec_driver_sql("BEGIN"))
    event.listen(writes, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
    return reads, writes


def _create_private(path: Path) -> None:
    """Make the file for its owner alone, before SQLite makes it for everyone: it holds password hashes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return


def _prepare_reader(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA query_only = ON")


def _prepare_writer(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # Without this INSERT OR REPLACE would remove rows behind the append-only triggers.
    connection.execute("PRAGMA recursive_triggers = ON")


def _open_postgresql(url: URL) -> tuple[Engine, Engine]:
    options: dict[str, Any] = {"pool_pre_ping": True}
    reads = create_engine(url, pool_size=READERS, max_overflow=MORE_READERS, **options)
    reads = reads.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    writes = create_engine(url, pool_size=1, max_overflow=0, isolation_level="READ COMMITTED", **options)
    return reads, writes
