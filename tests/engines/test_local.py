"""The local engine passes the contract with real processes, and keeps its own promises besides."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.contract import Contract
from tests.engines.machine import LocalSubject

pytestmark = pytest.mark.live


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[LocalSubject]:
    local = LocalSubject(tmp_path)
    yield local
    local.close()


class TestLocal(Contract):
    pass
