"""Fixtures of live tests: a running server, on either database, with the template for their programs."""

from collections.abc import Iterator

import pytest

from tests.live.jobs import TEMPLATE
from tests.live.platform import Platform, opened


@pytest.fixture(scope="session")
def house() -> Iterator[Platform]:
    """A server on SQLite with two nodes of two slots, shared by the tests that leave it as they found it."""
    with opened() as platform:
        platform.api.call("POST", "templates", json={"content": TEMPLATE})
        yield platform


@pytest.fixture
def platform(database_url: str) -> Iterator[Platform]:
    """A server of the test's own, on either database in turn."""
    with opened(database_url) as platform:
        platform.api.call("POST", "templates", json={"content": TEMPLATE})
        yield platform
