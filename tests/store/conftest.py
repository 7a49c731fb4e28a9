"""A connection of either database whose writes are undone after the test: no test waits for a database of its own."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Connection

from headway.store.database import Database
from tests.postgres import Postgres


class Undo(Exception):
    """Ends a test's transaction without keeping anything."""


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def lent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A migrated database that stays empty."""
    if request.param == "sqlite":
        folder: Path = tmp_path_factory.mktemp("lent")
        database = Database(f"sqlite:///{folder / 'headway.db'}")
    else:
        server: Postgres = request.getfixturevalue("postgresql")
        server.create("headway_lent")
        database = Database(server.url("headway_lent"))
    database.migrate()
    yield database
    database.close()


@pytest.fixture
def c(lent: Database) -> Iterator[Connection]:
    """One transaction, undone at the end."""
    with suppress(Undo), lent.write() as connection:
        yield connection
        raise Undo
