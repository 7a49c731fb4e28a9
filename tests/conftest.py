"""Fixtures for every room: both databases, the shared folder, and a closing line that names what was left out.

A test that needs a part this machine lacks says `pytest.skip("absent: <part>: <why>")`; the closing line collects them.
"""

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from headway.store.database import Database
from tests import postgres

REPOSITORY = Path(__file__).resolve().parent.parent
ABSENT = "absent: "
TEMPLATE = "headway_template"
_numbers = count(1)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` that stands beside a developer's and CI's clone."""
    folder = Path(os.environ.get("HEADWAY_SHARED", REPOSITORY.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"{ABSENT}../shared: no folder {folder}; set HEADWAY_SHARED")
    return folder


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgres.Postgres]:
    """A real PostgreSQL for this session, with a migrated database to copy."""
    binaries = postgres.find_binaries()
    if binaries is None:
        pytest.skip(f"{ABSENT}PostgreSQL: no initdb on PATH or in /usr/lib/postgresql")
    with postgres.running(binaries) as server:
        server.create(TEMPLATE)
        _migrate(server.url(TEMPLATE))
        yield server


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a fresh, migrated SQLite database."""
    path = tmp_path / "headway.db"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgresql_url(postgresql: postgres.Postgres) -> Iterator[str]:
    """The URL of a fresh, migrated PostgreSQL database."""
    name = f"headway_{next(_numbers)}"
    postgresql.create(name, TEMPLATE)
    yield postgresql.url(name)
    postgresql.drop(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh, migrated database, of either kind in turn."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A fresh, migrated database, of either kind in turn."""
    opened = Database(database_url)
    yield opened
    opened.close()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m live`, files that mark no test so are not read: collecting all takes a quarter of a minute a lane."""
    if config.option.markexpr != "live" or not collection_path.match("test_*.py"):
        return None
    return True if "mark.live" not in collection_path.read_text(encoding="utf-8") else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the parts that this machine lacks, as the last thing said."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in skipped if isinstance(report.longrepr, tuple)}
    absent = sorted(reason.removeprefix(ABSENT) for reason in reasons if reason.startswith(ABSENT))
    if absent:
        terminalreporter.write_line(f"skipped parts: {'; '.join(absent)}")


def _migrate(url: str) -> None:
    database = Database(url)
    database.migrate()
    database.close()
