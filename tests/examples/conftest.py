"""A small dataset version, and attempts that are ended whatever the test did."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.examples.ranks import TINY_GPT, Attempt

StartAttempt = Callable[..., Attempt]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset version of at most 300,000 bytes, made by the example's own program."""
    folder = tmp_path_factory.mktemp("dataset") / "stdlib"
    command = [sys.executable, str(TINY_GPT / "prepare.py"), str(folder), "--max-bytes", "300000"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return folder


@pytest.fixture
def start_attempt() -> Iterator[StartAttempt]:
    started: list[Attempt] = []

    def start(home: Path, number: int, arguments: list[str], resume_from: Path | None = None) -> Attempt:
        started.append(Attempt(home, number, arguments, resume_from))
        return started[-1]

    yield start
    for attempt in started:
        attempt.end()
