"""Fixtures of the stories: a world on SQLite, and one on either database in turn."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.world import World, opened


@pytest.fixture
def world(sqlite_url: str, tmp_path: Path) -> Iterator[World]:
    """Two nodes of eight cards."""
    with opened(sqlite_url, tmp_path / "home") as made:
        yield made


@pytest.fixture
def either_world(database_url: str, tmp_path: Path) -> Iterator[World]:
    """The same, on SQLite and on PostgreSQL."""
    with opened(database_url, tmp_path / "home") as made:
        yield made
