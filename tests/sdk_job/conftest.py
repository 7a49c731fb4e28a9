"""A run with the environment contract of one rank, and one without a platform."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run

MakeRun = Callable[..., Run]


def told(run_dir: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """The events in a rank's folder, all or of one kind."""
    path = run_dir / "events.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    events = [json.loads(line) for line in lines]
    return [event for event in events if kind is None or event["kind"] == kind]


@pytest.fixture
def rank_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "rank-0"
    folder.mkdir()
    return folder


@pytest.fixture
def make_run(tmp_path: Path, rank_dir: Path) -> MakeRun:
    """A run of attempt 1, rank 0; keywords set other variables, None unsets one."""

    def make(**changes: str | None) -> Run:
        variables: dict[str, str | None] = {
            "HEADWAY_JOB": "j-test",
            "HEADWAY_ATTEMPT": "j-test.1",
            "HEADWAY_ATTEMPT_NUMBER": "1",
            "HEADWAY_RANK_DIR": str(rank_dir),
            "HEADWAY_CHECKPOINT_DIR": str(tmp_path / "checkpoints"),
            "RANK": "0",
            "WORLD_SIZE": "1",
            **changes,
        }
        return Run(read_environment({name: value for name, value in variables.items() if value is not None}))

    return make


@pytest.fixture(scope="module")
def no_torch() -> Iterator[None]:
    """As in a program that never imported torch, whatever other tests loaded."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("torch", "torch.distributed"):
            patch.delitem(sys.modules, name, raising=False)
        yield
