"""A zipapp built once, a server of the test's own, and a node directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.agent.build import build_zipapp
from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer


@pytest.fixture(scope="session")
def zipapp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_zipapp(tmp_path_factory.mktemp("zipapp") / "headway-agent.pyz")


@pytest.fixture
def server() -> Iterator[WitnessServer]:
    server = WitnessServer()
    yield server
    server.down()


@pytest.fixture
def node(tmp_path: Path, server: WitnessServer, zipapp: Path) -> Iterator[Node]:
    node = Node(tmp_path / "node", server, zipapp)
    yield node
    node.end()
