"""A stub server and a client for it."""

from collections.abc import Iterator

import pytest

from headway.sdk.client import Client
from tests.sdk.stub import Stub, serving


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as running:
        yield running


@pytest.fixture
def api(stub: Stub) -> Iterator[Client]:
    with Client(stub.url, "hw_secret", "zh", patience_s=5) as client:
        yield client
