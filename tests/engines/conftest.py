"""A local engine with the stand-in agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.machine import LocalSubject


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalSubject]:
    subject = LocalSubject(tmp_path)
    yield subject
    subject.close()
