"""Fixtures of stories over a real Slurm: one testbed for all of them, a server for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.slurm_testbed import Testbed, running
from tests.live.slurm.site import Site, opened

WORDS = ("--types", "h200:3,ascend910b:1", "--accounting", "--isolation", "net")
TIMES = ("--slurmd-timeout", "5", "--requeue-delay", "10")


@pytest.fixture(scope="session")
def testbed(shared: Path) -> Iterator[Testbed]:
    """Three nodes of eight h200 and one of ascend910b, each with a network of its own."""
    with running(shared, (*WORDS, *TIMES)) as testbed:
        yield testbed


@pytest.fixture(scope="session")
def server(testbed: Testbed) -> Iterator[Site]:
    """A server on the testbed, shared by stories one after the other."""
    with opened(testbed) as site:
        yield site


@pytest.fixture
def site(server: Site) -> Iterator[Site]:
    """The server, with nothing running on it; afterwards so again."""
    yield server
    server.clear()
