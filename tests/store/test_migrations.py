"""Migrations: they make what `schema/` says, once, however often and by however many they are run."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from headway.domain.errors import PlatformError
from headway.domain.quota import Quota
from headway.store import quota_versions, quotas, world
from headway.store.database import Database
from headway.store.migrate import upgrade
from headway.store.schema import METADATA
from tests.postgres import Postgres
from tests.store.rows import later

MIGRATE = "import sys; from headway.store.database import Database; Database(sys.argv[1]).migrate()"


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    server: Postgres = request.getfixturevalue("postgresql")
    server.create("headway_empty")
    yield server.url("headway_empty")
    server.drop("headway_empty")


def test_the_migrated_schema_is_the_one_the_code_declares(database: Database) -> None:
    with database.write() as c:
        differences = compare_metadata(MigrationContext.configure(c, opts={"compare_type": True}), METADATA)
    assert differences == []


def test_flat_quotas_become_the_first_version_of_the_tree(empty_url: str) -> None:
    database = Database(empty_url)
    with database.write() as c:
        upgrade(c, "0002")
        at = "'2026-11-02T08:00:00.000000+00:00'"
        c.execute(text(f"INSERT INTO departments VALUES ('research', {at})"))
        c.execute(text(f"INSERT INTO projects VALUES ('vision', 'research', {at}, NULL)"))
        c.execute(text(f"INSERT INTO projects VALUES ('research', 'research', {at}, NULL)"))
        for project, devices in (("vision", 8), ("research", 2)):
            c.execute(text(f"INSERT INTO quotas VALUES ('{project}', 'h200', {devices}, {at}, 'admin')"))
    database.migrate()
    with database.read() as c:
        (version,) = quota_versions.all(c)
        found = quotas.quotas(c, later(0))
    database.close()
    assert found == [Quota("research", "h200", 2), Quota("vision", "h200", 8)]
    assert (version.number, version.author, version.in_force_from) == (1, "server", version.approved_at)
    assert [branch.name for branch in version.tree.path("vision")] == ["vision"]


def test_migrating_again_changes_nothing(database: Database) -> None:
    with database.write() as c:
        world.bump(c)
        before = world.version(c)
    database.migrate()
    with database.read() as c:
        assert world.version(c) == before


def test_a_database_of_a_newer_headway_is_refused_and_left_alone(database: Database) -> None:
    with database.write() as c:
        c.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(PlatformError, match="revision 9999"):
        database.migrate()


def test_two_processes_may_migrate_the_same_empty_database_at_once(empty_url: str) -> None:
    processes = [subprocess.Popen([sys.executable, "-W", "error", "-c", MIGRATE, empty_url]) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    database = Database(empty_url)
    with database.read() as c:
        assert world.version(c) == 1
    database.close()
